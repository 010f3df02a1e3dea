"""An agent of another program, by the protocol's own Python SDK: it writes a line into the editor and saves it.

Arguments: the program of Miki, its data folder, the line. Says what came of each call, a line of JSON each.
"""
import asyncio
import json
import os
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import Implementation

PROGRAM, HOME, LINE = sys.argv[1:4]


def told(name, result):
    texts = [block.text for block in result.content if block.type == "text"]
    pictures = [block.mime_type for block in result.content if block.type == "image"]
    print(json.dumps({"tool": name, "failed": bool(result.is_error), "text": texts, "pictures": pictures}), flush=True)
    return texts[0] if texts else ""


async def main():
    environment = {**os.environ, "MIKI_HOME": HOME}
    server = StdioServerParameters(command=PROGRAM, args=["mcp", "desktop"], env=environment)
    # An older and a newer client: the handshake of 2025-11-25, and the protocol of 2026-07-28 without one.
    mode = os.environ.get("MCP_MODE", "auto")
    client = Client(stdio_client(server), client_info=Implementation(name="Pond Desktop", version="1"), mode=mode)
    async with client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        print(json.dumps({"tools": sorted(tools), "version": client.session.protocol_version
                          if hasattr(client.session, "protocol_version") else None}), flush=True)

        async def call(name, **arguments):
            return told(name, await client.call_tool(name, arguments))

        await call("screenshot")
        listed = await call("elementsJson", app="Mousepad")
        elements = json.loads(listed)["data"]["elements"]
        # A line each: its ref, its role, its name and so on.
        area = next(line.split()[0] for line in elements if line.split()[1].startswith("text"))
        await call("clickElement", ref=area, reason="to write there")
        await call("type", text=LINE, reason="to write it")
        await call("hotkey", keys=["ctrl", "s"], reason="to save it")


asyncio.run(main())
