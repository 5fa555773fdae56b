//! Writes paths to the journal. A path that is not text is written as its bytes, so that every path is read back as it
//! was.

use std::{
    ffi::OsString,
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredPath {
    Text(String),
    Bytes(Vec<u8>),
}

pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    let stored = match path.to_str() {
        Some(text) => StoredPath::Text(text.to_owned()),
        None => StoredPath::Bytes(path.as_os_str().to_owned().into_vec()),
    };
    stored.serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    Ok(match StoredPath::deserialize(deserializer)? {
        StoredPath::Text(text) => text.into(),
        StoredPath::Bytes(bytes) => OsString::from_vec(bytes).into(),
    })
}
