//! Converts values to the form in which columns store them: paths as bytes, vectors as half-precision numbers, and
//! lists as JSON.

use std::{
    borrow::Cow,
    ffi::OsString,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::engine::{Connection, QueryError, Result, Row, params, query};
use half::f16;
use serde::{Serialize, de::DeserializeOwned};

pub(super) fn path_to_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

pub(super) fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// The subfolders of the index folder with files of datasets.
pub(super) const UPLOADS: &str = "uploads";
pub(super) const OPENED_ARCHIVES: &str = "archives";

/// The prefix of a stored folder that is inside the index folder. No path of a file in a dataset begins with it.
const IN_INDEX_FOLDER: &str = "./";

/// Returns the form in which columns store the folder of a source. Uploads and opened archives are stored without the
/// path of the index folder, so that the index folder can be moved and copied.
pub(super) fn folder_to_bytes<'a>(index_folder: &Path, folder: &'a Path) -> Cow<'a, [u8]> {
    let inside = folder.strip_prefix(index_folder).ok();
    match inside.filter(|inside| inside.starts_with(UPLOADS) || inside.starts_with(OPENED_ARCHIVES))
    {
        Some(inside) => [IN_INDEX_FOLDER.as_bytes(), path_to_bytes(inside)].concat().into(),
        None => path_to_bytes(folder).into(),
    }
}

pub(super) fn folder_from_bytes(index_folder: &Path, stored: Vec<u8>) -> PathBuf {
    let stored = path_from_bytes(stored);
    match path_in_index_folder(&stored) {
        Some(inside) => index_folder.join(inside),
        None => stored,
    }
}

/// Returns the path below the index folder, if a stored folder is inside the index folder.
pub(super) fn path_in_index_folder(stored: &Path) -> Option<&Path> {
    stored.strip_prefix(IN_INDEX_FOLDER).ok()
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

/// Returns the number of microseconds since 1970, which is the unit of every `created_at`.
pub fn now_micros() -> i64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or(Duration::ZERO);
    micros(since)
}

/// Returns the time of the clock by which leases end. On a server, this is the clock of the server, which all processes
/// share.
pub fn store_now(connection: &Connection) -> Result<i64> {
    match connection.dialect().server_clock {
        None => Ok(now_micros()),
        Some(sql) => query::one(connection, sql, params![], |row| row.get(0)),
    }
}

pub(super) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
