//! What can go wrong with a calendar, told apart by what can be done about it.

/// Why a calendar could not be read or changed. Each says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no calendar to work with.
    #[error("no calendar is set up: {why}")]
    Absent { why: String },
    #[error(
        "{host} does not take the user name and password; set them again (many servers want an app password)"
    )]
    SignIn { host: String },
    /// The system's or the server's "no".
    #[error("{what} is not permitted: {why}")]
    Denied { what: String, why: String },
    #[error("{calendar} can only be read; choose another calendar")]
    ReadOnly { calendar: String },
    #[error("{what} was not found; list again to see what is there")]
    NotFound { what: String },
    /// Someone else was faster (HTTP 412).
    #[error("{what} was changed by someone else meanwhile; look at it again, then decide anew")]
    Conflict { what: String },
    /// What was asked for cannot be: the caller's to mend.
    #[error("{field} cannot be used: {why}")]
    Invalid { field: &'static str, why: String },
    #[error(
        "the calendar server {host} cannot be reached: {why}; check the network and the address in the settings"
    )]
    Unreachable { host: String, why: String },
    #[error("the calendar server {host} did not answer in {seconds} s; try again later")]
    TimedOut { host: String, seconds: u64 },
    /// A change was sent and no answer came.
    #[error("whether {what} was changed is unknown: {why}; look before trying again")]
    UnknownOutcome { what: String, why: String },
    /// The password is not sent there.
    #[error("{from} leads to {to}, where the password is not sent; set that address if it is the right one")]
    Elsewhere { from: String, to: String },
    #[error("the address {address} cannot be used: {why}; {hint}")]
    Address { address: String, why: String, hint: String },
    #[error("the answer of {host} is larger than {megabytes} MB; ask for less")]
    TooLarge { host: String, megabytes: usize },
    /// A server that speaks another language, or breaks its own.
    #[error("{what} cannot be understood: {why}")]
    Unreadable { what: String, why: String },
    /// The server's error, with its words.
    #[error("the calendar server {host} refused {what} with status {status}: {why}")]
    Refused { host: String, what: String, status: u16, why: String },
}

impl Error {
    pub(crate) fn invalid(field: &'static str, why: impl Into<String>) -> Self {
        Self::Invalid { field, why: why.into() }
    }

    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::NotFound { what: what.into() }
    }
}
