//! Search tables: the data of the members of a large dataset that searches read, including the vectors. Search tables
//! exist in a store on a server that has pgvector. Search tables are derived from the other tables, like the index
//! files of smaller datasets.
//!
//! A dataset has one search table per entity type. An indexing task writes the rows of the next generation before it
//! ends, and its last transaction makes them visible. A search therefore reads the rows of a single generation.

mod match_conditions;
mod property_conditions;
mod registry;
mod search_statement;
mod table_writer;

pub use property_conditions::{column_names, has_column, has_tag};
pub use registry::{
    Dimensions, SearchTable, VectorSupport, drop_table, find, former, is_current, support, unused,
};
pub(crate) use registry::{TABLES, create, drop_all};
pub use search_statement::{SearchTableLimits, SelectedMember, TableSearch, find_names, nearest};
pub use table_writer::{IndexedMember, TableWriter, WriteTarget, publish};
