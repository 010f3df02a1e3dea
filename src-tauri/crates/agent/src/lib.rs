//! The mind.
