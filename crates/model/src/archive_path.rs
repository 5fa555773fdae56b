//! Validates the paths of archive members, so that extraction stays inside its folder on any system.

use std::path::PathBuf;

/// Leaves room for a number and a suffix.
pub const MAX_NAME_BYTES: usize = 200;
pub const MAX_PATH_BYTES: usize = 1_024;
pub const MAX_DEPTH: usize = 32;
/// Device names on some systems, with any extension.
const RESERVED_NAMES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The path of an archive member if it is safe everywhere: relative, below the folder, plain names
/// only. Empty for the folder itself. The error is the reason for skipping the member.
pub fn safe_relative_path(name: &str) -> Result<PathBuf, &'static str> {
    if name.chars().any(char::is_control) {
        return Err("its name contains control characters");
    }
    if name.starts_with('/') || name.contains('\\') || name.contains(':') {
        return Err("its name is not a plain relative path");
    }
    let mut path = PathBuf::new();
    for part in name.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            return Err("its name points outside the folder");
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
        return Err("its path is too long or too deep");
    }
    Ok(path)
}

pub fn is_reserved(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end().to_ascii_lowercase();
    let numbered_port = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
    RESERVED_NAMES.contains(&stem.as_str())
        || numbered_port.is_some_and(|n| n.len() == 1 && n.chars().all(|c| c.is_ascii_digit()))
}
