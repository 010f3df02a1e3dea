"""Checks our request bodies, as the reviewed snapshots have them, against the types of the vendors' own Python SDKs.

    python3 -m venv /tmp/sdk && /tmp/sdk/bin/pip install -r src-tauri/crates/models/tests/sdk/requirements.txt
    /tmp/sdk/bin/python src-tauri/crates/models/tests/sdk/check.py

Values must be of the types, and every field must be one that the types know: what pydantic does not know it leaves out,
so that what comes out is compared with what went in. Ends with 1 where one is not.
"""

import json
import pathlib
import sys
from collections.abc import Iterator

import anthropic.types.beta.message_create_params as anthropic_params
import ollama._types as ollama_types
import openai.types.chat.completion_create_params as chat_params
import openai.types.responses.response_create_params as responses_params
from google.genai import types as google_types
from pydantic import TypeAdapter, ValidationError

SNAPSHOTS = pathlib.Path(__file__).resolve().parents[2] / "src/remote/snapshots"

# Fields of a body that are no fields of the SDK's call, and where that says so.
BESIDE = {
    "openrouter": {"provider", "reasoning"},  # OpenRouter's own, passed by the OpenAI SDK as extra_body
}
# Fields inside that are a provider's own beyond the types.
OWN = {
    "openrouter": {"reasoning_details", "cache_control"},
}
# What is free in form: JSON Schemas, and what the model wrote.
FREE = {"input_schema", "parameters", "input", "arguments"}


def google(body):
    """The SDK speaks the same names in its own case; the config's parts are beside each other in the body."""
    for content in body["contents"]:
        google_types.Content.model_validate(content)
    for tool in body.get("tools", []):
        google_types.Tool.model_validate(tool)
    google_types.ToolConfig.model_validate(body["toolConfig"])
    google_types.GenerationConfig.model_validate(body["generationConfig"])
    google_types.Content.model_validate(body["systemInstruction"])
    return set(body) - {"contents", "tools", "toolConfig", "generationConfig", "systemInstruction"}


def typed(kind):
    adapter = TypeAdapter(kind)

    def check(body, own=frozenset()):
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
    request = ollama_types.ChatRequest.model_validate(body)
    return left_out(body, request.model_dump(by_alias=True, exclude_none=True), frozenset())


def openrouter(body):
    """Pictures in a tool's message are OpenRouter's own; the rest is OpenAI's."""
    for message in body["messages"]:
        if message["role"] == "tool" and isinstance(message["content"], list):
            message["content"] = [part for part in message["content"] if part["type"] == "text"]
    return typed(chat_params.CompletionCreateParamsStreaming)(body, OWN["openrouter"])


CHECKS = {
    "gemini": google,
    "anthropic": typed(anthropic_params.MessageCreateParamsStreaming),
    "openai": typed(responses_params.ResponseCreateParamsStreaming),
    "xai": typed(responses_params.ResponseCreateParamsStreaming),
    "openrouter": openrouter,
    "lmstudio": typed(chat_params.CompletionCreateParamsStreaming),
    "ollama": ollama,
}


def main():
    failed = 0
    for provider, check in CHECKS.items():
        (file,) = SNAPSHOTS.glob(f"*__body_{provider}.snap")
        body = json.loads(file.read_text().split("---\n", 2)[2])
        body = {name: value for name, value in body.items() if name not in BESIDE.get(provider, ())}
        try:
            unknown = check(body)
        except ValidationError as error:
            unknown = {f"{one['loc']}: {one['msg']}" for one in error.errors()[:10]}
        print(f"{provider}: {'as its SDK has it' if not unknown else sorted(unknown)}")
        failed += bool(unknown)
    sys.exit(1 if failed else 0)


main()
