"""Peers of a turn that is read: the vendors' own SDKs, asking the server that the first argument names. Each tells the
characters of the answer's text."""

from serve import serve

import sys

import anthropic
import ollama
import openai
from google import genai

BASE = sys.argv[1]
MESSAGES = [{"role": "user", "content": "hello"}]


def by_gemini():
    options = genai.types.HttpOptions(base_url=f"{BASE}/gemini")
    client = genai.Client(api_key="none", http_options=options)

    def read():
        count = 0
        for chunk in client.models.generate_content_stream(model="some-model", contents="hello"):
            for part in chunk.candidates[0].content.parts:
                if part.text and not part.thought:
                    count += len(part.text)
        return count

    return read


def by_anthropic():
    client = anthropic.Anthropic(api_key="none", base_url=f"{BASE}/anthropic")

    def read():
        with client.messages.stream(model="some-model", max_tokens=9, messages=MESSAGES) as stream:
            return sum(map(len, stream.text_stream))

    return read


def by_responses(provider):
    client = openai.OpenAI(api_key="none", base_url=f"{BASE}/{provider}")

    def read():
        stream = client.responses.create(model="some-model", input="hello", stream=True)
        return sum(len(event.delta) for event in stream if event.type == "response.output_text.delta")

    return read


def by_chat(provider):
    client = openai.OpenAI(api_key="none", base_url=f"{BASE}/{provider}")

    def read():
        stream = client.chat.completions.create(model="some-model", messages=MESSAGES, stream=True)
        return sum(len(chunk.choices[0].delta.content or "") for chunk in stream if chunk.choices)

    return read


def by_ollama():
    client = ollama.Client(host=f"{BASE}/ollama")

    def read():
        stream = client.chat(model="some-model", messages=MESSAGES, stream=True)
        return sum(len(part.message.content or "") for part in stream)

    return read


serve(
    {
        "gemini": by_gemini(),
        "anthropic": by_anthropic(),
        "openai": by_responses("openai"),
        "xai": by_responses("xai"),
        "openrouter": by_chat("openrouter"),
        "lmstudio": by_chat("lmstudio"),
        "ollama": by_ollama(),
    }
)
