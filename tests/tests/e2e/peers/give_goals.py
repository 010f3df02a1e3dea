"""An agent of another program, by the protocol's own Python SDK, that gives Miki's agents goals.

Arguments: the program of Miki, its data folder. Says what came of each call, a line of JSON each.
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
        tools = [tool.name for tool in (await client.list_tools()).tools]
        print(json.dumps({"tools": sorted(tools)}), flush=True)

        async def call(name, **arguments):
            result = await client.call_tool(name, arguments)
            return [block.text for block in result.content if block.type == "text"]

        def say(name, texts):
            print(json.dumps({"tool": name, "text": texts}), flush=True)

        say("run", await call("run", goal="write the line into pond.txt"))
        spawned = json.loads((await call("spawn", goal="wait for an answer"))[0])
        agent = spawned["data"]["agent"]
        while True:
            texts = await call("status")
            agents = json.loads(texts[0])["data"]["agents"]
            mine = [one for one in agents if one["agent"] == agent]
            if mine[0]["state"] != "works":
                say("status", [json.dumps({"data": {"agents": mine}})])
                break
            await asyncio.sleep(0.2)
        say("kill", await call("kill", agent=agent))


asyncio.run(main())
