"""A server of the Model Context Protocol, by the protocol's own Python SDK."""
import os

from mcp.server.mcpserver import MCPServer

pond = MCPServer("pond", instructions="A pond with fish in it.")


@pond.tool()
def fish(kind: str, count: int = 1) -> str:
    """Puts fish into the pond."""
    return f"{count} {kind} in the pond of {os.environ.get('POND_OWNER', 'nobody')}"


@pond.tool()
def depth() -> dict[str, int]:
    """How deep it is, in centimetres."""
    return {"centimetres": 140}


pond.run()
