//! How the rows of a Parquet file are named as files: by their number, and by the name that they have themselves.

use std::path::Path;

use crate::ingest::file_names::sanitized_path;

/// Names of columns with images.
const IMAGE_COLUMNS: [&str; 9] =
    ["image", "img", "picture", "photo", "jpg", "jpeg", "png", "webp", "image_bytes"];

pub(super) fn is_image_column(name: &str) -> bool {
    IMAGE_COLUMNS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether a file is a Parquet file, by its name.
pub fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// The name of a row, numbered from 1: `000012-cat.jpg`, or `000012.jpg` without a path.
pub(super) fn row_name(row: u64, path: Option<&[u8]>, extension: &str) -> String {
    let path = path.map(String::from_utf8_lossy).unwrap_or_default();
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    if name.is_empty() {
        return format!("{row:06}.{extension}");
    }
    format!("{row:06}-{}", sanitized_path(name).display())
}

/// The row that a name refers to; `None` if it is not the name of a row.
pub fn row_of(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let digits = name.split(['-', '.']).next()?;
    digits.parse().ok().filter(|&row| row > 0)
}
