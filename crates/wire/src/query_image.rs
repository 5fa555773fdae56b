//! Query images (`POST search-image-similarity`): the form with the image, and the search anchor that the service gives
//! for the image.

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::{
    endpoints::query,
    fields::{Fields, parsed, required},
};
use tessera_model::{Anchor, AnchorKind, MediaId};

/// The form field of `search-image-similarity` that contains the query image.
pub const FILE_FIELD: &str = "file";

/// The JSON schema of the form of `search-image-similarity`.
pub fn query_image_schema() -> Value {
    json!({
        "type": "object",
        "required": [FILE_FIELD],
        "properties": {
            FILE_FIELD: {"type": "string", "format": "binary"},
            query::BOUNDING_BOX: {"type": "string",
                "description": "As the parameter, if that is missing"},
        },
    })
}

/// A search anchor.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct AnchorBody {
    /// A registered query image, or a media item of the dataset.
    #[schema(value_type = Uuid)]
    pub anchor_media_id: MediaId,
    /// `UPLOAD` for a registered query image, `MEDIA` for a media item.
    pub anchor_type: &'static str,
}

impl From<Anchor> for AnchorBody {
    fn from(anchor: Anchor) -> Self {
        Self { anchor_media_id: anchor.media, anchor_type: anchor.kind.as_str() }
    }
}

/// Reads a search anchor. Returns `None` if it has no usable `anchor_media_id`.
pub fn read_anchor(anchor: Fields<'_>) -> Option<Anchor> {
    Some(Anchor {
        media: required(anchor, &["anchor_media_id"])?,
        kind: parsed(anchor, "anchor_type").unwrap_or(AnchorKind::Upload),
    })
}
