//! `icons`: every size that Tauri and the tray need, drawn from `icons/source/*.svg` by rsvg-convert.
//!
//! The drawn files are committed: a build needs neither this command nor rsvg-convert. `.ico` and `.icns` are plain
//! containers of PNGs, written here.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::checkout::Checkout;
use crate::shell::{heading, note, on_path, run};

/// File and edge in pixels.
const APP: [(&str, u32); 5] =
    [("32x32.png", 32), ("64x64.png", 64), ("128x128.png", 128), ("128x128@2x.png", 256), ("icon.png", 512)];
const TRAY: [&str; 4] = ["idle", "working", "waiting", "error"];
const TRAY_SIZES: [u32; 3] = [22, 32, 44];
const ICO_SIZES: [u32; 6] = [16, 24, 32, 48, 64, 256];
/// Apple's type codes of PNG entries, with their edges.
const ICNS: [(&[u8; 4], u32); 8] = [
    (b"icp4", 16),
    (b"icp5", 32),
    (b"icp6", 64),
    (b"ic07", 128),
    (b"ic08", 256),
    (b"ic09", 512),
    (b"ic10", 1024),
    (b"ic13", 256),
];

/// Draws all of them.
pub fn draw(checkout: &Checkout) -> Result<()> {
    if on_path("rsvg-convert").is_none() {
        bail!("rsvg-convert is missing: install Debian's librsvg2-bin or Homebrew's librsvg, then try again");
    }
    heading("drawing the icons");
    let icons = checkout.root.join("icons");
    let app = icons.join("source/app.svg");
    for (name, edge) in APP {
        render(&app, edge, &icons.join(name))?;
    }
    for state in TRAY {
        for (source, prefix) in
            [(format!("tray-{state}.svg"), "tray"), (format!("tray-{state}-template.svg"), "tray-template")]
        {
            for edge in TRAY_SIZES {
                render(
                    &icons.join("source").join(&source),
                    edge,
                    &icons.join(format!("{prefix}-{state}-{edge}.png")),
                )?;
            }
        }
    }
    let scratch = checkout.target.join("icons");
    std::fs::create_dir_all(&scratch)?;
    let drawn = |edge: u32| -> Result<Vec<u8>> {
        let file = scratch.join(format!("{edge}.png"));
        render(&app, edge, &file)?;
        Ok(std::fs::read(&file)?)
    };
    let ico: Vec<(u32, Vec<u8>)> =
        ICO_SIZES.iter().map(|edge| Ok((*edge, drawn(*edge)?))).collect::<Result<_>>()?;
    std::fs::write(icons.join("icon.ico"), ico_of(&ico)?)?;
    let icns: Vec<(&[u8; 4], Vec<u8>)> =
        ICNS.iter().map(|(code, edge)| Ok((*code, drawn(*edge)?))).collect::<Result<_>>()?;
    std::fs::write(icons.join("icon.icns"), icns_of(&icns)?)?;
    note(&format!("{}", icons.display()));
    Ok(())
}

fn render(svg: &Path, edge: u32, png: &Path) -> Result<()> {
    let edge = edge.to_string();
    run(Command::new("rsvg-convert").args(["-w", &edge, "-h", &edge, "-o"]).arg(png).arg(svg))
        .with_context(|| format!("could not draw {}", svg.display()))
}

/// Windows' container: a header, a directory of 16 bytes an image, the images.
fn ico_of(images: &[(u32, Vec<u8>)]) -> Result<Vec<u8>> {
    let count = u16::try_from(images.len())?;
    let mut file = vec![0, 0, 1, 0];
    file.extend(count.to_le_bytes());
    let mut offset = 6 + 16 * u32::from(count);
    for (edge, png) in images {
        // A byte holds the edge; 0 stands for 256.
        let edge = u8::try_from(*edge).unwrap_or(0);
        file.extend([edge, edge, 0, 0, 1, 0, 32, 0]);
        let length = u32::try_from(png.len())?;
        file.extend(length.to_le_bytes());
        file.extend(offset.to_le_bytes());
        offset += length;
    }
    images.iter().for_each(|(_, png)| file.extend(png));
    Ok(file)
}

/// Apple's container: `icns`, the whole length, then type code, length and content of each entry; big-endian.
fn icns_of(images: &[(&[u8; 4], Vec<u8>)]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    for (code, png) in images {
        body.extend(*code);
        body.extend(u32::try_from(png.len() + 8)?.to_be_bytes());
        body.extend(png);
    }
    let mut file = b"icns".to_vec();
    file.extend(u32::try_from(body.len() + 8)?.to_be_bytes());
    file.extend(body);
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ico_points_at_each_of_its_images() {
        let file = ico_of(&[(16, vec![1, 2, 3]), (256, vec![9])]).unwrap();
        assert_eq!(&file[..6], [0, 0, 1, 0, 2, 0]);
        assert_eq!((file[6], file[22]), (16, 0));
        let offset = u32::from_le_bytes(file[34..38].try_into().unwrap()) as usize;
        assert_eq!(&file[offset..], [9]);
    }

    #[test]
    fn an_icns_says_its_own_length() {
        let file = icns_of(&[(b"ic07", vec![7; 5])]).unwrap();
        assert_eq!(file.len(), 8 + 8 + 5);
        assert_eq!(&file[4..8], 21u32.to_be_bytes());
    }
}
