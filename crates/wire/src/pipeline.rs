//! `process/add_media`: the answer of an on-premises deployment, in the observed shape.

use serde::Serialize;
use utoipa::ToSchema;

use tessera_model::DatasetId;

/// The answer as a service writes it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProcessBody {
    /// Always `success`.
    pub status: &'static str,
    /// For people.
    pub message: &'static str,
    /// The dataset that grows.
    #[schema(value_type = Uuid)]
    pub dataset_id: DatasetId,
}
