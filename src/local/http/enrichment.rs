//! `GET enrichment/{id}/context`: what a dataset can be searched by, in the words of such services. No
//! model is behind most of it, and the answer says so.

use axum::{Json, extract::State};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Site, found, params::DatasetPath, problem::Problem};
use crate::local::store::words;

/// The enrichments of a dataset.
pub async fn context(
    State(site): State<Site>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<Value>, Problem> {
    let (record, told) = site
        .blocking(move |deployment| {
            let record = found(deployment, id)?;
            Ok((record, deployment.store.read(|c| words::told(c, id))?))
        })
        .await?;
    let encodes = site.deployment.settings.encoders.is_some();
    let model = |id: &str, about: &str| json!({"id": id, "metadata": {"description": about}});
    let mut models = serde_json::Map::new();
    let mut apply = |applied: bool, name: &str, id: &str, about: &str| {
        if applied {
            models.insert(name.to_owned(), model(id, about));
        }
    };
    let beside = "tessera-sidecar";
    apply(
        encodes,
        "MULTIMODEL_IMAGE_ENCODING",
        "own-encoders",
        "the image and text encoders that this deployment was started with",
    );
    apply(
        told.captions,
        "CAPTION_IMAGES",
        "tessera-text-space",
        "captions from beside the images; searched by a text space trained on them, not by a model",
    );
    apply(told.labels, "IMAGE_TAGGING", beside, "labels from beside the images");
    apply(record.n_objects > 0, "OBJECT_DETECTION", beside, "boxes from beside the images");
    let status = if models.is_empty() { "NEW" } else { "COMPLETED" };
    Ok(Json(json!({
        "enrichment_context_id": Uuid::new_v5(&id.0, b"enrichment context"),
        "status": status,
        "dataset_enrichment_models": {"enrichment_models": models},
    })))
}
