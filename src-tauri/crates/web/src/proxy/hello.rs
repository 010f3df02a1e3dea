//! Which server a TLS connection is for, as its first message says (RFC 8446, 4.1.2; RFC 6066, 3). Strict: what can be read in
//! two ways is no such message.

/// A record's own five bytes, and the most that it holds.
const HEADER: usize = 5;
const MOST: usize = 1 << 14;
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
/// Which server is meant is hidden in it (RFC 9849).
const ENCRYPTED_HELLO: u16 = 0xfe0d;

/// The name of the server, in lower case; `None` if there is not all of the message yet.
///
/// # Errors
/// What it is instead.
pub(super) fn server_name(bytes: &[u8]) -> Result<Option<String>, &'static str> {
    match bytes.first() {
        Some(&HANDSHAKE) => {}
        Some(_) => return Err("what goes through is no TLS"),
        None => return Ok(None),
    }
    let Some(length) = bytes.get(3..HEADER) else { return Ok(None) };
    let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
    if bytes[1] != 3 || !(1..=MOST).contains(&length) {
        return Err("what goes through is no TLS");
    }
    let Some(record) = bytes.get(HEADER..HEADER + length) else { return Ok(None) };
    name_in(record).map(Some).ok_or("its TLS does not say plainly which server it is for")
}

fn name_in(record: &[u8]) -> Option<String> {
    let mut rest = Bytes(record);
    if rest.number::<1>()? != u32::from(CLIENT_HELLO) {
        return None;
    }
    // All of it in one record, and nothing else.
    let mut hello = rest.last_block::<3>()?;
    hello.take(2 + 32)?; // version, random
    hello.block::<1>()?; // session
    hello.block::<2>()?; // ciphers
    hello.block::<1>()?; // compression
    let mut extensions = hello.last_block::<2>()?;
    let mut name = None;
    while !extensions.0.is_empty() {
        let (kind, content) = (extensions.number::<2>()?, extensions.block::<2>()?);
        if kind == u32::from(ENCRYPTED_HELLO) || (kind == u32::from(SERVER_NAME) && name.is_some()) {
            return None;
        }
        if kind == u32::from(SERVER_NAME) {
            let mut names = { content }.last_block::<2>()?;
            // One, and a host's.
            if names.number::<1>()? != 0 {
                return None;
            }
            let host = std::str::from_utf8(names.last_block::<2>()?.0).ok()?;
            name = Some(host.to_ascii_lowercase()).filter(|name| !name.is_empty() && name.is_ascii());
            name.as_ref()?;
        }
    }
    name
}

/// What is left to read.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number<const N: usize>(&mut self) -> Option<u32> {
        Some(self.take(N)?.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    /// What follows its length of `N` bytes.
    fn block<const N: usize>(&mut self) -> Option<Self> {
        let length = self.number::<N>()?;
        self.take(usize::try_from(length).ok()?).map(Self)
    }

    /// The same, with nothing after it.
    fn last_block<const N: usize>(mut self) -> Option<Self> {
        self.block::<N>().filter(|_| self.0.is_empty())
    }
}

#[cfg(test)]
pub(super) mod tests;
