//! What a server asks its user in the middle of its call: who asks, what for, and how it is answered.

use leptos::prelude::*;
use protocol::elicitation::{Elicitation, Fault, Kind, LEFT_OUT};
use protocol::escape::{visible, visible_text};

use super::approval::spelled;
use crate::answer::{answer_of, chosen_in, toggled};
use crate::store::{Store, store};
use crate::words::Word;

/// What is asked, below who asks, and the field or the choices; `answer` is what is given as it stands.
pub fn asked(of: &Elicitation, id: &str, answer: RwSignal<String>) -> impl IntoView + use<> {
    let store = store();
    let fault = of.fault.clone().map(|fault| {
        view! { <p class="fault" role="alert">{move || fault_said(store, &fault)}</p> }
    });
    let label = format!("wanted-{id}");
    let field = (!of.field.is_empty()).then(|| spelled(visible(&of.field)));
    let kind = of.kind.clone();
    let note = move || note_said(store, &kind);
    let is_optional = of.may_be_left_out();
    view! {
        {fault}
        <p class="question" dir="auto">{spelled(visible(&of.message))}</p>
        <p class="wanted" id=label.clone() dir="auto">
            {field}
            <span class="faint">{note}</span>
            {is_optional.then(|| view! { <span class="faint">{move || store.say(Word::MayBeLeftOut)}</span> })}
        </p>
        {answers(of, label, answer)}
        <p class="faint">{move || store.say(Word::ServerGets)}</p>
    }
}

fn answers(of: &Elicitation, label: String, answer: RwSignal<String>) -> AnyView {
    let store = store();
    answer.set(of.usual.clone().unwrap_or_default());
    match &of.kind {
        Kind::Text | Kind::Number { .. } => {
            let mode = if of.kind == Kind::Text { "text" } else { "decimal" };
            view! {
                <input
                    type="text"
                    class="answer"
                    dir="auto"
                    inputmode=mode
                    autocomplete="off"
                    maxlength=super::approval::ANSWER_CHARS
                    aria-labelledby=label
                    placeholder=move || store.say(Word::YourAnswer)
                    prop:value=answer
                    on:input=move |event| answer.set(event_target_value(&event))
                />
            }
            .into_any()
        }
        Kind::YesOrNo => one_of(vec!["yes".to_owned(), "no".to_owned()], of, label, answer).into_any(),
        Kind::OneOf { of: names } => one_of(names.clone(), of, label, answer).into_any(),
        Kind::SomeOf { of: names } => {
            let choice = |(at, name): (usize, String)| {
                let (of_value, label) = (name.clone(), visible_text(&name));
                let name = StoredValue::new(name);
                view! {
                    <label class="choice">
                        <input
                            type="checkbox"
                            class=if at == 0 { "answer" } else { "" }
                            prop:checked=move || answer.with(|all| chosen_in(all, &of_value))
                            on:change=move |_| answer.update(|all| *all = name.with_value(|name| toggled(all, name)))
                        />
                        <span dir="auto">{label}</span>
                    </label>
                }
            };
            let choices = names.iter().cloned().enumerate().map(choice).collect_view();
            view! { <div class="choices" role="group" aria-labelledby=label>{choices}</div> }.into_any()
        }
    }
}

/// Buttons of which one is pressed; where it may be left out and nothing is usual, one more says so.
fn one_of(
    names: Vec<String>,
    of: &Elicitation,
    label: String,
    answer: RwSignal<String>,
) -> impl IntoView + use<> {
    let store = store();
    let is_yes_or_no = of.kind == Kind::YesOrNo;
    let without = (!of.is_required && of.usual.is_none()).then(|| LEFT_OUT.to_owned());
    // The keyboard comes to the one that is chosen, else to the first.
    let first = names.iter().position(|name| Some(name) == of.usual.as_ref()).unwrap_or(0);
    let group = StoredValue::new(js_sys::Math::random().to_string());
    let choice = move |(at, name): (usize, String)| {
        let (value, chosen) = (name.clone(), name.clone());
        let label = move || match name.as_str() {
            LEFT_OUT => store.say(Word::LeaveOut).to_owned(),
            "yes" if is_yes_or_no => store.say(Word::Yes).to_owned(),
            "no" if is_yes_or_no => store.say(Word::No).to_owned(),
            name => visible_text(name),
        };
        view! {
            <label class="choice">
                <input
                    type="radio"
                    name=group.get_value()
                    class=if at == first { "answer" } else { "" }
                    prop:checked=move || answer.with(|answer| *answer == value)
                    on:change=move |_| answer.set(chosen.clone())
                />
                <span dir="auto">{label}</span>
            </label>
        }
    };
    let choices = names.into_iter().chain(without).enumerate().map(choice).collect_view();
    view! { <div class="choices" role="radiogroup" aria-labelledby=label>{choices}</div> }
}

/// What is sent; `None` while it would be no answer.
pub fn given(of: Option<&Elicitation>, written: &str) -> Option<String> {
    answer_of(of.is_some_and(Elicitation::may_be_left_out), written)
}

fn note_said(store: Store, kind: &Kind) -> Option<String> {
    let Kind::Number { is_whole, least, most } = kind else { return None };
    let what = store.say(if *is_whole { Word::WholeNumber } else { Word::ANumber }).to_owned();
    let [least, most] = [least, most].map(|bound| bound.map(|bound| bound.to_string()));
    Some(match (least, most) {
        (None, None) => what,
        (least, most) => {
            let span = format!("{} – {}", least.unwrap_or_default(), most.unwrap_or_default());
            format!("{what}, {}", span.trim())
        }
    })
}

fn fault_said(store: Store, fault: &Fault) -> String {
    match fault {
        Fault::TooShort { least } => store.fill(Word::TooShort, &[("n", &least.to_string())]),
        Fault::TooLong { most } => store.fill(Word::TooLong, &[("n", &most.to_string())]),
        Fault::NotYesOrNo => store.say(Word::NotYesOrNo).to_owned(),
        Fault::NoNumber { is_whole: true } => store.say(Word::NoWholeNumber).to_owned(),
        Fault::NoNumber { is_whole: false } => store.say(Word::NoNumber).to_owned(),
        Fault::OutOfBounds => store.say(Word::OutOfBounds).to_owned(),
        Fault::NoChoice { answer } => store.fill(Word::NoChoice, &[("answer", &visible_text(answer))]),
    }
}
