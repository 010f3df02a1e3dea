"""Checks request bodies against the types of the vendors' own Python SDKs. Started by `tests/mind/bodies.rs`.

Reads a JSON list of {"provider", "body"} and prints a list of what is wrong with each, in that order. Values must be of
the types, and every field must be one that the types know: what pydantic does not know it leaves out, so that what
comes out is compared with what went in.
"""

import json
import sys
from collections.abc import Iterator

import anthropic.types.beta.message_create_params as anthropic_params
import ollama._types as ollama_types
import openai.types.chat.chat_completion_content_part_image_param as chat_picture
import openai.types.chat.completion_create_params as chat_params
import openai.types.responses.response_create_params as responses_params
from google.genai import types as google_types
from pydantic import TypeAdapter, ValidationError

# What is free in form: JSON Schemas, and what the model wrote.
FREE = {"input_schema", "parameters", "input", "arguments"}


def google(body):
    """The SDK has the config's parts, which are beside each other in the body, in types of their own."""
    of_body = {
        "contents": lambda contents: [google_types.Content.model_validate(one) for one in contents],
        "tools": lambda tools: [google_types.Tool.model_validate(one) for one in tools],
        "toolConfig": google_types.ToolConfig.model_validate,
        "generationConfig": google_types.GenerationConfig.model_validate,
        "systemInstruction": google_types.Content.model_validate,
    }
    for name in body.keys() & of_body.keys():
        of_body[name](body[name])
    return {f"/{name}" for name in body.keys() - of_body.keys()}


def typed(kind, own=frozenset()):
    """`own` are fields of a provider's own, beyond the SDK's types."""
    adapter = TypeAdapter(kind)

    def check(body):
        return left_out(body, plain(adapter.validate_python(body)), own)

    return check


def plain(value):
    """Lists are checked when they are walked, not before."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, Iterator)) or type(value).__name__ == "ValidatorIterator":
        return [plain(one) for one in value]
    return value


def left_out(given, known, own, path=""):
    if isinstance(given, dict) and isinstance(known, dict):
        found = {f"{path}/{name}" for name in given if name not in known and name not in own}
        # At the top, `input` is a conversation.
        for name in (given.keys() & known.keys()) - (FREE if path else set()):
            found |= left_out(given[name], known[name], own, f"{path}/{name}")
        return found
    if isinstance(given, list) and isinstance(known, list):
        pairs = enumerate(zip(given, known))
        return set().union(*(left_out(one, other, own, f"{path}/{at}") for at, (one, other) in pairs))
    return set()


def ollama(body):
    """The SDK takes any mapping in place of a message or of options, so that these are asked by themselves."""
    found = modelled(ollama_types.ChatRequest, body)
    found |= modelled(ollama_types.Options, body["options"])
    for message in body["messages"]:
        # Pictures are wrapped by who calls the SDK, and go over the wire as bare base64.
        wrapped = [ollama_types.Image(value=picture) for picture in message.get("images", [])]
        # What a server numbers calls by goes back to it as it came; the SDK's type of a call is older.
        found |= modelled(ollama_types.Message, {**message, "images": wrapped}, {"id", "index"})
    return found


def modelled(kind, given, own=frozenset()):
    known = kind.model_validate(given).model_dump(by_alias=True, exclude_none=True)
    # An unset field says nothing.
    given = {name: value for name, value in given.items() if value is not None}
    return left_out(given, known, own)


responses = typed(responses_params.ResponseCreateParamsStreaming)
chat = typed(chat_params.CompletionCreateParamsStreaming)
chat_with_more = typed(chat_params.CompletionCreateParamsStreaming, {"reasoning_details", "cache_control"})
picture = typed(chat_picture.ChatCompletionContentPartImageParam)


def xai(body):
    """The search of X is xAI's own."""
    tools = [tool for tool in body.get("tools", []) if tool["type"] != "x_search"]
    return responses({**body, "tools": tools})


def openrouter(body):
    """Fields of OpenRouter's own go as `extra_body`; that a tool's message has pictures is its own as well."""
    body = {name: value for name, value in body.items() if name not in ("provider", "reasoning", "plugins")}
    found = set()
    for message in body["messages"]:
        if message["role"] == "tool" and isinstance(message["content"], list):
            pictures = [part for part in message["content"] if part["type"] == "image_url"]
            found = found.union(*map(picture, pictures))
            message["content"] = [part for part in message["content"] if part not in pictures]
    return found | chat_with_more(body)


CHECKS = {
    "gemini": google,
    "anthropic": typed(anthropic_params.MessageCreateParamsStreaming),
    "openai": responses,
    "xai": xai,
    "openrouter": openrouter,
    "lmstudio": chat,
    "ollama": ollama,
}


def wrong_with(case):
    try:
        return sorted(CHECKS[case["provider"]](case["body"]))
    except ValidationError as error:
        return [f"{'/'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:10]]


print(json.dumps([wrong_with(case) for case in json.load(sys.stdin)]))
