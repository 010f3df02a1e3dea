//! MiniWoB++'s pages in a real Chromium: each task is solved by a small scripted mind that sees and acts through the
//! public tools alone, with a real pointer and real keys where a person would use them; a referee reads the reward.
//!
//! Pages without a task, and what they seem to lack (by what they show; nobody has tried them all): `chase-circle`,
//! `moving-items`, `hover-shape`, `simon-says` and `stock-market` change faster than a look and an act follow each
//! other; `count-sides`, `drag-cube` and the two `click-pie` show what counts in a picture or in shapes without a
//! name; `click-checkboxes-soft` and the two `*-nl-turk` ask for the meaning of words, which a script does not know;
//! for `daily-calendar`, `text-editor` and `tic-tac-toe` nobody has written one.
//!
//! `MINIWOB_ONLY=click,drag` runs the tasks whose names contain one of these, `MINIWOB_SEED=7` another episode of each.
#![cfg(target_os = "linux")]

#[cfg(test)]
mod choosing;
#[cfg(test)]
mod clicking;
#[cfg(test)]
mod dragging;
#[cfg(test)]
mod drawing;
#[cfg(test)]
mod entering;
#[cfg(test)]
mod finding;
#[cfg(test)]
mod mind;
#[cfg(test)]
mod moving;
#[cfg(test)]
mod posts;
#[cfg(test)]
mod puzzles;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod referee;
#[cfg(test)]
mod sliding;
#[cfg(test)]
mod words;

#[cfg(test)]
#[path = "../../../browser/tests/chromium/stage.rs"]
#[expect(dead_code, reason = "the stage of the browser's own tests, of which these use a part")]
mod browser_stage;
#[cfg(test)]
#[path = "../router/stage.rs"]
#[allow(dead_code, reason = "the stage of the router's own tests, of which these use a part")]
mod stage;

#[cfg(test)]
mod tests;
