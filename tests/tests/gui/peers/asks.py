"""A server that asks its user in the middle of its one tool: a text, then a choice."""

import json
import sys

TOOL = {"name": "feed", "description": "Feeds the fish.", "inputSchema": {"type": "object", "properties": {}}}
FIELDS = {
    "type": "object",
    "properties": {
        "pond": {"type": "string", "title": "Pond", "description": "Where the fish are"},
        "food": {"type": "string", "title": "Food", "enum": ["Flakes", "Worms", "Bread"]},
    },
    "required": ["pond", "food"],
}


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(request):
    method, of = request.get("method"), request.get("id")
    if method == "initialize":
        version = request["params"]["protocolVersion"]
        info = {"name": "pond", "version": "1"}
        say({"id": of, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}})
    elif method == "tools/list":
        say({"id": of, "result": {"tools": [TOOL]}})
    elif method == "tools/call":
        asked = {"message": "Which fish are hungry?", "requestedSchema": FIELDS}
        say({"id": "ask", "method": "elicitation/create", "params": asked})
        told = json.loads(sys.stdin.readline())
        while told.get("id") != "ask":
            told = json.loads(sys.stdin.readline())
        text = json.dumps(told.get("result"), sort_keys=True)
        say({"id": of, "result": {"content": [{"type": "text", "text": text}]}})
    elif of is not None:
        say({"id": of, "result": {}})


for line in sys.stdin:
    answer(json.loads(line))
