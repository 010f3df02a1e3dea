//! A question to the user about one exact call: everything it would do is on the card, and "no" is the easy answer.

use std::time::Duration;

use leptos::{html, prelude::*};
use protocol::command::AnswerApproval;
use protocol::tool::{Answer, Approval, Risk};

use super::icon::icon;
use crate::brief;
use crate::escape::{Piece, visible, visible_json, visible_text};
use crate::store::store;
use crate::words::Word;

/// A yes within half a second of seeing the question was meant for something else; the rest is for painting it.
const NO_YES_BEFORE: Duration = Duration::from_millis(600);

/// All open questions, oldest first.
#[component]
pub fn Approvals() -> impl IntoView {
    let store = store();
    let asked = store.memo(|state| state.approvals.clone());
    view! {
        <div class="approvals" aria-live="assertive">
            <For each=move || asked.get() key=|approval| approval.id.clone() let:approval>
                <Card approval />
            </For>
        </div>
    }
}

#[component]
fn Card(approval: Approval) -> impl IntoView {
    let store = store();
    let deny = NodeRef::<html::Button>::new();
    let ready = RwSignal::new(false);
    let sending = RwSignal::new(false);
    Effect::new(move |_| {
        if let Some(deny) = deny.get() {
            let _ = deny.focus(); // where focus is refused, the card can still be reached by Tab
            set_timeout(move || _ = ready.try_set(true), NO_YES_BEFORE);
        }
    });
    let (id, digest) = (approval.id.clone(), approval.digest.clone());
    let say = Callback::new(move |answer: Answer| {
        let blocked = sending.get_untracked() || (answer != Answer::Deny && !ready.get_untracked());
        if !blocked {
            sending.set(true);
            let command = AnswerApproval { approval: id.clone(), digest: digest.clone(), answer };
            store.send_or(command, |()| {}, sending);
        }
    });
    let no_yes = move || !ready.get() || sending.get();
    let title = format!("title-{}", approval.id);
    let labelled_by = title.clone();
    let tool = visible_text(&approval.call.tool);
    let remembered = (approval.risk != Risk::Consequential).then(|| {
        let tool = tool.clone();
        view! {
            <button class="thread" disabled=no_yes on:click=move |_| say.run(Answer::Thread)>
                {move || store.fill(Word::AllowThread, &[("tool", &tool)])}
            </button>
        }
    });
    let reason_of_model = brief::reason(&approval.call).map(|reason| {
        view! {
            <p class="why" dir="auto">
                <span class="faint">{move || store.say(Word::ReasonOfModel)}": "</span>
                {spelled(visible(reason))}
            </p>
        }
    });

    view! {
        <section
            class="approval"
            role="alertdialog"
            data-approval=approval.id.0.clone()
            data-risk=risk_name(approval.risk)
            aria-labelledby=labelled_by
        >
            <header>
                {icon("shield")}
                <h3 id=title>{move || store.say(Word::MayI)}</h3>
                <span class="risk" data-risk=risk_name(approval.risk)>
                    {move || store.say(risk_word(approval.risk))}
                </span>
            </header>
            <p class="call"><code class="tool">{tool}</code>" "<span>{spelled(visible(&approval.reason))}</span></p>
            {reason_of_model}
            <pre class="arguments" tabindex="0" aria-label=move || store.say(Word::Arguments)>
                {spelled(visible_json(&approval.call.arguments))}
            </pre>
            <footer>
                <button
                    class="deny"
                    node_ref=deny
                    disabled=move || sending.get()
                    on:click=move |_| say.run(Answer::Deny)
                >
                    {move || store.say(Word::Deny)}
                </button>
                <span class="spring"></span>
                {remembered}
                <button class="once primary" disabled=no_yes on:click=move |_| say.run(Answer::Once)>
                    {move || store.say(Word::AllowOnce)}
                </button>
            </footer>
        </section>
    }
}

/// Text with its unseen characters set apart.
pub fn spelled(pieces: Vec<Piece>) -> impl IntoView {
    let part = |piece| match piece {
        Piece::Plain(text) => text.into_any(),
        Piece::Escape(text) => view! { <mark class="escape">{text}</mark> }.into_any(),
    };
    pieces.into_iter().map(part).collect_view()
}

pub fn risk_word(risk: Risk) -> Word {
    match risk {
        Risk::Observe => Word::RiskObserve,
        Risk::Navigate => Word::RiskNavigate,
        Risk::Edit => Word::RiskEdit,
        Risk::Consequential => Word::RiskConsequential,
    }
}

pub fn risk_name(risk: Risk) -> &'static str {
    match risk {
        Risk::Observe => "observe",
        Risk::Navigate => "navigate",
        Risk::Edit => "edit",
        Risk::Consequential => "consequential",
    }
}
