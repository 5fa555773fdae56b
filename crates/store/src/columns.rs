//! Converts values to the form in which columns store them: paths as bytes, vectors as half-precision numbers, and
//! lists as JSON.

use std::{
    ffi::OsString,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use super::engine::{QueryError, Result, Row};
use half::f16;
use serde::{Serialize, de::DeserializeOwned};

pub(super) fn path_to_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

pub(super) fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// Encodes a vector in little-endian order.
pub(super) fn encode_f16(vector: &[f16]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub(super) fn decode_f16(bytes: &[u8]) -> Vec<f16> {
    bytes.as_chunks().0.iter().map(|&pair| f16::from_le_bytes(pair)).collect()
}

pub(super) fn to_json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(QueryError::value)
}

/// Decodes a JSON column. NULL counts as `null`.
pub(super) fn from_json<T: DeserializeOwned>(row: &Row, column: usize) -> Result<T> {
    let raw = row.get_ref(column)?.as_str_or_null()?.unwrap_or("null");
    serde_json::from_str(raw).map_err(QueryError::value)
}
