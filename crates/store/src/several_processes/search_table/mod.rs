//! Search tables: the data of the members of a large dataset that searches read, including the vectors. Search tables
//! exist in a store on a server that has pgvector. Search tables are derived from the other tables, like the index
//! files of smaller datasets.
//!
//! A dataset has one search table per entity type. An indexing task writes the rows of the next generation before it
//! ends, and its last transaction makes them visible. A search therefore reads the rows of a single generation.

mod exact_or_approximate;
mod match_conditions;
mod registry;
mod search_statement;
mod table_writer;
mod vector_extension;

pub use exact_or_approximate::{SearchTableLimits, exceeds};
pub(crate) use registry::TABLES;
pub use registry::{SearchTable, drop_table, find, former, is_current, unused};
pub use search_statement::{ClusterMatch, SelectedMember, TableSearch, nearest};
pub use table_writer::{
    Dimensions, IndexedMember, TableWriter, WriteTarget, WrittenMembers, publish,
};
pub(crate) use vector_extension::create;
pub use vector_extension::{VectorSupport, support};
