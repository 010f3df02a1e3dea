//! The exec contract, over fakes of desktop and browser.

#[cfg(test)]
mod act_effects;
#[cfg(test)]
mod beyond;
#[cfg(test)]
mod carried_out;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod elements;
#[cfg(test)]
mod entries;
#[cfg(test)]
mod fenced;
#[cfg(test)]
mod focus;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod leaving;
#[cfg(test)]
mod looking;
#[cfg(test)]
mod network;
#[cfg(test)]
mod planning;
#[cfg(test)]
mod registry;
#[cfg(test)]
mod seat;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod specs;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod turned;
#[cfg(test)]
mod web;
#[cfg(test)]
mod withheld;
#[cfg(test)]
mod written;
