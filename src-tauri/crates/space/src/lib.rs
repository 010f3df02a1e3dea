//! What a session works with beyond the screen: the files of its folder, and a terminal confined to it.
//!
//! Nothing outside the folder is reached, whatever a path says. Knows nothing of tools, agents, models or windows.

pub mod files;
pub mod terminal;
