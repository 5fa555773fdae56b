//! Images inside Parquet files: each row is a file below its Parquet file, as if that were a folder.

mod folder;
mod image_table;
mod listing;
mod row_names;

pub use folder::ParquetFolder;
pub use listing::{MAX_ROWS, list_images};
pub use row_names::{is_parquet, row_of};
