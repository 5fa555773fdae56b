//! The names that nearly every file with SQL uses: connections and rows, the functions that run a statement, and the
//! form of the values in columns.

pub(crate) use super::{
    columns::{
        folder_from_bytes, folder_to_bytes, from_json, path_from_bytes, path_to_bytes, to_json,
    },
    engine::{Connection, QueryError, Result, Row, StatementBatch, Transaction, params},
    query,
};
pub(crate) use tessera_model::{DatasetId, EntityType, MediaId};
