//! `process/add_media`: the response of an on-premises deployment, in the observed shape.

use serde::Serialize;
use utoipa::ToSchema;

use tessera_model::DatasetId;

/// The response as a service writes it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProcessBody {
    /// Always `success`.
    pub status: &'static str,
    /// A message.
    pub message: &'static str,
    /// The dataset that receives the media.
    #[schema(value_type = Uuid)]
    pub dataset_id: DatasetId,
}
