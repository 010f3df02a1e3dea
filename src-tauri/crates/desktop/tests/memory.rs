//! Many pictures leave no memory behind, neither here nor in the X server. A binary of its own: other tests beside it
//! would be measured too.
#![cfg(target_os = "linux")]

#[cfg(test)]
#[allow(dead_code, reason = "each test binary uses its own part")]
#[path = "x11/screen.rs"]
mod screen;

#[cfg(test)]
mod tests {
    use desktop::{Area, Desktop, Shot, WindowId};
    use protocol::geometry::{NormRect, PixelSize};

    use crate::screen::{HEIGHT, Screen, Target, WIDTH};

    /// Resident memory without what is shared, in kB.
    fn resident(process: u32) -> i64 {
        let pages = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap();
        let pages: Vec<i64> = pages.split_whitespace().map(|number| number.parse().unwrap()).collect();
        (pages[1] - pages[2]) * 4
    }

    async fn rounds(desktop: &dyn Desktop, target: &Target, count: usize) {
        let rect = NormRect { x: 100.0, y: 100.0, width: 300.0, height: 300.0 };
        let window = Area::Window(WindowId(target.window.into()));
        for round in 0..count {
            for area in [Area::Display(0), window.clone(), Area::Region { display: 0, rect }] {
                // Scaled and not, by turns.
                let side = if round % 2 == 0 { 4000 } else { 300 };
                let max = PixelSize { width: side, height: side };
                desktop.screenshot(Shot { area, ..Shot::of_display(0, max, 85) }).await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn many_pictures_leave_no_memory_behind() {
        let screen = Screen::new();
        let desktop = screen.desktop();
        let target = Target::new(&screen, "target", (100, 100, 400, 300), 0x00cc_2010);
        // Ours covers it, so that every picture is composed.
        let _ours = Target::ours(&screen, (0, 0, WIDTH, HEIGHT), 0x0010_30d0);
        rounds(&*desktop, &target, 10).await;
        let (here, server) = (std::process::id(), screen.server_pid());
        let before = (resident(here), resident(server));
        rounds(&*desktop, &target, 60).await;
        let grown = (resident(here) - before.0, resident(server) - before.1);
        // One picture is 4,000 kB: 180 of them kept would be far more.
        assert!(grown.0 < 12_000 && grown.1 < 12_000, "grew by {grown:?} kB (here, X server)");
    }
}
