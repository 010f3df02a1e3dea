//! A plan on its card, where its user may strike things out before they agree, and what came of it at its run's end.

use leptos::prelude::*;
use protocol::budget::Forecast;
use protocol::contract::{Budget, Check, Clause, Contract, Deviation, EffectClass, Finding, Report};
use protocol::escape::visible_text;
use protocol::tool::Answer;

use super::budget::{forecast_said, known_by};
use super::icon::icon;
use crate::store::{Store, store};
use crate::words::Word;

/// What its user has changed of a plan so far.
#[derive(Clone, Copy)]
pub struct Edits {
    struck: RwSignal<Vec<Clause>>,
    budget: RwSignal<Budget>,
}

impl Edits {
    pub fn of(contract: &Contract) -> Self {
        Self { struck: RwSignal::new(Vec::new()), budget: RwSignal::new(contract.budget) }
    }

    /// The plan as its user has left it.
    pub fn left(self, contract: &Contract) -> Contract {
        let struck = self.struck.get();
        let left = struck.iter().fold(contract.clone(), |left, clause| left.without(clause));
        Contract { budget: self.budget.get(), ..left }
    }

    pub fn answer(self, contract: &Contract) -> Answer {
        let left = untrack(|| self.left(contract));
        match serde_json::to_value(&left) {
            Ok(arguments) if left != *contract => Answer::Edit { arguments },
            Ok(_) | Err(_) => Answer::Once,
        }
    }
}

/// All that a plan names, each with a way to strike it out.
pub fn terms(
    contract: &Contract,
    changes: &[String],
    forecast: Option<Forecast>,
    edits: Edits,
) -> impl IntoView + use<> {
    let store = store();
    let (clauses, proposed) = (contract.clauses(), contract.clone());
    let steps =
        contract.steps.iter().map(|step| view! { <li dir="auto">{visible_text(step)}</li> }).collect_view();
    let group = move |title: Word, class: &'static str, fits: fn(&Clause) -> bool| {
        let terms: Vec<_> = clauses.iter().filter(|clause| fits(clause)).cloned().collect();
        (!terms.is_empty()).then(|| {
            let terms = terms.into_iter().map(|clause| term(clause, edits)).collect_view();
            view! {
                <section class="terms">
                    <h4>{move || store.say(title)}</h4>
                    <ul class=class>{terms}</ul>
                </section>
            }
        })
    };
    let changes = (!changes.is_empty()).then(|| {
        let changes = changes.iter().map(|change| view! { <li dir="auto">{visible_text(change)}</li> });
        view! {
            <section class="terms changes">
                <h4>{move || store.say(Word::PlanChanges)}</h4>
                <ul>{changes.collect_view()}</ul>
            </section>
        }
    });
    view! {
        <p class="why">{move || store.say(Word::PlanSays)}</p>
        // What binds comes first: no length of steps moves it out of sight.
        {changes}
        {group(Word::PlanPlaces, "chips", |clause| matches!(clause, Clause::Application(_) | Clause::Host(_)))}
        {group(Word::PlanEffects, "chips", |clause| matches!(clause, Clause::Effect(_)))}
        {move || edits.left(&proposed).effects.is_empty().then(|| view! { <p class="why">{store.say(Word::PlanAsksEach)}</p> })}
        {group(Word::PlanChecks, "rows", |clause| matches!(clause, Clause::Check(_)))}
        {group(Word::PlanFolders, "chips", |clause| matches!(clause, Clause::Folder(_)))}
        <section class="terms budget">
            <h4>{move || store.say(Word::PlanBudget)}</h4>
            <div class="bounds">
                {bound(Word::PlanTurns, contract.budget.turns.map(f64::from), move |value| {
                    edits.budget.update(|budget| budget.turns = value.map(whole));
                })}
                {bound(Word::PlanMinutes, contract.budget.minutes.map(f64::from), move |value| {
                    edits.budget.update(|budget| budget.minutes = value.map(whole));
                })}
                {bound(Word::PlanDollars, contract.budget.dollars, move |value| {
                    edits.budget.update(|budget| budget.dollars = value);
                })}
            </div>
        </section>
        {forecast.map(|forecast| view! {
            <p class="forecast faint" title=move || known_by(store, &forecast)>
                {move || forecast_said(store, &forecast)}
            </p>
        })}
        <section class="terms">
            <h4>{move || store.say(Word::Steps)}</h4>
            <ol class="plan-steps">{steps}</ol>
        </section>
    }
}

/// One term; struck out, it can be put back.
fn term(clause: Clause, edits: Edits) -> impl IntoView {
    let store = store();
    let is_grave = matches!(clause, Clause::Effect(effect) if effect.is_grave());
    let shown = clause.clone();
    let text = move || said(store, &shown);
    let label = text.clone();
    let this = clause.clone();
    let is_struck = Memo::new(move |_| edits.struck.with(|struck| struck.contains(&this)));
    let toggle = move |_| {
        edits.struck.update(|struck| match struck.iter().position(|one| *one == clause) {
            Some(at) => drop(struck.remove(at)),
            None => struck.push(clause.clone()),
        });
    };
    view! {
        <li class="term" class:struck=is_struck data-grave=is_grave.then_some("true")>
            <span dir="auto">{text}</span>
            <button
                class="strike"
                aria-pressed=move || is_struck.get().to_string()
                aria-label=move || store.fill(Word::StrikeOut, &[("what", &label())])
                on:click=toggle
            >
                {icon("close")}
            </button>
        </li>
    }
}

/// At least one: none at all would be no bound.
fn whole(value: f64) -> u32 {
    (value as u32).max(1)
}

/// Only an empty field is no bound: while something else stands in it that is none, what was proposed holds.
fn bound(word: Word, proposed: Option<f64>, set: impl Fn(Option<f64>) + 'static) -> impl IntoView {
    let store = store();
    let is_none = RwSignal::new(false);
    view! {
        <label>
            // Of type `number`, it would be empty to us while its text is no number: a minus sign would take the bound away.
            <input
                type="text"
                inputmode="decimal"
                placeholder="–"
                value=proposed.map(|value| value.to_string())
                aria-invalid=move || is_none.get().to_string()
                on:input=move |event| {
                    let text = event_target_value(&event);
                    let given = text.trim().parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0);
                    is_none.set(given.is_none() && !text.trim().is_empty());
                    set(if is_none.get_untracked() { proposed } else { given });
                }
            />
            <span>{move || store.say(word)}</span>
        </label>
    }
}

/// What a plan's checks found.
pub fn found(findings: Vec<Finding>) -> impl IntoView {
    let store = store();
    let row = move |finding: Finding| {
        let (mark, effect, word) = match (finding.passed, finding.is_open_question()) {
            (true, _) => ("yes", "confirmed", Word::CheckPassed),
            (false, true) => ("open", "waiting", Word::CheckOpen),
            (false, false) => ("no", "no_change", Word::CheckFailed),
        };
        let Finding { check, found, .. } = finding;
        view! {
            <li class="finding" data-passed=mark>
                <span class="badge" data-effect=effect>
                    {move || store.say(word)}
                </span>
                <span dir="auto">{move || check_said(store, &check)}</span>
                <span class="faint" dir="auto">{visible_text(&found)}</span>
            </li>
        }
    };
    (!findings.is_empty())
        .then(|| view! { <ul class="findings">{findings.into_iter().map(row).collect_view()}</ul> })
}

/// What came of a plan: what left it, and what its checks found.
pub fn report(report: Report) -> impl IntoView {
    let store = store();
    let Report { contract, deviations, findings } = report;
    let bound = contract.clauses().into_iter();
    let bound: Vec<_> =
        bound.filter(|clause| !matches!(clause, Clause::Step(_) | Clause::Check(_))).collect();
    let terms = bound.into_iter().map(|clause| {
        let is_grave = matches!(clause, Clause::Effect(effect) if effect.is_grave());
        view! {
            <li class="term" data-grave=is_grave.then_some("true")>
                <span dir="auto">{move || said(store, &clause)}</span>
            </li>
        }
    });
    let left = deviations.into_iter().map(|Deviation { tool, outside, answer }| {
        let word = match answer {
            Some(Answer::Deny) => Word::DeviationDenied,
            Some(Answer::Once | Answer::Thread | Answer::Until { .. } | Answer::Edit { .. }) => {
                Word::DeviationAllowed
            }
            None => Word::DeviationOpen,
        };
        let (tool, outside) = (visible_text(&tool), visible_text(&outside.join(", ")));
        view! {
            <li class="deviation" dir="auto">
                {move || store.fill(word, &[("tool", &tool), ("outside", &outside)])}
            </li>
        }
    });
    view! {
        <div class="report">
            <h4>{move || store.say(Word::ThePlan)}</h4>
            <ul class="chips">{terms.collect_view()}</ul>
            {found(findings)}
            <ul class="deviations">{left.collect_view()}</ul>
        </div>
    }
}

/// A clause in the window's language; what somebody wrote in it, as it is.
fn said(store: Store, clause: &Clause) -> String {
    match clause {
        Clause::Step(text) | Clause::Application(text) | Clause::Host(text) | Clause::Folder(text) => {
            visible_text(text)
        }
        Clause::Effect(effect) => store.say(effect_word(*effect)).to_owned(),
        Clause::Check(check) => check_said(store, check),
        Clause::Turns(count) => format!("{count} {}", store.say(Word::PlanTurns)),
        Clause::Minutes(count) => format!("{count} {}", store.say(Word::PlanMinutes)),
        Clause::Dollars(dollars) => format!("{dollars} {}", store.say(Word::PlanDollars)),
    }
}

fn effect_word(effect: EffectClass) -> Word {
    match effect {
        EffectClass::Edit => Word::EffectEdit,
        EffectClass::Clipboard => Word::EffectClipboard,
        EffectClass::Browse => Word::EffectBrowse,
        EffectClass::Run => Word::EffectRun,
        EffectClass::Send => Word::EffectSend,
        EffectClass::Submit => Word::EffectSubmit,
        EffectClass::Publish => Word::EffectPublish,
        EffectClass::Delete => Word::EffectDelete,
        EffectClass::Pay => Word::EffectPay,
        EffectClass::Sign => Word::EffectSign,
        EffectClass::Install => Word::EffectInstall,
        EffectClass::System => Word::EffectSystem,
        EffectClass::Remote => Word::EffectRemote,
        EffectClass::Passwords => Word::EffectPasswords,
    }
}

fn check_said(store: Store, check: &Check) -> String {
    let fill = |word: Word, values: &[(&str, &str)]| {
        let shown: Vec<(&str, String)> =
            values.iter().map(|(name, value)| (*name, visible_text(value))).collect();
        let shown: Vec<(&str, &str)> = shown.iter().map(|(name, value)| (*name, value.as_str())).collect();
        store.fill(word, &shown)
    };
    match check {
        Check::FileExists { path } => fill(Word::FileExists, &[("path", path)]),
        Check::FileContains { path, text } => fill(Word::FileContains, &[("path", path), ("text", text)]),
        Check::FileHash { path, sha256 } => fill(Word::FileHash, &[("path", path), ("sha256", sha256)]),
        Check::Window { application, title: None } => fill(Word::WindowThere, &[("app", application)]),
        Check::Window { application, title: Some(title) } => {
            fill(Word::WindowTitled, &[("app", application), ("title", title)])
        }
        Check::Element { application, name, role: _, value: None } => {
            fill(Word::ElementThere, &[("app", application), ("name", name)])
        }
        Check::Element { application, name, role: _, value: Some(value) } => {
            fill(Word::ElementValue, &[("app", application), ("name", name), ("value", value)])
        }
        Check::PageAddress { address } => fill(Word::PageAt, &[("address", address)]),
        Check::PageText { text } => fill(Word::PageSays, &[("text", text)]),
        Check::AskUser { question } => fill(Word::YouSayYes, &[("question", question)]),
        Check::CommandExit { command, code } => {
            fill(Word::CommandExits, &[("command", command), ("code", &code.to_string())])
        }
        Check::Reminder { title } => fill(Word::ReminderThere, &[("title", title)]),
        Check::Event { title } => fill(Word::EventThere, &[("title", title)]),
    }
}
