//! Safe paths of archive members, which the client and the service share: which names are refused, and why. A member
//! that names a path outside the folder, such as `../a`, is never written.

use std::path::PathBuf;

use crate::file_kind::{HIDDEN, is_system_entry};

/// The longest name that the usual file systems have.
pub const MAX_NAME_BYTES: usize = 255;
pub const MAX_PATH_BYTES: usize = 1_024;
pub const MAX_DEPTH: usize = 32;
const NOT_RELATIVE: &str = "its name is not a plain relative path";

/// Names that some systems reserve for devices, whatever the extension is.
const RESERVED_NAMES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Returns the path of an archive member if it is safe on every system: relative, inside the folder, and made of plain
/// names. The path is empty for the folder itself. The error is the reason for skipping the member.
pub fn safe_relative_path(name: &str) -> Result<PathBuf, &'static str> {
    let path = local_relative_path(name)?;
    let parts = || path.iter().filter_map(|part| part.to_str());
    // A drive, or a stream of a file.
    if name.contains(':') {
        return Err(NOT_RELATIVE);
    }
    if parts().any(|part| part.ends_with(['.', ' '])) {
        return Err("its name ends in a dot or a space");
    }
    if parts().any(is_reserved) {
        return Err("its name is reserved by some systems");
    }
    Ok(path)
}

/// Returns the name of a file with as few changes as [`safe_relative_path`] and file systems need. The name is not
/// shortened.
pub fn safe_file_name(name: &str) -> String {
    let is_refused = |c: char| c.is_control() || r#"/\<>:"|?*"#.contains(c);
    let name: String = name.chars().map(|c| if is_refused(c) { '_' } else { c }).collect();
    let name = name.trim_end_matches(['.', ' ']);
    let is_safe = safe_relative_path(name).is_ok_and(|path| path.as_os_str() == name);
    if is_safe && !name.is_empty() { name.to_owned() } else { format!("_{name}") }
}

/// Returns the path of an archive member like [`safe_relative_path`], if it is safe on this system.
pub fn local_relative_path(name: &str) -> Result<PathBuf, &'static str> {
    if name.chars().any(char::is_control) {
        return Err("its name contains control characters");
    }
    if name.starts_with('/') || name.contains('\\') {
        return Err(NOT_RELATIVE);
    }
    let mut path = PathBuf::new();
    for part in name.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            return Err("its name points outside the folder");
        }
        if part.starts_with('.') || is_system_entry(part) {
            return Err(HIDDEN);
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
