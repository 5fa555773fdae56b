//! `GET datasets`, `GET dataset/{id}`, and `GET enrichment/{id}/context`. The latter has the format of hosted services,
//! and names the models behind the enrichments of this service.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::prelude::*;
use crate::usecase::{Enrichments, ServiceError};
use tessera_encoder::Encoder;
use tessera_model::IMPORTED_EMBEDDINGS;
use tessera_store::{captions::CaptionLanguage, dataset::DatasetRecord};
use tessera_wire::{
    dataset::{DatasetBody, DatasetExtras, legacy_status},
    enrichment::{EnrichmentBody, ModelBody, ModelFileBody, ModelMetadataBody, ModelsBody},
    fields::format_iso8601,
};

pub(crate) fn add_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(datasets)).add(routes!(dataset)).add(routes!(enrichment_context))
}

/// Returns the datasets, oldest first, as a bare array.
#[utoipa::path(
    get,
    path = "/datasets",
    responses((status = 200, description = "The datasets", body = Vec<DatasetBody>), CommonErrors),
)]
pub(crate) async fn datasets(
    State(state): State<AppState>,
) -> Result<Json<Vec<DatasetBody>>, Problem> {
    let bodies = |deployment: &Deployment| {
        let records = deployment.offered_datasets()?.into_iter();
        records.map(|record| dataset_body(deployment, record)).collect()
    };
    Ok(Json(state.spawn_blocking(bodies).await?))
}

/// Returns one dataset.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}",
    params(DatasetPath),
    responses((status = 200, description = "The record", body = DatasetBody), DatasetErrors),
)]
pub(crate) async fn dataset(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<DatasetBody>, Problem> {
    let body = move |deployment: &Deployment| {
        deployment.require_dataset(id).and_then(|record| dataset_body(deployment, record))
    };
    Ok(Json(state.spawn_blocking(body).await?))
}

/// Describes a dataset. Whether its folder is missing is read from the disk.
pub(crate) fn dataset_body(
    deployment: &Deployment,
    record: DatasetRecord,
) -> Result<DatasetBody, ServiceError> {
    let waiting = deployment.waiting_reason_of(&record)?;
    Ok(DatasetBody {
        folder_missing: deployment.folder_is_missing(record.id)?,
        id: record.id,
        display_name: record.name,
        status: Some(legacy_status(&record.status).to_owned()),
        status_new: record.status.as_str().to_owned(),
        progress: Some(record.progress),
        owned_by: Some("local".to_owned()),
        created_at: Some(format_iso8601(record.created_at)),
        n_images: Some(record.n_images),
        n_videos: Some(record.n_videos),
        n_frames: Some(record.n_frames).filter(|count| *count > 0),
        n_objects: Some(record.n_objects),
        fatal_error_msg: waiting.or(record.fatal_error),
        extras: Some(DatasetExtras {
            updated_at: record.updated_at.map(format_iso8601),
            ..DatasetExtras::default()
        }),
    })
}

/// Returns which enrichments a dataset has.
#[utoipa::path(
    get,
    path = "/enrichment/{dataset_id}/context",
    params(DatasetPath),
    responses((status = 200, description = "The enrichments", body = EnrichmentBody), DatasetErrors),
)]
pub(crate) async fn enrichment_context(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<EnrichmentBody>, Problem> {
    let dataset = state.spawn_blocking(move |deployment| deployment.enrichments(id)).await?;
    let applied = MODELS.iter().filter(|model| (model.is_applied)(&dataset));
    let applied = applied.map(|model| {
        let metadata = model.metadata(&dataset);
        (model.enrichment, ModelBody { id: model.id.to_owned(), metadata })
    });
    let models: BTreeMap<_, _> = applied.collect();
    Ok(Json(EnrichmentBody {
        enrichment_context_id: Uuid::new_v5(&id.0, b"enrichment context"),
        status: if models.is_empty() { "NEW" } else { "COMPLETED" },
        dataset_enrichment_models: ModelsBody { enrichment_models: models },
    }))
}

/// A model behind an enrichment of this service.
pub(crate) struct ServiceModel {
    /// The enrichment in the spelling of the wire. An image encoder has a name of our own, because the known enrichments
    /// include texts.
    pub enrichment: &'static str,
    pub id: &'static str,
    pub name: &'static str,
    pub description: &'static str,
    /// Whether a dataset with the given model of its own can have this model.
    pub is_available: fn(Option<&Encoder>) -> bool,
    is_applied: fn(&Enrichments) -> bool,
}

const USER_MODEL: &str = "own-model";
const TEXT_SPACE: &str = "tessera-text-space";
const SIDECARS: &str = "tessera-sidecar";

/// The models in the order in which they are listed.
pub(crate) const MODELS: [ServiceModel; 7] = [
    ServiceModel {
        enrichment: "MULTIMODEL_IMAGE_ENCODING",
        id: USER_MODEL,
        name: "Your model",
        description: "your model: similar images, and texts that describe them",
        is_available: |model| model.is_some_and(Encoder::takes_texts),
        is_applied: |dataset| has_user_model(dataset, true),
    },
    ServiceModel {
        enrichment: "IMAGE_ENCODING",
        id: USER_MODEL,
        name: "Your model",
        description: "your model: similar images",
        is_available: |model| model.is_some_and(|model| !model.takes_texts()),
        is_applied: |dataset| has_user_model(dataset, false),
    },
    // Listed instead of a model for pictures.
    ServiceModel {
        enrichment: "IMAGE_ENCODING",
        id: IMPORTED_EMBEDDINGS,
        name: "Imported embeddings",
        description: "imported embeddings: similar images and clusters; no text encoder belongs to them",
        is_available: |_| false,
        is_applied: |it| it.model.as_ref().is_some_and(|(model, _)| model.record.is_imported),
    },
    ServiceModel {
        enrichment: "CAPTION_IMAGES",
        id: TEXT_SPACE,
        name: "Text space",
        description: "captions from beside the images; searched by a text space trained on them, not by a model",
        is_available: |_| true,
        is_applied: |dataset| dataset.coverage.has_captions,
    },
    ServiceModel {
        enrichment: "IMAGE_TAGGING",
        id: SIDECARS,
        name: "Labels",
        description: "labels from beside the images",
        is_available: |_| true,
        is_applied: |dataset| dataset.coverage.has_labels,
    },
    // Listed instead of the labels from beside the images.
    ServiceModel {
        enrichment: "IMAGE_TAGGING",
        id: USER_MODEL,
        name: "Labels of your model",
        description: "labels from beside the images, and after them those of your model: classes that it is confident of, \
                      and what they are kinds of",
        is_available: |model| model.is_some_and(Encoder::gives_labels),
        is_applied: |dataset| dataset.coverage.has_model_labels,
    },
    ServiceModel {
        enrichment: "OBJECT_DETECTION",
        id: SIDECARS,
        name: "Boxes",
        description: "boxes from beside the images",
        is_available: |_| true,
        is_applied: |dataset| dataset.record.n_objects > 0,
    },
];

fn has_user_model(dataset: &Enrichments, takes_texts: bool) -> bool {
    let model = dataset.model.as_ref().map(|(model, _)| &model.record);
    model.is_some_and(|it| !it.is_imported && it.takes_texts == takes_texts)
}

impl ServiceModel {
    /// Returns what is special about this model in a dataset.
    pub fn metadata(&self, dataset: &Enrichments) -> ModelMetadataBody {
        let CaptionLanguage { indexed, chosen } = dataset.record.language;
        let origin = if chosen.is_some() { "as chosen" } else { "as detected in them" };
        let mut description = self.description.to_owned();
        let counts = match self.id {
            TEXT_SPACE => {
                let language = indexed.name();
                description =
                    format!("{description}; the captions are searched in {language}, {origin}");
                Some(dataset.captions)
            }
            IMPORTED_EMBEDDINGS => Some(dataset.embeddings),
            _ => None,
        };
        let (covered_media, all_media) = counts.unzip();
        let mut body = ModelMetadataBody {
            description,
            name: None,
            applied_at: None,
            covered_media,
            all_media,
            files: Vec::new(),
        };
        let is_from_user = [IMPORTED_EMBEDDINGS, USER_MODEL].contains(&self.id);
        if let Some((model, applied_at)) = dataset.model.as_ref().filter(|_| is_from_user) {
            body.name = Some(model.record.name.clone());
            body.applied_at = Some(format_iso8601(*applied_at));
            let files = model.record.files.iter();
            let file = files
                .map(|file| ModelFileBody { path: file.path.clone(), sha256: file.sha256.clone() });
            body.files = file.collect();
        }
        body
    }
}
