//! Sanitizes the file names of uploads and of rows in Parquet files into safe relative paths, and turns paths into text
//! for messages.

use std::path::{Path, PathBuf};

use tessera_files::staging::{split_extension, with_suffix};
use tessera_model::{
    SafeText,
    archive_paths::{MAX_DEPTH, MAX_PATH_BYTES, is_reserved, safe_relative_path},
};
use uuid::Uuid;

/// Returns `name` as a safe relative path. A safe name is unchanged; any other name is sanitized and gets a hash of the
/// whole name as a suffix. Different names never map to the same path, and the mapping is stable.
pub fn sanitized_path(name: &str) -> PathBuf {
    if let Ok(path) = safe_relative_path(name)
        && path.to_str() == Some(name)
        && !name.is_empty()
    {
        return path;
    }
    let parts: Vec<String> = name.split(['/', '\\']).filter_map(sanitized_component).collect();
    let start = parts.len().saturating_sub(MAX_DEPTH / 2);
    let (last, folders) = parts[start..]
        .split_last()
        .map_or(("file", &[][..]), |(last, folders)| (last.as_str(), folders));
    let hash = Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes()).simple().to_string();
    let mut path: PathBuf = folders.iter().collect();
    if path.as_os_str().len() > MAX_PATH_BYTES / 2 {
        path = PathBuf::new();
    }
    path.push(with_suffix(last, &hash[..8]));
    path
}

/// Sanitizes one path component. Returns `None` if nothing is left.
fn sanitized_component(part: &str) -> Option<String> {
    let clean = part.trim_start_matches('.').chars();
    let clean = clean.map(|c| if c.is_control() || c == ':' { '_' } else { c });
    let clean: String = clean.collect();
    let clean = clean.trim_end_matches(['.', ' ']).to_owned();
    if clean.is_empty() || clean == "__MACOSX" {
        return None;
    }
    Some(if is_reserved(&clean) { format!("_{clean}") } else { truncated(&clean) })
}

/// The longest stem of a sanitized name, which leaves room for a number and a suffix.
const MAX_STEM_BYTES: usize = 100;

/// Truncates a name to the length limit, but keeps its extension.
fn truncated(name: &str) -> String {
    let (stem, extension) = split_extension(name);
    let extension = if extension.len() > 16 { "" } else { extension };
    let end = (0..=stem.len().min(MAX_STEM_BYTES)).rev().find(|&end| stem.is_char_boundary(end));
    format!("{}{extension}", &stem[..end.unwrap_or(0)])
}

/// Returns a path as text for a message.
pub fn printable_path(path: &Path) -> SafeText {
    SafeText::file_name(&path.to_string_lossy())
}
