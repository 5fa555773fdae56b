//! Images inside Parquet files: each row is a file below its Parquet file, as if that were a folder.

mod image_table;
mod listing;
mod originals;
mod parquet_source;
mod row_names;

pub use listing::{MAX_ROWS, is_row_of, list_images};
pub use originals::ParquetOriginals;
pub use parquet_source::{ReadFailure, parquet_source};
pub use row_names::{is_parquet, row_of};
