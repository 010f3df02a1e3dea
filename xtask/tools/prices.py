"""Writes src-tauri/crates/models/data/models.json: the models that are known, and what a token of each costs.

Reads the data of the Python package `genai-prices` (MIT), none of its code comes into the tree. To renew the table:

    python3 -m venv /tmp/prices && /tmp/prices/bin/pip install genai-prices
    /tmp/prices/bin/python xtask/tools/prices.py > src-tauri/crates/models/data/models.json

Prices are whole numbers: 10^-12 dollars a token, which is 10^-6 dollars a million tokens. Each is a list of
[tokens of the prompt from which it holds, price], and holds for the whole request.
"""

import datetime
import importlib.metadata
import json

from genai_prices import data_snapshot

PROVIDERS = {"google": "gemini", "anthropic": "anthropic", "openai": "openai", "openrouter": "openrouter", "x-ai": "xai"}
FIELDS = {
    "input_mtok": "input",
    "cache_read_mtok": "cacheRead",
    "cache_write_mtok": "cacheWrite",
    "output_mtok": "output",
}
# What does not answer in text, or is priced apart.
OTHERS = ("embed", "tts", "whisper", "image", "audio", "live", "realtime", "transcribe", "moderation", "davinci", "babbage",
          "imagen", "veo", "voice", "robotics", ":batch", "aqa", "streaming", "nano-banana", "omni")


def pieces(dollars):
    """A third of a cent has no end; it is rounded at the sixth decimal."""
    return round(dollars * 1_000_000)


def tiers(price):
    if hasattr(price, "base"):
        return [[0, pieces(price.base)]] + [[tier.start, pieces(tier.price)] for tier in price.tiers]
    return [[0, pieces(price)]]


def current(prices, today):
    """The prices that hold today: the last of a list whose condition is met."""
    if not isinstance(prices, list):
        return prices
    held = None
    for conditional in prices:
        constraint = conditional.constraint
        start = getattr(constraint, "start_date", None)
        if constraint is None or (start is not None and start <= today):
            held = conditional.prices
    return held


def main():
    today = datetime.date.today()
    providers = {}
    for provider in data_snapshot.get_snapshot().providers:
        ours = PROVIDERS.get(provider.id)
        if ours is None:
            continue
        models = []
        for model in provider.models:
            prices = current(model.prices, today)
            if prices is None or any(other in model.id for other in OTHERS):
                continue
            if ours == "gemini" and not model.id.startswith(("gemini", "gemma")):
                continue
            known = {ours_name: tiers(getattr(prices, name)) for name, ours_name in FIELDS.items()
                     if getattr(prices, name, None) is not None}
            if "input" not in known or "output" not in known:
                continue
            entry = {"id": model.id, "name": model.name, "context": model.context_window}
            entry = {name: value for name, value in entry.items() if value}
            models.append(entry | known)
        providers[ours] = sorted(models, key=lambda entry: entry["id"])
    version = importlib.metadata.version("genai-prices")
    print(f'{{"date":"{today}","source":"genai-prices {version} (MIT)","providers":{{')
    for number, (name, models) in enumerate(sorted(providers.items())):
        lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in models)
        print(f'"{name}":[\n{lines}\n]' + ("," if number + 1 < len(providers) else ""))
    print("}}")


main()
