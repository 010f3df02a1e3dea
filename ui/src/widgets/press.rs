//! A press of a card's button counts once all that was typed before it has come.
//!
//! WebKit hands keys to a page one by one, each when the page is done with the one before, and clicks at once: the last
//! letters of somebody who types fast come after the click that was to send them.

use std::rc::Rc;
use std::time::Duration;

use leptos::task::spawn_local;
use leptos::{html, prelude::*};
use protocol::command::GetRemembered;

use crate::ipc;

/// How long no letter may have come.
const QUIET: Duration = Duration::from_millis(250);

/// On a busy machine a letter takes longer than that. Its way is from the windows' process to the page, so that after as many
/// questions to this process and back the next letter has come, if there is one.
const QUESTIONS: usize = 2;

/// After this a press counts although letters still come, since somebody goes on typing, and although nothing is answered.
const LATEST: Duration = Duration::from_secs(8);

/// What was typed into a card, and pressed on it.
#[derive(Clone, Copy, Debug, Default)]
struct Typed {
    /// Letters that have come.
    letters: u32,
    /// Presses of its buttons.
    pressed: u32,
    /// The number of the last one that has counted.
    counted: u32,
}

/// The presses of one card's buttons.
#[derive(Clone, Copy, Debug)]
pub struct Presses {
    card: NodeRef<html::Section>,
    typed: StoredValue<Typed>,
}

impl Presses {
    pub fn of(card: NodeRef<html::Section>) -> Self {
        Self { card, typed: StoredValue::new(Typed::default()) }
    }

    /// A letter has come into one of the card's fields.
    pub fn typed(self) {
        self.typed.update_value(|typed| typed.letters += 1);
    }

    /// Whether a field of the card has the keyboard.
    pub fn is_written_in(self) -> bool {
        let active = document().active_element();
        active.zip(self.card.get_untracked()).is_some_and(|(active, card)| {
            ["TEXTAREA", "INPUT"].contains(&&*active.tag_name()) && card.contains(Some(&active))
        })
    }

    /// A press that answers: of several the last one counts. `go` is not called where the card goes meanwhile.
    pub fn press(self, waits: bool, go: impl Fn() + 'static) {
        self.typed.update_value(|typed| typed.pressed += 1);
        if !waits {
            return go();
        }
        let number = self.typed.with_value(|typed| typed.pressed);
        let go: Rc<dyn Fn()> = Rc::new(go);
        let at_last = Rc::clone(&go);
        set_timeout(move || self.count(number, &*at_last), LATEST);
        self.once_all_has_come(number, go);
    }

    /// Once, and only if no other press came since.
    fn count(self, number: u32, go: &dyn Fn()) {
        let is_next =
            self.typed.try_get_value().is_some_and(|typed| typed.pressed == number && typed.counted < number);
        if is_next {
            self.typed.update_value(|typed| typed.counted = number);
            go();
        }
    }

    fn once_all_has_come(self, number: u32, go: Rc<dyn Fn()>) {
        let before = self.typed.with_value(|typed| typed.letters);
        let after = move || {
            spawn_local(async move {
                for _ in 0..QUESTIONS {
                    // Only that it was answered is of interest.
                    let _ = ipc::invoke(GetRemembered {}).await;
                }
                match self.typed.try_get_value() {
                    Some(Typed { letters, pressed, counted })
                        if letters != before && pressed == number && counted < number =>
                    {
                        self.once_all_has_come(number, go);
                    }
                    Some(_) => self.count(number, &*go),
                    None => {}
                }
            });
        };
        set_timeout(after, QUIET);
    }
}
