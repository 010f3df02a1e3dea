//! Linux: the part of `/etc` that commands see, copied once when the sandbox is probed.
//!
//! A copy, since each file bound by itself costs the start of every command most of a millisecond. Only what everybody
//! may read, also where we are root: no password, key or machine id.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use tempfile::TempDir;

/// What programs need to start, to name users, to trust servers and to show text.
const NAMES: &[&str] = &[
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "debian_version",
    "fonts",
    "group",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "perl",
    "pki/tls/certs",
    "pki/ca-trust/extracted",
    "profile",
    "protocols",
    "python3",
    "services",
    "shells",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
];
const BYTES: u64 = 16 << 20;

pub(super) fn copy() -> io::Result<TempDir> {
    let copy = tempfile::tempdir()?;
    let mut left = BYTES;
    for name in NAMES {
        let to = copy.path().join(name);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        // What is missing or cannot be read is missing inside, too.
        let _ = one(&Path::new("/etc").join(name), &to, &mut left);
    }
    Ok(copy)
}

fn one(from: &Path, to: &Path, left: &mut u64) -> io::Result<()> {
    let about = from.symlink_metadata()?;
    if about.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if about.mode() & 0o004 == 0 {
        return Ok(());
    }
    if about.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)?.flatten() {
            let _ = one(&entry.path(), &to.join(entry.file_name()), left);
        }
    } else if about.is_file() && about.len() <= *left {
        *left -= about.len();
        fs::copy(from, to)?;
    }
    Ok(())
}
