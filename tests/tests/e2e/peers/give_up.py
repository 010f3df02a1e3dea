"""An agent of another program, by the protocol's own Python SDK, that gives up what it asked Miki's agents for.

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

        async def call(name, **arguments):
            result = await client.call_tool(name, arguments)
            return json.loads(next(block.text for block in result.content if block.type == "text"))

        async def agents():
            return {one["goal"]: one for one in (await call("status"))["data"]["agents"]}

        async def until(goal, state):
            while (await agents()).get(goal, {}).get("state") != state:
                await asyncio.sleep(0.1)

        def say(what, data):
            print(json.dumps({"what": what, "data": data}), flush=True)

        await call("spawn", goal="wait beside")
        await until("wait beside", "asks its user")
        # While one call waits, another starts, looks and stops.
        run = asyncio.create_task(call("run", goal="wait to be killed"))
        await until("wait to be killed", "asks its user")
        await call("kill", agent=(await agents())["wait to be killed"]["agent"])
        say("killed", await run)
        # What is given up stops its own agent, a wait nobody.
        run = asyncio.create_task(call("run", goal="wait to be given up"))
        wait = asyncio.create_task(call("waitFor"))
        await until("wait to be given up", "asks its user")
        run.cancel()
        wait.cancel()
        await until("wait to be given up", "stopped")
        say("given up", {goal: one["state"] for goal, one in (await agents()).items()})
        # The run of the client goes on.
        say("again", await call("run", goal="write the line into pond.txt"))


asyncio.run(main())
