//! What can be filled, and what a field that was filled says of it: read back, or refused. Pure.

use std::time::Duration;

use desktop::{Acted, DesktopError, Evidence};

use crate::script::{FieldContent, Ready};

/// For a page to take a value back, or to make something else of it, once it has checked it. Nobody tells when it has.
pub(crate) const TAKEN_BACK: Duration = Duration::from_millis(500);

pub(crate) fn may_be_filled(ready: &Ready, reference: &str) -> Result<(), DesktopError> {
    let no = |why: &str| Err(DesktopError::BadInput(format!("{} ({reference}) {why}", ready.called)));
    match ready.kind.as_str() {
        "file" => no("asks for a file, which is chosen by the user"),
        "checkbox" | "radio" => no("is switched with webClick"),
        "other" | "button" | "submit" | "reset" | "image" => {
            no("takes no text; find the field with webElements")
        }
        _ if ready.disabled => no("is disabled"),
        _ if ready.readonly => no("can only be read"),
        _ => Ok(()),
    }
}

/// Of a field that does not tell any more what it holds.
pub(crate) fn untold() -> Acted {
    let note = "the text was typed; the field was replaced or the page keeps from telling";
    Acted { evidence: Evidence::Sent, note: note.into() }
}

pub(crate) fn typed(held: &FieldContent, wanted: &str) -> Acted {
    if held.equal {
        let note = format!("typed {} characters, read back equal", wanted.chars().count());
        return Acted { evidence: Evidence::ReadBack, note };
    }
    Acted { evidence: Evidence::Mismatch, note: holding(held) }
}

fn holding(held: &FieldContent) -> String {
    if held.secret {
        format!("the field holds something else, {} characters long", held.length)
    } else {
        format!("the field now holds {:?}", held.value)
    }
}

/// What was read back, unless the field holds something else a moment later than it did then.
pub(crate) fn unless_taken_back(acted: Acted, then: &FieldContent, now: &FieldContent) -> Acted {
    if (&then.value, then.length, then.equal) == (&now.value, now.length, now.equal) {
        return acted;
    }
    let note = format!("{}, but a moment later {}: the page changed it", acted.note, holding(now));
    Acted { evidence: Evidence::Mismatch, note }
}

pub(crate) fn chosen(held: &FieldContent, called: &str) -> Result<Acted, DesktopError> {
    if let Some(missing) = held.missing.first() {
        return Err(DesktopError::BadInput(format!(
            "{called} has no option {missing:?}; it has: {}",
            held.options.join("; ")
        )));
    }
    if let Some(refused) = &held.refused {
        return Err(DesktopError::BadInput(format!("the option {refused:?} of {called} is disabled")));
    }
    let evidence = if held.equal { Evidence::ReadBack } else { Evidence::Mismatch };
    Ok(Acted { evidence, note: format!("{} is chosen now", held.value) })
}

pub(crate) fn was_set(held: &FieldContent, called: &str) -> Acted {
    if held.equal {
        return Acted { evidence: Evidence::ReadBack, note: format!("set to {}", held.value) };
    }
    let note = format!(
        "{called} did not take it and holds {:?}; dates are 2026-01-31, times 13:45, months 2026-01, colours #ff0000",
        held.value
    );
    Acted { evidence: Evidence::Mismatch, note }
}

#[cfg(test)]
mod tests;
