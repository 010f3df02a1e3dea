//! EventKit: stub.
