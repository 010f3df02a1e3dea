//! The fake model server holds to every wire, and is as strict as the real ones.

mod keys;
mod strictness;

mod bodies;
mod client;

mod computers;
mod faults;
mod searches;
mod streams;

mod haiku;
