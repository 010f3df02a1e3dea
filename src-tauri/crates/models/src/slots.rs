//! Places of pictures in a body under construction. A picture is by far the largest of its parts, and what is put
//! together of parts is copied from one to the next: a short mark stands in its place, and the picture is written once,
//! at the end.
//!
//! A mark is the picture's address between two of Unicode's noncharacters, which are for a program's own use and stand
//! in no text: nothing that is asked can look like one by chance, nor know the address.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::{Image, Message, Part, Request};

const OPEN: char = '\u{fdd0}';
const CLOSE: char = '\u{fdd1}';

/// Stands for the picture in base64 until [`filled`].
pub(crate) fn slot(image: &Image) -> String {
    format!("{OPEN}{:x}{CLOSE}", address(image))
}

fn address(image: &Image) -> usize {
    std::ptr::from_ref(image).addr()
}

/// The text with the request's own pictures in their places.
pub(crate) fn filled(text: String, request: &Request) -> String {
    let images = images(request);
    if images.is_empty() {
        return text;
    }
    let room: usize = images.iter().map(|image| image.bytes.len().div_ceil(3) * 4).sum();
    let mut whole = String::with_capacity(text.len() + room);
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once(OPEN) {
        whole.push_str(before);
        let image = after.split_once(CLOSE).and_then(|(mark, after)| {
            let place = usize::from_str_radix(mark, 16).ok()?;
            Some((images.iter().find(|image| address(image) == place)?, after))
        });
        match image {
            Some((image, after)) => {
                STANDARD.encode_string(&image.bytes, &mut whole);
                rest = after;
            }
            None => {
                whole.push(OPEN);
                rest = after;
            }
        }
    }
    whole.push_str(rest);
    whole
}

fn images(request: &Request) -> Vec<&Image> {
    let mut images = Vec::new();
    for message in &request.messages {
        match message {
            Message::User(parts) => images.extend(parts.iter().filter_map(|part| match part {
                Part::Image(image) => Some(image),
                Part::Text(_) => None,
            })),
            Message::Assistant(_) => {}
            Message::ToolResults(answers) => {
                images.extend(answers.iter().filter_map(|answer| answer.image.as_ref()));
            }
        }
    }
    images
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(pictures: &[u8]) -> Request {
        let part =
            |byte: &u8| Part::Image(Image { media_type: "image/png".into(), bytes: vec![*byte; 4].into() });
        let messages = vec![Message::User(pictures.iter().map(part).collect())];
        Request { messages, ..Request::default() }
    }

    #[test]
    fn each_picture_comes_to_its_own_place_however_often() {
        let request = request(&[1, 2]);
        let slots: Vec<String> = images(&request).into_iter().map(slot).collect();
        let text = format!("a {one} b {} {one}", slots[0], one = slots[1]);
        assert_eq!(filled(text, &request), "a AgICAg== b AQEBAQ== AgICAg==");
    }

    #[test]
    fn what_only_looks_like_a_mark_stays_as_it_is() {
        for text in ["plain", "\u{fdd0}12\u{fdd1}", "\u{fdd0}x\u{fdd1}\u{fdd0}", "\u{fdd1}\u{fdd0}7"] {
            for pictures in [&[][..], &[1]] {
                assert_eq!(filled(text.into(), &request(pictures)), text);
            }
        }
    }
}
