"""An agent of another program, by the protocol's own Python SDK, whose user answers what Miki's agents ask it.

Arguments: the program of Miki, its data folder; in MCP_URL and MCP_TOKEN, where it is served over HTTP, if it is. Says what
came of each call, a line of JSON each.
"""
import asyncio
import json
import os
import sys

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult, Implementation

PROGRAM, HOME = sys.argv[1:3]
asked = []


async def answer(context, params):
    asked.append(params.message)
    if len(asked) > 1:
        return ElicitResult(action="decline")
    return ElicitResult(action="accept", content={"answer": "the old one"})


async def main():
    environment = {**os.environ, "MIKI_HOME": HOME}
    server = StdioServerParameters(command=PROGRAM, args=["mcp", "agent"], env=environment)
    # By a request of the server's (2025-11-25), and by an answer that wants more (2026-07-28).
    mode = os.environ.get("MCP_MODE", "auto")
    url = os.environ.get("MCP_URL")
    if url:
        headers = {"Authorization": f"Bearer {os.environ['MCP_TOKEN']}"}
        way = streamable_http_client(url, http_client=httpx2.AsyncClient(headers=headers, timeout=120))
    else:
        way = stdio_client(server)
    client = Client(way, client_info=Implementation(name="Pond Conductor", version="1"),
                    mode=mode, elicitation_callback=answer)
    async with client:
        for goal in ["ask which one", "ask again"]:
            result = await client.call_tool("run", {"goal": goal})
            texts = [block.text for block in result.content if block.type == "text"]
            print(json.dumps({"answer": json.loads(texts[0]), "asked": asked}), flush=True)


asyncio.run(main())
