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
pub fn is_reserved(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end().to_ascii_lowercase();
    let numbered_port = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
    RESERVED_NAMES.contains(&stem.as_str())
        || numbered_port.is_some_and(|n| n.len() == 1 && n.chars().all(|c| c.is_ascii_digit()))
}
