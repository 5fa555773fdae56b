//! Members of archives: the path that one asks for, refused when it leads out of the folder, hides
//! something, or means something else on another system.

use std::path::PathBuf;

/// Longest name of one file or directory, in bytes; leaves room for a number and a suffix.
pub const MAX_NAME_BYTES: usize = 200;
/// Longest path, in bytes.
pub const MAX_PATH_BYTES: usize = 1_024;
/// Most directories a file may lie below.
pub const MAX_DEPTH: usize = 32;
/// Names that are devices on some systems, whatever their extension.
const RESERVED_NAMES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The path that a member of an archive asks for, when it is safe anywhere: relative, below the
/// folder, every name plain. Empty for the folder itself.
///
/// # Errors
/// Why the member is passed over.
pub fn safe_relative_path(name: &str) -> Result<PathBuf, &'static str> {
    if name.chars().any(char::is_control) {
        return Err("its name holds control characters");
    }
    if name.starts_with('/') || name.contains('\\') || name.contains(':') {
        return Err("its name is no plain relative path");
    }
    let mut path = PathBuf::new();
    for part in name.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            return Err("its name leads out of the folder");
        }
        if part.starts_with('.') || part == "__MACOSX" {
            return Err("hidden");
        }
        if part.ends_with(['.', ' ']) {
            return Err("its name ends in a dot or a space");
        }
        if is_reserved(part) {
            return Err("its name is reserved by some systems");
        }
        if part.len() > MAX_NAME_BYTES {
            return Err("its name is too long");
        }
        path.push(part);
    }
    if path.as_os_str().len() > MAX_PATH_BYTES || path.components().count() > MAX_DEPTH + 1 {
        return Err("it lies too deep");
    }
    Ok(path)
}

/// Whether some systems take a name for a device.
#[must_use]
pub fn is_reserved(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end().to_ascii_lowercase();
    let numbered_port = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
    RESERVED_NAMES.contains(&stem.as_str())
        || numbered_port.is_some_and(|n| n.len() == 1 && n.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_or_hide_something_are_refused() {
        let wrong = [
            "../a.png",
            "a/../../b.png",
            "/etc/passwd",
            "C:\\win\\x.png",
            "c:x.png",
            "a\\b.png",
            "a\0.png",
            "a\u{1b}[2J.png",
            ".git/config",
            "a/.hidden.png",
            "__MACOSX/a.png",
            "sub/NUL",
            "com1.png",
            "a.png.",
            "sub /a.png",
        ];
        for name in wrong {
            assert!(safe_relative_path(name).is_err(), "{name:?}");
        }
        assert!(safe_relative_path(&format!("{}a.png", "d/".repeat(40))).is_err());
        assert!(safe_relative_path(&format!("{}.png", "n".repeat(300))).is_err());
    }

    #[test]
    fn plain_names_stay_as_they_are() {
        let right = [
            ("a.png", "a.png"),
            ("cats/été 1.jpg", "cats/été 1.jpg"),
            ("./a//b.png", "a/b.png"),
            ("common.png", "common.png"),
            ("a...b.png", "a...b.png"),
            ("./", ""),
        ];
        for (name, path) in right {
            assert_eq!(safe_relative_path(name), Ok(PathBuf::from(path)), "{name}");
        }
    }
}
