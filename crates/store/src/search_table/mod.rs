//! Search tables: what searches read of the members of a large dataset, with their vectors, in a store on a server
//! that has pgvector. They are derived from the other tables, like the index files of smaller datasets.
//!
//! Each dataset and entity type has one. An operation writes the rows of the next generation before it ends; the
//! transaction that ends it makes them visible, so a search reads those of one generation.

mod match_conditions;
mod member_search;
mod merge_rule;
mod registry;
mod search_limits;
mod search_match;
mod search_statement;
mod table_writer;
mod vector_extension;

pub use member_search::{
    DistanceBound, DistanceQuery, IssueRange, MemberCondition, MemberDistance, MemberOrder,
    MemberSearch, MemberVector, VectorQuery,
};
pub use merge_rule::MergeRule;
pub(super) use registry::TABLES;
pub use registry::{SearchTable, drop_table, find, former, is_current, unused};
pub use search_limits::SearchTableLimits;
pub use search_match::{ClusterMatch, SelectedMember};
pub use search_statement::{TableSearch, exceeds, nearest};
pub use table_writer::{
    Dimensions, IndexedMember, TableWriter, WriteTarget, WrittenMembers, publish,
};
pub(super) use vector_extension::create;
pub use vector_extension::{VectorSupport, support};
