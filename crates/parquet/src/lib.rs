//! Parquet files from outside, row by row. Neither the sizes nor the numbers of rows that they claim
//! are believed.

mod bounded_file;
mod bounded_pages;
mod compact_protocol;
mod file_column;
mod page_codec;
mod page_header;
mod parquet_file;
mod remote_file;
mod row_limits;
mod schema_depth;

pub use bounded_file::Source;
pub use file_column::FileColumn;
pub use parquet_file::{Columns, Error, ParquetFile};
pub use remote_file::SeekableReader;
