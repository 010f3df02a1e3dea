"""An agent of another program, by the protocol's own Python SDK, that gives Miki's agents one goal after the other.

Arguments: the program of Miki, its data folder. Says what came of each, a line of JSON each.
"""
import asyncio
import json
import os
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import Implementation

PROGRAM, HOME = sys.argv[1:3]


async def main():
    environment = {**os.environ, "MIKI_HOME": HOME}
    server = StdioServerParameters(command=PROGRAM, args=["mcp", "agent"], env=environment)
    mode = os.environ.get("MCP_MODE", "auto")
    client = Client(stdio_client(server), client_info=Implementation(name="Pond Conductor", version="1"), mode=mode)
    async with client:
        for _ in range(4):
            result = await client.call_tool("run", {"goal": "write the line into pond.txt"})
            text = next(block.text for block in result.content if block.type == "text")
            print(json.dumps(json.loads(text)), flush=True)


asyncio.run(main())
