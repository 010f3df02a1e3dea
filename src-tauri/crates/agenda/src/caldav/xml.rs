//! What is asked of a server and what it answers, as XML.

use reqwest::Url;
use roxmltree::{Document, Node, ParsingOptions};

use crate::objects::Object;
use crate::{Calendar, CalendarId, Error, Holds};

const DAV: &str = "DAV:";
const CALDAV: &str = "urn:ietf:params:xml:ns:caldav";
const APPLE: &str = "http://apple.com/ns/ical/";
/// The most elements of one answer.
const MAX_NODES: u32 = 2_000_000;

pub(super) const PRINCIPAL: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<propfind xmlns="DAV:"><prop><current-user-principal/></prop></propfind>"#;

pub(super) const HOMES: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<propfind xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><C:calendar-home-set/></prop></propfind>"#;

pub(super) const CALENDARS: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<propfind xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:A="http://apple.com/ns/ical/"><prop>
<resourcetype/><displayname/><current-user-privilege-set/><C:supported-calendar-component-set/><A:calendar-color/>
</prop></propfind>"#;

/// The objects with a component; with something in the range where there is one.
pub(super) fn query(component: &str, range: Option<(&str, &str)>) -> String {
    let inner =
        range.map_or_else(String::new, |(from, to)| format!(r#"<C:time-range start="{from}" end="{to}"/>"#));
    format!(
        r#"<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">
<prop><getetag/><C:calendar-data/></prop>
<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="{component}">{inner}</C:comp-filter></C:comp-filter></C:filter>
</C:calendar-query>"#
    )
}

/// A property that names addresses.
#[derive(Clone, Copy)]
pub(super) enum Named {
    Principal,
    Home,
}
pub(super) use Named::{Home, Principal};

pub(super) fn hrefs(text: &str, base: &Url, named: Named) -> Result<Vec<Url>, Error> {
    let (space, name) = match named {
        Named::Principal => (DAV, "current-user-principal"),
        Named::Home => (CALDAV, "calendar-home-set"),
    };
    let document = parse(text)?;
    let props = responses(&document).flat_map(|response| found(response, space, name));
    let hrefs = props.flat_map(|prop| prop.children()).filter(|node| node.has_tag_name((DAV, "href")));
    Ok(hrefs.filter_map(|href| base.join(href.text()?.trim()).ok()).collect())
}

pub(super) fn calendars(text: &str, base: &Url) -> Result<Vec<Calendar>, Error> {
    let document = parse(text)?;
    Ok(responses(&document).filter_map(|response| calendar(response, base)).collect())
}

fn calendar(response: Node<'_, '_>, base: &Url) -> Option<Calendar> {
    let prop = |space, name| found(response, space, name).next();
    let has = |prop: Option<Node<'_, '_>>, space, name| {
        prop.is_some_and(|prop| prop.descendants().any(|node| node.has_tag_name((space, name))))
    };
    if !has(prop(DAV, "resourcetype"), CALDAV, "calendar") {
        return None;
    }
    let id = path(response, base)?;
    let holds = match prop(CALDAV, "supported-calendar-component-set") {
        None => Holds::Both,
        Some(set) => {
            let holds = |name| {
                set.children()
                    .any(|comp| comp.attribute("name").is_some_and(|n| n.eq_ignore_ascii_case(name)))
            };
            match (holds("VEVENT"), holds("VTODO")) {
                (true, true) => Holds::Both,
                (true, false) => Holds::Events,
                (false, true) => Holds::Reminders,
                (false, false) => return None,
            }
        }
    };
    let rights = prop(DAV, "current-user-privilege-set");
    let may_write = |name| has(rights, DAV, name);
    let read_only = rights.is_some() && !["all", "write", "write-content", "bind"].into_iter().any(may_write);
    let name =
        prop(DAV, "displayname").and_then(|name| name.text()).map(str::trim).filter(|name| !name.is_empty());
    let last = || id.trim_end_matches('/').rsplit('/').next().unwrap_or(&id).to_owned();
    let colour =
        prop(APPLE, "calendar-color").and_then(|colour| colour.text()).map(str::trim).and_then(|colour| {
            let short = colour.get(..7)?;
            let hex = short.strip_prefix('#')?.bytes().all(|byte| byte.is_ascii_hexdigit());
            hex.then(|| short.to_ascii_lowercase())
        });
    let name = name.map_or_else(last, str::to_owned);
    Some(Calendar { id: CalendarId(id), name, colour, holds, read_only })
}

pub(super) fn objects(text: &str, base: &Url) -> Result<Vec<Object>, Error> {
    let document = parse(text)?;
    let object = |response| {
        let text = |space, name| found(response, space, name).next().and_then(|prop| prop.text());
        let id = path(response, base)?;
        let version = text(DAV, "getetag")?.trim().to_owned();
        Some(Object { id, version, text: text(CALDAV, "calendar-data")?.trim_start().to_owned() })
    };
    Ok(responses(&document).filter_map(object).collect())
}

fn parse(text: &str) -> Result<Document<'_>, Error> {
    // No DTD: nothing can be expanded or fetched.
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options);
    let bad = |why: String| Error::Unreadable { what: "the calendar server's answer".into(), why };
    let document = document.map_err(|error| bad(error.to_string()))?;
    if !document.root_element().has_tag_name((DAV, "multistatus")) {
        return Err(bad("it is no CalDAV answer".into()));
    }
    Ok(document)
}

fn responses<'a, 'input>(document: &'a Document<'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    document.root_element().children().filter(|node| node.has_tag_name((DAV, "response")))
}

/// The properties of a name that a response says are there.
fn found<'a, 'input: 'a>(
    response: Node<'a, 'input>,
    space: &'static str,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    let is_ok = |stat: &Node<'a, 'input>| {
        let status =
            stat.children().find(|node| node.has_tag_name((DAV, "status"))).and_then(|node| node.text());
        status.is_none_or(|status| status.split_whitespace().nth(1) == Some("200"))
    };
    response
        .children()
        .filter(|node| node.has_tag_name((DAV, "propstat")))
        .filter(is_ok)
        .flat_map(|stat| stat.children())
        .filter(|node| node.has_tag_name((DAV, "prop")))
        .flat_map(|prop| prop.children())
        .filter(move |node| node.has_tag_name((space, name)))
}

/// The path that a response is about.
fn path(response: Node<'_, '_>, base: &Url) -> Option<String> {
    let href = response.children().find(|node| node.has_tag_name((DAV, "href")))?.text()?;
    base.join(href.trim()).ok().map(|url| url.path().to_owned())
}
