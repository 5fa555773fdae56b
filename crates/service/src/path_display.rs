//! Paths in messages.

use std::path::Path;

use tessera_model::SafeText;

/// A path with control characters made visible.
pub(crate) fn printable_path(path: &Path) -> SafeText {
    SafeText::file_name(&path.to_string_lossy())
}
