//! Previews: what a page of clusters shows of a member.

use rusqlite::{Connection, Result};
use serde::{Deserialize, Serialize};

use super::{
    columns::{from_json, path_from_bytes},
    media::{MediaKind, MediaRecord, file_name, region_to_array},
    query,
};
use tessera_model::MediaId;

pub const MAX_PREVIEWS: usize = 9;

/// A preview, stored as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredPreview {
    pub media: MediaId,
    pub name: String,
    pub width: u32,
    pub height: u32,
    /// Changes with the content of the file.
    pub version: String,
    pub caption: Option<String>,
    pub video: bool,
    /// The region of an object in its image: x, y, width, height as fractions.
    pub region: Option<[f64; 4]>,
}

impl From<&MediaRecord> for StoredPreview {
    fn from(media: &MediaRecord) -> Self {
        Self {
            media: media.id,
            name: media.file_name(),
            width: media.width,
            height: media.height,
            version: content_version(media.content_hash),
            caption: media.caption.clone(),
            video: media.kind == MediaKind::Video,
            region: media.region.map(region_to_array),
        }
    }
}

/// The first bytes of a content hash, in hex.
fn content_version([a, b, c, d, ..]: [u8; 32]) -> String {
    format!("{:08x}", u32::from_be_bytes([a, b, c, d]))
}

/// Reads the preview of one media row. Pages need up to 900 of them, so nothing else is read.
pub(super) fn find(connection: &Connection, row: i64) -> Result<Option<StoredPreview>> {
    let sql =
        "SELECT id, path, width, height, content, caption, kind = 'VIDEO', region, require(intact)
               FROM media WHERE row = ?1";
    query::find(connection, sql, [row], |row| {
        Ok(StoredPreview {
            media: MediaId(row.get(0)?),
            name: file_name(&path_from_bytes(row.get(1)?)),
            width: row.get(2)?,
            height: row.get(3)?,
            version: content_version(row.get(4)?),
            caption: row.get(5)?,
            video: row.get(6)?,
            region: from_json(row, 7)?,
        })
    })
}
