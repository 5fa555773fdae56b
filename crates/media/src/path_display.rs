//! Paths in messages.

use std::path::Path;

use tessera_model::SafeText;

pub fn printable_path(path: &Path) -> SafeText {
    SafeText::file_name(&path.to_string_lossy())
}
