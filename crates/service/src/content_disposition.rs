//! The header that gives a file a name for saving.

use std::fmt::Write as _;

/// Returns the header for a file name. Every byte that could end or split the header is encoded.
pub(crate) fn content_disposition(kind: &str, name: &str) -> String {
    let mut encoded = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    format!("{kind}; filename*=UTF-8''{encoded}")
}
