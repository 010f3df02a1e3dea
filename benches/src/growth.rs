//! Whether work leaves memory behind: ten thousand pictures, a thousand snapshots; what our program and the X server
//! hold before, at half and after. The first half may fill what is kept; the second may not grow.

use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::contestant::Contestant;
use super::scene::{BROWSER, GTK};

pub fn measure(ours: &mut Contestant) -> Result<Value> {
    let snapshots = format!("snapshots 500 {GTK} {BROWSER}");
    let server = x_server().context("the stage's X server is not among our children")?;
    let mut all = Vec::new();
    for (work, half, count) in [("pictures", "pictures 5000", 10_000), ("snapshots", &*snapshots, 1_000)] {
        let began = Instant::now();
        let mut held = vec![look(ours, server)?];
        for _ in 0..2 {
            ours.ask(half)?;
            held.push(look(ours, server)?);
        }
        eprintln!("    {count} {work}: {:.0} s", began.elapsed().as_secs_f32());
        all.push(json!({ "work": work, "count": count, "held": held }));
    }
    Ok(Value::from(all))
}

fn look(ours: &Contestant, server: u32) -> Result<Value> {
    let (rss, pss) = memory(ours.process.id())?;
    let (server_rss, server_pss) = memory(server)?;
    Ok(json!({ "rssKb": rss, "pssKb": pss, "serverRssKb": server_rss, "serverPssKb": server_pss }))
}

/// Resident and proportional memory, in kB.
fn memory(pid: u32) -> Result<(u64, u64)> {
    let file = format!("/proc/{pid}/smaps_rollup");
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {file}"))?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    field("Rss:").zip(field("Pss:")).with_context(|| format!("{file} says neither Rss nor Pss"))
}

/// The one that we are the parent of: a screen of the measuring program's own is its child.
fn x_server() -> Option<u32> {
    let us = std::process::id().to_string();
    std::fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let (before, after) = stat.rsplit_once(") ")?;
        let is_ours = before.ends_with("(Xvfb") && after.split(' ').nth(1) == Some(us.as_str());
        is_ours.then(|| entry.file_name().to_str()?.parse().ok())?
    })
}
