//! Cuts the bytes of an answer into its events: server-sent events, or lines of JSON. Pure; does not look into the
//! events.
//!
//! Our own, because the crate there was (eventsource-stream) moves its whole buffer for each line, which is quadratic
//! in a piece, and breaks down on a byte order mark. Wherever the pieces are cut, the same events come out.

use crate::ModelError;
use crate::decode::utf8;

/// How a wire cuts its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events; only their `data` counts, since every wire says the type in it again.
    Events,
    /// One JSON value a line.
    Lines,
}

/// The byte order mark that some servers send before the first line.
pub(crate) const BOM: &[u8] = "\u{feff}".as_bytes();
/// How much is kept of an answer that is no event stream: it may be the body of an error.
const MAX_STRAY: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct Frames {
    framing: Framing,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// The data so far of an event whose end has not come.
    data: Vec<u8>,
    has_data: bool,
    stray: String,
    after_return: bool,
    begun: bool,
}

impl Frames {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            stray: String::new(),
            after_return: false,
            begun: false,
        }
    }

    /// Takes the next bytes and calls `each` with every event that they complete.
    ///
    /// # Errors
    /// Lines of no event that are no UTF-8, and the errors of `each`.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        if std::mem::take(&mut self.after_return) && bytes.first() == Some(&b'\n') {
            bytes = &bytes[1..];
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) {
            let pair = bytes[end..].starts_with(b"\r\n");
            let rest = &bytes[end + if pair { 2 } else { 1 }..];
            let is_last = rest.starts_with(b"\n") || rest.starts_with(b"\r");
            if self.line.is_empty() {
                self.line_ended(&bytes[..end], is_last, &mut each)?;
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&bytes[..end]);
                self.line_ended(&line, is_last, &mut each)?;
            }
            self.after_return = bytes[end] == b'\r' && end + 1 == bytes.len();
            bytes = rest;
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// What is left at the end of the answer: an event without its end, or text that was no event stream.
    pub(crate) fn end(mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            // Fails only on a line that was cut within a character.
            self.line_ended(&line, false, &mut |_| Ok(())).ok()?;
        }
        match self.framing {
            Framing::Events if self.has_data => String::from_utf8(self.data).ok(),
            Framing::Events => Some(self.stray),
            Framing::Lines => String::from_utf8(line).ok(),
        }
        .filter(|text| !text.trim().is_empty())
    }

    /// `is_last` if the line is known to end its event.
    fn line_ended(
        &mut self,
        line: &[u8],
        is_last: bool,
        each: &mut impl FnMut(&[u8]) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        let line = if self.begun { line } else { line.strip_prefix(BOM).unwrap_or(line) };
        self.begun = true;
        match self.framing {
            Framing::Lines if line.trim_ascii().is_empty() => Ok(()),
            Framing::Lines => each(line),
            Framing::Events => self.field(line, is_last, each),
        }
    }

    fn field(
        &mut self,
        line: &[u8],
        is_last: bool,
        each: &mut impl FnMut(&[u8]) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        if line.is_empty() {
            let outcome = if std::mem::take(&mut self.has_data) { each(&self.data) } else { Ok(()) };
            self.data.clear();
            return outcome;
        }
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        match name {
            b"data" => {
                let value = value.strip_prefix(b" ").unwrap_or(value);
                // The whole event is this line: no copy is needed.
                if is_last && !self.has_data {
                    return each(value);
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            // Comments, and fields that only browsers use.
            b"" | b"event" | b"id" | b"retry" => {}
            _ if self.stray.len() + line.len() < MAX_STRAY => {
                self.stray.push_str(utf8(line)?);
                self.stray.push('\n');
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All events of `text` in pieces of `size` bytes, and what is left.
    fn read(framing: Framing, text: &[u8], size: usize) -> (Vec<String>, Option<String>) {
        let mut frames = Frames::new(framing);
        let mut events = Vec::new();
        for piece in text.chunks(size) {
            let each = |event: &[u8]| {
                events.push(String::from_utf8(event.to_vec()).unwrap());
                Ok(())
            };
            frames.push(piece, each).unwrap();
        }
        (events, frames.end())
    }

    #[test]
    fn lines_may_end_as_they_like_and_be_cut_anywhere() {
        let text =
            "\u{feff}: hello\rdata: wörld\r\n\r\nevent: x\nid: 3\ndata:a\ndata: b\n\ndata\r\rdata: 👋\n\n";
        for size in 1..=text.len() {
            let (events, rest) = read(Framing::Events, text.as_bytes(), size);
            assert_eq!(events, ["wörld", "a\nb", "", "👋"], "pieces of {size}");
            assert_eq!(rest, None);
        }
    }

    #[test]
    fn an_event_without_its_end_is_left_over() {
        assert_eq!(read(Framing::Events, b"data: a\n\ndata: b", 3), (vec!["a".into()], Some("b".into())));
        assert_eq!(read(Framing::Lines, b"{}\n\n{\"a\"", 2), (vec!["{}".into()], Some("{\"a\"".into())));
        assert_eq!(read(Framing::Events, "data: \u{e4}".as_bytes().split_last().unwrap().1, 9).1, None);
    }

    #[test]
    fn a_body_that_is_no_event_stream_is_left_over_whole() {
        let body = "{\n  \"error\": \"x\"\n}\n";
        assert_eq!(read(Framing::Events, body.as_bytes(), 4), (vec![], Some(body.into())));
    }

    #[test]
    fn what_is_no_event_and_no_utf_8_is_refused() {
        let error = Frames::new(Framing::Events).push(b"data\xff\n", |_| Ok(())).unwrap_err();
        assert_eq!(error.kind, crate::ModelErrorKind::Protocol);
    }
}
