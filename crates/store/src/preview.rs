//! Previews, which are what a page of clusters shows of the members.

use std::{collections::HashMap, path::Path};

use serde::{Deserialize, Serialize};

use super::{
    columns::{from_json, path_from_bytes},
    engine::{Connection, Result, params},
    media::{FramePosition, MediaRecord, file_name, read_frame, region_to_array},
    query,
};
use tessera_model::MediaId;

pub const MAX_PREVIEWS: usize = 9;

/// A preview, stored as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredPreview {
    pub media: MediaId,
    /// The path of the file, not sanitized.
    pub path: String,
    pub frame: Option<FramePosition>,
    pub width: u32,
    pub height: u32,
    /// A text that changes with the content of the file.
    pub version: String,
    pub caption: Option<String>,
    /// The region of an object in its image: x, y, width and height as fractions.
    pub region: Option<[f64; 4]>,
}

impl From<&MediaRecord> for StoredPreview {
    fn from(media: &MediaRecord) -> Self {
        Self {
            media: media.id,
            path: media.path.to_string_lossy().into_owned(),
            frame: media.frame,
            width: media.width,
            height: media.height,
            version: content_version(media.content_hash),
            caption: media.caption.clone(),
            region: media.region.map(region_to_array),
        }
    }
}

impl StoredPreview {
    pub fn name(&self) -> String {
        file_name(Path::new(&self.path), self.frame)
    }
}

/// Returns the first bytes of a content hash in hexadecimal digits.
fn content_version([a, b, c, d, ..]: [u8; 32]) -> String {
    format!("{:08x}", u32::from_be_bytes([a, b, c, d]))
}

/// Reads the previews of media rows. A page needs up to 900 of them, so no other columns are read.
pub fn of_rows(connection: &Connection, rows: &[i64]) -> Result<HashMap<i64, StoredPreview>> {
    let sql = "SELECT id, path, width, height, content, caption, region, frame, seconds,
                      require(intact), row FROM media WHERE row IN";
    query::all_listed(connection, sql, params![], rows, |row| {
        let preview = StoredPreview {
            media: MediaId(row.get(0)?),
            path: path_from_bytes(row.get(1)?).to_string_lossy().into_owned(),
            frame: read_frame(row, 7)?,
            width: row.get(2)?,
            height: row.get(3)?,
            version: content_version(row.get(4)?),
            caption: row.get(5)?,
            region: from_json(row, 6)?,
        };
        Ok((row.get(10)?, preview))
    })
}
