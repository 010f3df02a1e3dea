//! Recurrence rules (RFC 5545): read, written, and their occurrences on the clock on the wall. Zones come after: a rule
//! says "every Monday at ten", the zone when that is.

mod days;
mod rule;
mod walls;

pub(crate) use rule::{Frequency, Rule, Until, weekday_text};
pub(crate) use walls::Walls;
