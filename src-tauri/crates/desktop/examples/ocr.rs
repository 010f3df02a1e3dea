//! Measures reading the text of the environment's display: `ocr MODELS [rounds]`. `SHOW=1` prints the lines,
//! `RUST_LOG=desktop=debug` what each look spent on finding lines and on reading them.

#[cfg(target_os = "linux")]
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::time::Instant;

    use desktop::{Area, Options};
    use tracing_subscriber::filter::Targets;
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::util::SubscriberInitExt as _;

    let levels: Targets = std::env::var("RUST_LOG").unwrap_or_default().parse()?;
    tracing_subscriber::registry().with(tracing_subscriber::fmt::layer()).with(levels).init();
    let mut arguments = std::env::args().skip(1);
    let models = arguments.next().ok_or("name the folder with the models")?;
    let rounds: usize = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let desktop = desktop::open(Options { ocr_models: Some(models.into()), ..Options::default() });
    for round in 1..=rounds {
        let (started, spent) = (Instant::now(), cpu_seconds()?);
        let read = desktop.read_text(Area::Display(0)).await?;
        let (took, spent) = (started.elapsed(), cpu_seconds()? - spent);
        println!(
            "look {round}: {} lines, {took:.2?}, {spent:.2} s of CPU, left: {:?}",
            read.lines.len(),
            read.unread
        );
        if std::env::var_os("SHOW").is_some() && round == rounds {
            for line in &read.lines {
                let at = &line.bounds;
                println!(
                    "{:.1}\t{:.1}\t{:.1}\t{:.1}\t{:.2}\t{}",
                    at.x, at.y, at.width, at.height, line.confidence, line.text
                );
            }
        }
    }
    Ok(())
}

/// Of all threads so far, as the kernel counts them (in hundredths).
#[cfg(target_os = "linux")]
fn cpu_seconds() -> Result<f64, Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(11).take(2).map(str::parse::<f64>).sum::<Result<f64, _>>()?;
    Ok(ticks / 100.0)
}

#[cfg(not(target_os = "linux"))]
fn main() {}
