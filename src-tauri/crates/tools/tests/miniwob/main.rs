//! MiniWoB++'s pages in a real Chromium: each task is solved by a small scripted mind that sees and acts through the
//! public tools alone, with a real pointer and real keys where a person would use them; a referee reads the reward.
//!
//! Pages without a task, and what they lack. `hover-shape` gives nobody a reward: its scoring is commented out.
//! `moving-items`, `simon-says` and `stock-market` change within the quarter of a second that a look and an act take on a
//! busy machine: scripts for them solved them on a quiet one, and not always. `count-sides` draws its shape on a canvas, and a mind gets no pixels; the two
//! `click-pie` draw their letters as shapes without a name; which side of `drag-cube` is active is a class alone, of
//! which nothing is told. `click-checkboxes-soft` and the two `*-nl-turk` ask for the meaning of words, which a script
//! does not know. A script that drags over the half hours of `daily-calendar` gets no event, and why was not found.
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
