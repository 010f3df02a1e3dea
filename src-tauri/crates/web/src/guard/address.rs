//! Which addresses are public. Pure but for [`is_own`]. Written as what is allowed for IPv6 (one block is public), and as
//! what is not for IPv4 (IANA's registry of special addresses, RFC 6890 and its updates).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Why an address is not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("it is this machine")]
    Loopback,
    #[error("it is one of this machine's own addresses")]
    OwnAddress,
    #[error("it is an address of a private network")]
    Private,
    #[error("it is an address of the local link, where clouds keep their keys")]
    LinkLocal,
    #[error("it is an address of a cloud's machinery")]
    Cloud,
    #[error("it is an address of many machines")]
    Multicast,
    #[error("it is no address of a public server")]
    Reserved,
}

/// IPv4 blocks that are not public: the block, how many bits count, and why.
const V4: [(Ipv4Addr, u32, Refusal); 20] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, Refusal::Loopback), // "this host"; connecting to 0.0.0.0 reaches loopback
    (Ipv4Addr::new(10, 0, 0, 0), 8, Refusal::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Refusal::Private), // carrier-grade NAT, Tailscale, Alibaba's metadata
    (Ipv4Addr::new(127, 0, 0, 0), 8, Refusal::Loopback),
    (Ipv4Addr::new(168, 63, 129, 16), 32, Refusal::Cloud), // Azure's wire server, in a public block
    (Ipv4Addr::new(169, 254, 0, 0), 16, Refusal::LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Refusal::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Refusal::Reserved), // IETF's assignments; Oracle's metadata
    (Ipv4Addr::new(192, 0, 2, 0), 24, Refusal::Reserved), // documentation
    (Ipv4Addr::new(192, 31, 196, 0), 24, Refusal::Reserved), // AS112
    (Ipv4Addr::new(192, 52, 193, 0), 24, Refusal::Reserved), // AMT
    (Ipv4Addr::new(192, 88, 99, 0), 24, Refusal::Reserved), // 6to4 relays
    (Ipv4Addr::new(192, 168, 0, 0), 16, Refusal::Private),
    (Ipv4Addr::new(192, 175, 48, 0), 24, Refusal::Reserved), // AS112
    (Ipv4Addr::new(198, 18, 0, 0), 15, Refusal::Private),    // benchmarks; used inside networks
    (Ipv4Addr::new(198, 51, 100, 0), 24, Refusal::Reserved), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24, Refusal::Reserved),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4, Refusal::Multicast),
    (Ipv4Addr::new(255, 255, 255, 255), 32, Refusal::Multicast), // broadcast, before the block around it
    (Ipv4Addr::new(240, 0, 0, 0), 4, Refusal::Reserved),
];

/// Passes public addresses only.
pub(super) fn check(address: IpAddr) -> Result<(), Refusal> {
    match address {
        IpAddr::V4(address) => check_v4(address),
        IpAddr::V6(address) => check_v6(address),
    }
}

fn check_v4(address: Ipv4Addr) -> Result<(), Refusal> {
    let bits = address.to_bits();
    V4.iter()
        .find(|(block, length, _)| (bits ^ block.to_bits()) >> (32 - length) == 0)
        .map_or(Ok(()), |&(_, _, why)| Err(why))
}

fn check_v6(address: Ipv6Addr) -> Result<(), Refusal> {
    let parts = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    let last = v4(parts[6], parts[7]);
    match parts {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Err(Refusal::Loopback),
        // An IPv4 address in IPv6's clothes is judged as what is connected to: mapped, and behind NAT64.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => check_v4(last),
        // 6to4 carries it in the prefix.
        [0x2002, high, low, ..] => check_v4(v4(high, low)),
        // ISATAP carries it in the interface's half, under any prefix.
        [_, _, _, _, 0 | 0x200, 0x5efe, ..] => check_v4(last).and(Err(Refusal::Reserved)),
        // IETF's assignments: Teredo (tunnels), benchmarks, ORCHID. Documentation.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Err(Refusal::Reserved),
        [0x2000..=0x3fff, ..] => Ok(()),
        [0xfe80..=0xfebf, ..] => Err(Refusal::LinkLocal),
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => Err(Refusal::Private),
        [0xff00..=0xffff, ..] => Err(Refusal::Multicast),
        _ => Err(Refusal::Reserved),
    }
}

/// Loopback as it is usually written, which a test's server has.
pub(super) fn is_plain_loopback(address: IpAddr) -> bool {
    address.is_loopback()
}

/// True if a public address is this machine's: a socket that looks there would send from that very address. Sends
/// nothing.
pub(super) fn is_own(address: IpAddr) -> bool {
    let any: IpAddr =
        if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let from = || {
        let socket = UdpSocket::bind((any, 0)).ok()?;
        socket.connect((address, 9)).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    from().is_some_and(|from| from.to_canonical() == address.to_canonical())
}
