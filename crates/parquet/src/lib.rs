//! Reads Parquet files from outside, row by row. The sizes and numbers of rows that a file claims are not trusted.

mod compact_protocol;
mod file_column;
mod page_codec;
mod pages;
mod parquet_file;
mod source;

pub use file_column::FileColumn;
pub use parquet_file::{Columns, Error, ParquetFile};
pub use source::{SeekableReader, Source};
