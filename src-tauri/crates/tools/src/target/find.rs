//! Looks for what the parts of a call would touch.

use browser::Browser;
use desktop::{Desktop, Element, Inside, ListedElement, Target, WindowView};
use protocol::contract::EffectClass;
use protocol::tool::{Grant, Risk};

use super::destination::TERMINAL;
use super::gravity::{self, Keyboard, brings, keyboard};
use super::{Found, PATIENCE, Targets, Touched, Typed, Written, beyond, is_middle_click, is_of};
use crate::applications::Class;
use crate::contract::{self, Need};
use crate::links::{self, Led};
use crate::plan::Step;
use crate::policy::Grants;
use crate::ports::Ports;
use crate::reach::Reach;
use crate::secrets::{self, Landing, PASSWORD};
use crate::whose::{in_app, is_unlisted, named, owned, taker};
use crate::{goes_to, hosts};

/// Looks up what the parts of a call would touch. `grants` tell which hosts are known.
pub(crate) async fn find(
    desktop: &dyn Desktop,
    browser: &dyn Browser,
    grants: &Grants,
    ports: &Ports,
    step: &Step,
) -> Found {
    let mut found = Found::default();
    let mut windows = None;
    let mut typed = None;
    let touched = |window: &WindowView| Touched::of(desktop, window);
    for part in step.parts() {
        let is_first = found.parts.is_empty();
        found.parts.push(Targets::default());
        let Some(targets) = found.parts.last_mut().filter(|_| part.is_looked_up()) else { continue };
        let (tool, reach) = (part.name(), part.plan().reach());
        if part.risk() == Risk::Consequential {
            targets.needs.push(Need::Untold("what asks each time by itself"));
        }
        match reach {
            Reach::Nowhere => {
                targets.needs.push(contract::of_nothing(&part.spec().group));
                targets.touches.push(Grant { tool: tool.to_owned(), app: None });
                continue;
            }
            Reach::Address(url) => {
                targets.needs.extend(contract::of_address(url));
                targets.send(tool, url, grants);
                continue;
            }
            Reach::Page { reference, sends } => {
                if reference.is_none() {
                    targets.needs.push(Need::Untold("a page's dialog"));
                }
                let looked = tokio::time::timeout(PATIENCE, browser.target(reference.clone())).await;
                targets.add_page(part, *sends, looked.ok().and_then(Result::ok), grants);
                continue;
            }
            Reach::Files { paths, does } => {
                beyond::add_files(targets, part, paths, *does, (grants, ports)).await;
                // What a later part of a batch meets, those before it may make.
                if is_first {
                    targets.refusal = beyond::refusal(part, ports).await;
                }
                continue;
            }
            Reach::Command(ordered) => {
                beyond::add_command(targets, part, ordered, grants, ports);
                continue;
            }
            Reach::Calendar { entry, deletes } => {
                beyond::add_calendar(targets, part, entry, *deletes, ports).await;
                continue;
            }
            Reach::Server { name, leaves } => {
                beyond::add_server(targets, part, name, *leaves);
                continue;
            }
            Reach::Search { words } => {
                beyond::add_search(targets, part, words, grants, ports);
                continue;
            }
            _ => {}
        }
        let windows = match &mut windows {
            Some(windows) => &*windows,
            none => {
                let looked = tokio::time::timeout(PATIENCE, desktop.windows()).await;
                &*none.insert(looked.ok().and_then(Result::ok).unwrap_or_default())
            }
        };
        // The password field that it would write into.
        let mut hides = None;
        match reach {
            Reach::Nowhere | Reach::Address(_) | Reach::Page { .. } => {}
            Reach::Files { .. } | Reach::Command(_) | Reach::Calendar { .. } | Reach::Search { .. } => {}
            Reach::Server { .. } => {}
            Reach::Focus { enters } => {
                let taker = taker(desktop, windows, None).await.map(touched);
                if taker.is_none() && *enters && is_unlisted(desktop).await {
                    let untold = "a window that no list names";
                    let why = format!("Enter goes to {untold}, as launchers are, which start what is typed");
                    targets.weigh(why, vec![Need::Untold(untold)]);
                }
                let class = taker.as_ref().and_then(|taker| taker.class);
                let keyboard = keyboard(desktop, windows, part, class).await;
                let role = keyboard.as_ref().and_then(|keyboard| keyboard.role.as_deref());
                targets.add(part, taker.map(|one| one.in_role(role)));
                if let Some(Keyboard { field, control, writes, goes_on, role: _ }) = keyboard {
                    if goes_on {
                        let why = "a Tab in the text goes on to another control, which the rest may press";
                        targets
                            .weigh(why.into(), vec![Need::Untold("a text that goes on in another control")]);
                    }
                    if writes && field.as_ref().is_some_and(|field| field.hides) {
                        hides = Some("the field with the keyboard".to_owned());
                    }
                    targets.read(control.as_slice());
                }
            }
            Reach::Points { display, points } => {
                for point in points {
                    let at = Some((*display, *point));
                    targets.add(part, taker(desktop, windows, at).await.map(touched));
                }
                targets.drops(part.plan().act(), desktop.is_holding());
            }
            Reach::Window(id) => {
                let window = windows.iter().find(|window| window.id.0 == *id);
                targets.add(part, window.map(touched));
            }
            Reach::App(app) => targets.add(part, in_app(desktop, windows, app.as_deref())),
            Reach::Menu { path, .. } => {
                let touched = owned(desktop, windows, reach).await;
                targets.add(part, touched.map(|one| one.with_control(path.last().map(String::as_str))));
            }
            Reach::Element(Target::Selector(selector)) => {
                let touched = owned(desktop, windows, reach).await;
                // A part of a name is enough.
                let meant = links::meant(desktop, selector).await;
                let shows = meant.iter().map(|one| one.role.as_str()).find(|role| *role == TERMINAL);
                let touched = touched.map(|one| one.in_role(shows));
                targets.add(part, touched.map(|one| one.with_control(selector.name.as_deref())));
                // What a later part of a batch means, those before it may bring: it is looked for again when it comes.
                if meant.is_empty() && is_first && part.risk() >= Risk::Edit {
                    let why = "which element is meant cannot be told now".into();
                    targets.weigh(why, vec![Need::Untold("an element that cannot be told")]);
                }
                targets.read(&meant.iter().map(goes_to::said).collect::<Vec<_>>());
                let is_hidden = |one: &&Element| one.role == PASSWORD;
                hides = meant.iter().find(is_hidden).map(|one| gravity::titled(&one.name));
            }
            Reach::Element(Target::Ref(reference)) => {
                let listed = tokio::time::timeout(PATIENCE, desktop.listed(reference.clone())).await;
                let listed = listed.ok().flatten();
                let touched = match owned(desktop, windows, reach).await {
                    None => listed.as_ref().map(|listed| named(desktop, windows, &listed.app)),
                    touched => touched.filter(|_| listed.is_some()),
                };
                let is_hidden = |listed: &&ListedElement| listed.role == PASSWORD;
                hides = listed.as_ref().filter(is_hidden).map(|listed| gravity::titled(&listed.name));
                let touched =
                    touched.map(|one| one.in_role(listed.as_ref().map(|listed| listed.role.as_str())));
                let is_blank = |listed: &ListedElement| {
                    listed.name.trim().is_empty() && goes_to::is_pressed(&listed.role)
                };
                let is_blank = listed.as_ref().is_some_and(is_blank);
                let name = listed.map(|listed| listed.name);
                targets.add(part, touched.map(|one| one.with_control(name.as_deref())));
                if is_blank && part.risk() >= Risk::Edit {
                    targets.read(&[String::new()]);
                }
            }
        }
        let text = part.plan().text();
        let tells = if reach.takes_keys() {
            text.is_none_or(secrets::tells)
        } else {
            text.is_some_and(secrets::tells)
        };
        if let Some(field) = hides.filter(|_| tells) {
            targets.expose(&field, part, grants);
        }
        let is_browser = match targets.class() {
            Some(class) => class == Class::Browser,
            // A program that nobody has listed may show pages, too.
            None => grants.has_read() && shows_pages(desktop, reach).await,
        };
        if !is_browser {
            // Other programs hand their links to the browser, and one in no list may have an address field.
            if grants.has_read() {
                for url in links::told(desktop, windows, reach).await {
                    targets.lead(&url, grants);
                }
                if targets.class().is_none() {
                    targets.goes_to_typed(part, desktop, grants).await;
                }
            }
            continue;
        }
        if part.plan().act().is_some_and(is_middle_click) {
            let why = "a click with the middle button brings what is selected into a page, or goes there";
            targets.weigh(why.into(), vec![Need::Untold("which page gets what is selected")]);
        }
        let Led { to, sent } = links::lead_to(desktop, browser, windows, reach).await;
        for url in to {
            targets.lead(&url, grants);
        }
        let by_keys = matches!(reach, Reach::Focus { .. });
        if by_keys && typed.is_none() && (part.goes_out() || brings(part)) {
            let looked = tokio::time::timeout(PATIENCE, desktop.field()).await;
            typed = Some(Typed { before: looked.ok().flatten(), text: String::new() });
        }
        let page = typed.as_ref().filter(|_| by_keys).and_then(Typed::page);
        if reach.enters() && page.is_some_and(|page| !sent.iter().any(|one| is_of(one, page))) {
            let why = "Enter in a field of a page may send what is in it, and where to cannot be told".into();
            targets.weigh(why, vec![Need::Effect(EffectClass::Submit)]);
        }
        for target in sent {
            targets.submit(&target);
        }
        if part.goes_out() || brings(part) {
            match typed.as_mut().filter(|_| by_keys) {
                Some(typed) => targets.writes(part, Written::ByKeys(typed), grants),
                None if text.is_some() => {
                    let inside = links::inside(desktop, reach).await;
                    targets.writes(part, Written::InElements(inside), grants);
                }
                None => {}
            }
        }
    }
    for (part, targets) in step.parts().zip(&mut found.parts) {
        targets.is_ungranted = part.risk() >= Risk::Edit && targets.touches.is_empty();
    }
    found.open = windows.into_iter().flatten().map(|window| window.id.0).collect();
    found
}

/// Whether what an act goes to is a page's.
async fn shows_pages(desktop: &dyn Desktop, reach: &Reach) -> bool {
    // An application made of pages of its own goes nowhere.
    let is_page = |inside: &Inside| matches!(inside, Inside::Page(url) if hosts::of(url).is_some());
    match reach {
        Reach::Focus { .. } => {
            let field = tokio::time::timeout(PATIENCE, desktop.field()).await.ok().flatten();
            field.is_some_and(|field| is_page(&field.inside))
        }
        Reach::Element(_) => links::inside(desktop, reach).await.iter().any(is_page),
        _ => false,
    }
}

/// Where a text would be written now.
pub(crate) async fn landing(desktop: &dyn Desktop, browser: &dyn Browser, reach: &Reach) -> Landing {
    let landing = match reach {
        Reach::Element(Target::Ref(reference)) => {
            let listed = tokio::time::timeout(PATIENCE, desktop.listed(reference.clone())).await;
            let owner = tokio::time::timeout(PATIENCE, desktop.owner(Target::Ref(reference.clone()))).await;
            let program = owner.ok().flatten().and_then(|owner| desktop.program(owner.pid));
            listed.ok().flatten().map(|listed| Landing::in_app(listed, program))
        }
        Reach::Page { reference, .. } => {
            let looked = tokio::time::timeout(PATIENCE, browser.target(reference.clone())).await;
            looked.ok().and_then(Result::ok).map(Landing::in_page)
        }
        _ => None,
    };
    landing.unwrap_or(Landing::Open)
}
