//! The exec contract: the only way anything is executed, by our agent, a person at the CLI, MCP or REST alike.
//!
//! `ExecRequest -> Router -> ExecResult`. A tool is one file: a typed input whose doc comments the model reads, a
//! schema derived from it, its risk, and what it does through a port. The router checks names and arguments, knows
//! Plan and Act, applies policy, holds the deadline, retries what only looks, and never lets a tool's failure
//! become more than data. Knows nothing of models, agents, journals or windows.
