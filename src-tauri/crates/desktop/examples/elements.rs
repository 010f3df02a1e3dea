//! Measures snapshots of one running application: `elements APP [rounds]`, on the session bus of the environment.

#[cfg(target_os = "linux")]
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::time::Instant;

    use desktop::{Accessibility, ElementQuery, Scope};
    use protocol::geometry::{PhysicalRect, ScaleFactor};
    use protocol::view::DisplayView;

    let mut arguments = std::env::args().skip(1);
    let app = arguments.next().ok_or("name an application")?;
    let rounds: usize = arguments.next().map_or(Ok(11), |text| text.parse())?;
    let accessibility = Accessibility::new(None, std::process::id(), Vec::new());
    let display = DisplayView {
        index: 0,
        name: "screen".into(),
        bounds: PhysicalRect { x: 0, y: 0, width: 1920, height: 1080 },
        scale: ScaleFactor(1.0),
        primary: true,
    };
    for scope in [Scope::Interactive, Scope::Visible, Scope::All] {
        let query = ElementQuery { app: Some(app.clone()), limit: 100_000, scope, ..ElementQuery::default() };
        let mut times = Vec::with_capacity(rounds);
        let mut last = accessibility.elements(&query, &display).await?;
        for _ in 0..rounds {
            let started = Instant::now();
            last = accessibility.elements(&query, &display).await?;
            times.push(started.elapsed());
        }
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        let best = times.first().copied().unwrap_or_default();
        if std::env::var_os("SHOW").is_some() {
            for one in &last.elements {
                println!(
                    "{} {}{} {:?} {:?} {:?} {:?} {:?} {:?} {}",
                    one.reference,
                    "  ".repeat(one.depth as usize),
                    one.role,
                    one.name,
                    one.description,
                    one.value,
                    one.states,
                    one.actions,
                    one.bounds,
                    one.fingerprint
                );
            }
        }
        println!(
            "{app} {scope:?}: median {median:.1?}, best {best:.1?}, {} elements {:?}",
            last.elements.len(),
            last.cut
        );
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {}
