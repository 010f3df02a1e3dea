//! The screen as it is sent: the part that changed where the model has the rest, and the whole otherwise.

use std::sync::Arc;

use models::{Detail, Image};
use protocol::geometry::NormPoint;
use tools::{Look, Part};

/// A picture, and what tells it from others: equal only where both show the same.
#[derive(Clone, Debug)]
pub struct Sight {
    pub jpeg: Arc<[u8]>,
    pub hash: u64,
    /// Of a whole display at rest; `None` if no part of it can be told from an earlier one.
    pub look: Option<Arc<Look>>,
    /// Where the act took place that it was taken after.
    pub dot: Option<NormPoint>,
}

impl Sight {
    pub(super) fn whole(&self) -> Image {
        Image { media_type: "image/jpeg".into(), bytes: self.jpeg.clone(), detail: Detail::Whole }
    }

    /// What is new in it to whoever was shown `before`, with the words that say where that is; `None` if the whole is to be
    /// sent.
    pub(super) fn part_since(&self, before: &Self) -> Option<(Image, String)> {
        let (now, then) = (self.look.as_ref()?, before.look.as_ref()?);
        let part = now.part_since(then, &self.jpeg, self.dot)?;
        let words = place(&part);
        let detail = detail(&part);
        Some((Image { media_type: "image/jpeg".into(), bytes: part.jpeg.into(), detail }, words))
    }
}

fn detail(part: &Part) -> Detail {
    match part.share() {
        share if share <= 0.25 => Detail::Quarter,
        share if share <= 0.5 => Detail::Half,
        _ => Detail::Whole,
    }
}

/// Where a part is, in the display's own 0-1000, in which all points are named: its edges, to a tenth. The prompt says how a
/// point in it maps.
fn place(part: &Part) -> String {
    let shows = part.shows;
    let (right, bottom) = (shows.x + shows.width, shows.y + shows.height);
    format!("part: x {:.1}-{right:.1}, y {:.1}-{bottom:.1}", shows.x, shows.y)
}

#[cfg(test)]
mod tests {
    use protocol::geometry::{NormRect, PixelSize};

    use super::*;

    #[test]
    fn the_words_of_a_part_are_its_edges_on_the_display() {
        let shows = NormRect { x: 120.0, y: 300.25, width: 240.0, height: 220.0 };
        let part = Part { jpeg: Vec::new(), size: PixelSize { width: 480, height: 220 }, shows };
        assert_eq!(place(&part), "part: x 120.0-360.0, y 300.2-520.2");
        assert_eq!(detail(&part), Detail::Quarter);
        let half = Part { shows: NormRect { width: 800.0, height: 500.0, ..shows }, ..part };
        assert_eq!(detail(&half), Detail::Half);
    }
}
