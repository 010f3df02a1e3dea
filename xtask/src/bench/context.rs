//! What a run's conversation costs by each provider's formula and prices, beside the same run told in other ways: counted by
//! a test of `agent`, which holds the aims; here it is told.

use anyhow::Result;

use crate::checkout::Checkout;
use crate::setup::{self, Need};
use crate::shell::{self, heading};

pub fn bench(checkout: &Checkout) -> Result<()> {
    setup::ready(checkout, &[Need::Build])?;
    heading("counting what thirty steps cost (building first takes some minutes)");
    let test = ["test", "--package", "agent", "--test", "mind", "context_cost", "--", "--nocapture"];
    shell::run(shell::cargo(checkout).args(test))
}
