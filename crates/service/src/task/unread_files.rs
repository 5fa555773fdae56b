//! Says what an addition could not read, so that an addition of nothing, or of a part, does not pass for a success.

use std::path::PathBuf;

use tessera_media::ingest::{EXCLUDED, file_names::printable_path};
use tessera_model::{FileKind, local_files::HIDDEN, text::count_with_noun};
use tessera_store::{Connection, Result, indexed_files};

/// The number of files that are named.
const NAMED: usize = 3;

/// Returns a sentence about the files of an added source that did not become media. Returns `None` if all files that
/// should have become media did.
pub(super) fn unread_files(connection: &Connection, source: i64) -> Result<Option<String>> {
    let is_empty = indexed_files::count_media_files(connection, source)? == 0;
    let mut files = indexed_files::skipped_in_source(connection, source)?;
    files.retain(|(_, reason)| ![HIDDEN, EXCLUDED].contains(&reason.as_str()));
    if is_empty {
        let empty = || "it contains no pictures or videos".to_owned();
        let why = if files.is_empty() { empty() } else { named(&files) };
        return Ok(Some(format!("nothing was added: {why}")));
    }
    files.retain(|(path, _)| {
        let kind = FileKind::from_name(&path.to_string_lossy());
        kind.is_media() || kind == FileKind::Archive
    });
    let count = count_with_noun(files.len(), "file was", "files were");
    Ok((!files.is_empty()).then(|| format!("{count} not added: {}", named(&files))))
}

/// Names the first files with their reasons.
fn named(files: &[(PathBuf, String)]) -> String {
    let first = files.iter().take(NAMED);
    let first: Vec<String> =
        first.map(|(path, reason)| format!("{} ({reason})", printable_path(path))).collect();
    let more = files.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("{}{more}", first.join(", "))
}
