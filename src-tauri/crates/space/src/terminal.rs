//! Commands in a pseudo-terminal, inside the system's sandbox.
