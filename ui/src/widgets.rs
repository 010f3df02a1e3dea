//! What more than one window shows: the goal field, the status, the steps, the questions.

pub mod approval;
pub mod beside;
pub mod budget;
pub mod changes;
pub mod entry;
pub mod goal;
mod more;
pub mod picture;
pub mod plan;
mod press;
mod ready;
pub mod results;
pub mod sources;
pub mod status;
pub mod suggestions;
mod wanted;
pub mod way_back;

pub mod icon;
