//! The web without a browser: searching it, and fetching a page as text. Knows nothing of tools, agents or windows.
