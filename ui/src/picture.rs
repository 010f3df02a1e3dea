//! Where a window loads a stored picture from. Pure.

use protocol::ids::BlobRef;
use protocol::view::Platform;

/// `None` if the name is not a blob's.
pub fn picture_url(sha256: &str, platform: Platform) -> Option<String> {
    let origin = match platform {
        Platform::Windows => "http://picture.localhost",
        Platform::Macos | Platform::Linux => "picture://localhost",
    };
    BlobRef::is_name(sha256).then(|| format!("{origin}/{sha256}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_blobs_name_becomes_a_pictures_address() {
        let name = "ab".repeat(32);
        assert_eq!(picture_url(&name, Platform::Linux), Some(format!("picture://localhost/{name}")));
        assert_eq!(picture_url(&name, Platform::Windows), Some(format!("http://picture.localhost/{name}")));
        assert_eq!(picture_url("../settings.json", Platform::Linux), None);
    }
}
