//! A clipboard's content as bytes, for the watchdog: numbers in this machine's order, then each form with its length.

use x11rb::protocol::xproto::Atom;

use super::{Content, Target};

impl Content {
    pub(in super::super) fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    pub(in super::super) fn size(&self) -> usize {
        self.targets.iter().map(|target| target.bytes.len()).sum()
    }

    /// For [`Content::decode`]. Atoms mean the same to every client of a server.
    pub(in super::super) fn encode(&self, selection: Atom) -> Vec<u8> {
        let mut bytes = selection.to_ne_bytes().to_vec();
        for Target { name, kind, format, bytes: content } in &self.targets {
            for number in [*name, *kind, u32::from(*format), content.len() as u32] {
                bytes.extend(number.to_ne_bytes());
            }
            bytes.extend(content);
        }
        bytes
    }

    /// Selection and content; `None` if the bytes are no content.
    pub(in super::super) fn decode(mut bytes: &[u8]) -> Option<(Atom, Self)> {
        let selection = number(&mut bytes)?;
        let mut content = Self::default();
        while !bytes.is_empty() {
            let (name, kind) = (number(&mut bytes)?, number(&mut bytes)?);
            let format = u8::try_from(number(&mut bytes)?).ok()?;
            let length = number(&mut bytes)? as usize;
            let (own, rest) = bytes.split_at_checked(length)?;
            content.targets.push(Target { name, kind, format, bytes: own.to_vec() });
            bytes = rest;
        }
        Some((selection, content))
    }
}

fn number(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    Some(u32::from_ne_bytes(*number))
}

#[cfg(test)]
mod tests;
