"""An agent of another program, by the protocol's own Python SDK, that waits at the desktop until it is told that it may not.

Arguments: the program of Miki, its data folder. Says what it was told then.
"""
import asyncio
import os
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import Implementation

PROGRAM, HOME = sys.argv[1:3]


async def main():
    environment = {**os.environ, "MIKI_HOME": HOME}
    server = StdioServerParameters(command=PROGRAM, args=["mcp", "desktop"], env=environment)
    async with Client(stdio_client(server), client_info=Implementation(name="Pond Desktop", version="1")) as client:
        while True:
            result = await client.call_tool("wait", {"seconds": 10})
            if result.is_error:
                print(result.content[0].text, flush=True)
                return


asyncio.run(main())
