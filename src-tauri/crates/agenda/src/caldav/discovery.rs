//! From an address to where someone's calendars are: the principal, then its homes.

use reqwest::{StatusCode, Url};

use super::connection::{Connection, Request};
use super::xml;
use crate::Error;

/// Where calendars are, all of them on addresses that the password may go to.
#[derive(Debug)]
pub(super) struct Homes(pub Vec<Url>);

impl Homes {
    /// The address of a path within a home.
    pub(super) fn url(&self, path: &str) -> Option<Url> {
        if !super::is_path(path) {
            return None;
        }
        let within = |home: &&Url| path.starts_with(home.path());
        self.0.iter().find(within).and_then(|home| home.join(path).ok())
    }
}

pub(super) async fn homes(connection: &Connection) -> Result<Homes, Error> {
    let principal = principal(connection).await?;
    let answer = connection.read(Request::propfind(principal, "0", xml::HOMES)).await?;
    let mut homes = Vec::new();
    for home in xml::hrefs(&answer.text, &answer.url, xml::Home)? {
        connection.check(&home)?;
        homes.push(as_folder(home));
    }
    if homes.is_empty() {
        return Err(no_calendars(connection, "the account has no calendars"));
    }
    Ok(Homes(homes))
}

/// The one who signs in: as the given address says, else as the server's well-known one does.
async fn principal(connection: &Connection) -> Result<Url, Error> {
    let base = connection.base();
    let known = base.join("/.well-known/caldav").ok();
    let all = if base.path() == "/" { [known, Some(base.clone())] } else { [Some(base.clone()), known] };
    for url in all.into_iter().flatten() {
        match connection.read(Request::propfind(url, "0", xml::PRINCIPAL)).await {
            Ok(answer) => {
                // A page for people is no answer.
                let found = xml::hrefs(&answer.text, &answer.url, xml::Principal).unwrap_or_default();
                if let Some(principal) = found.into_iter().next() {
                    connection.check(&principal)?;
                    return Ok(principal);
                }
            }
            Err(Error::NotFound { .. } | Error::Denied { .. }) => {}
            Err(Error::Refused { status, .. })
                if status < StatusCode::INTERNAL_SERVER_ERROR.as_u16() || status == 501 => {}
            Err(error) => return Err(error),
        }
    }
    Err(no_calendars(connection, "there is no CalDAV server at this address"))
}

fn no_calendars(connection: &Connection, why: &str) -> Error {
    Error::Address {
        address: protocol::address::shown(connection.base().as_str()),
        why: why.into(),
        hint: "give the address that the server's help names for CalDAV".into(),
    }
}

fn as_folder(mut url: Url) -> Url {
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    url
}
