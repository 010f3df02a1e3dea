//! How commands end.
