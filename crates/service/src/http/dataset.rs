//! `GET datasets`, `GET dataset/{id}`, and `GET enrichment/{id}/context`. The latter has the format of hosted services,
//! and names the models behind the enrichments of this service.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::prelude::*;
use crate::usecase::Enrichments;
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
        Ok(deployment.offered_datasets()?.into_iter().map(dataset_body).collect())
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
    let body = move |deployment: &Deployment| deployment.require_dataset(id).map(dataset_body);
    Ok(Json(state.spawn_blocking(body).await?))
}

/// Describes a dataset. Whether its folder is missing is read from the disk.
pub(crate) fn dataset_body(record: DatasetRecord) -> DatasetBody {
    DatasetBody {
        folder_missing: Deployment::folder_is_missing(&record),
        id: record.id,
        display_name: record.name,
        status: Some(legacy_status(&record.status).to_owned()),
        status_new: record.status.as_str().to_owned(),
        progress: Some(record.progress),
        owned_by: Some("local".to_owned()),
        created_at: Some(format_iso8601(record.created_at)),
        n_images: Some(record.n_images),
        n_videos: Some(record.n_videos),
        n_objects: Some(record.n_objects),
        fatal_error_msg: record.fatal_error,
        extras: Some(DatasetExtras {
            updated_at: record.updated_at.map(format_iso8601),
            ..DatasetExtras::default()
        }),
    }
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
    let applied = ServiceModel::ALL.into_iter().filter(|model| model.is_applied(&dataset));
    let applied = applied.map(|model| {
        let metadata = model.metadata(&dataset);
        (model.enrichment(), ModelBody { id: model.id().to_owned(), metadata })
    });
    let models: BTreeMap<_, _> = applied.collect();
    Ok(Json(EnrichmentBody {
        enrichment_context_id: Uuid::new_v5(&id.0, b"enrichment context"),
        status: if models.is_empty() { "NEW" } else { "COMPLETED" },
        dataset_enrichment_models: ModelsBody { enrichment_models: models },
    }))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServiceModel {
    /// The user's own model, for pictures and texts.
    OwnPair,
    /// The user's own model, for pictures only.
    OwnImageEncoder,
    /// Imported embeddings, which are listed instead of a model for pictures.
    ImportedEmbeddings,
    TextSpace,
    Labels,
    /// The labels of the user's own model, which are listed instead of `Labels`.
    OwnLabels,
    Objects,
}

impl ServiceModel {
    pub const ALL: [Self; 7] = [
        Self::OwnPair,
        Self::OwnImageEncoder,
        Self::ImportedEmbeddings,
        Self::TextSpace,
        Self::Labels,
        Self::OwnLabels,
        Self::Objects,
    ];

    /// Whether a dataset with the given model of its own can have this model.
    pub(crate) fn is_available(self, own: Option<&Encoder>) -> bool {
        let Some(own) = own else {
            return matches!(self, Self::TextSpace | Self::Labels | Self::Objects);
        };
        match self {
            Self::OwnPair => own.takes_texts(),
            Self::OwnImageEncoder => !own.takes_texts(),
            Self::OwnLabels => own.gives_labels(),
            Self::ImportedEmbeddings => false,
            Self::TextSpace | Self::Labels | Self::Objects => true,
        }
    }

    pub(crate) fn is_applied(self, dataset: &Enrichments) -> bool {
        let Enrichments { record, coverage, model, .. } = dataset;
        let record_of_model = model.as_ref().map(|(model, _)| &model.record);
        let own = |takes_texts| {
            record_of_model.is_some_and(|it| !it.is_imported && it.takes_texts == takes_texts)
        };
        match self {
            Self::OwnPair => own(true),
            Self::OwnImageEncoder => own(false),
            Self::ImportedEmbeddings => record_of_model.is_some_and(|it| it.is_imported),
            Self::TextSpace => coverage.has_captions,
            Self::Labels => coverage.has_labels,
            Self::OwnLabels => coverage.has_model_labels,
            Self::Objects => record.n_objects > 0,
        }
    }

    /// Returns the enrichment in the spelling of the wire. An image encoder has a name of our own, because the known
    /// enrichments include texts.
    pub fn enrichment(self) -> &'static str {
        self.names().0
    }

    pub fn id(self) -> &'static str {
        self.names().1
    }

    pub fn name(self) -> &'static str {
        self.names().2
    }

    /// Returns the enrichment, the ID and the name.
    fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::OwnPair => ("MULTIMODEL_IMAGE_ENCODING", "own-model", "Your model"),
            Self::OwnImageEncoder => ("IMAGE_ENCODING", "own-model", "Your model"),
            Self::ImportedEmbeddings => {
                ("IMAGE_ENCODING", IMPORTED_EMBEDDINGS, "Imported embeddings")
            }
            Self::TextSpace => ("CAPTION_IMAGES", "tessera-text-space", "Text space"),
            Self::Labels => ("IMAGE_TAGGING", "tessera-sidecar", "Labels"),
            Self::OwnLabels => ("IMAGE_TAGGING", "own-model", "Labels of your model"),
            Self::Objects => ("OBJECT_DETECTION", "tessera-sidecar", "Boxes"),
        }
    }

    /// Returns what is special about this model in a dataset.
    pub fn metadata(self, dataset: &Enrichments) -> ModelMetadataBody {
        let CaptionLanguage { indexed, chosen } = dataset.record.language;
        let origin = if chosen.is_some() { "as chosen" } else { "as detected in them" };
        let description = match self {
            Self::TextSpace => {
                let (language, captions) = (indexed.name(), self.description());
                format!("{captions}; the captions are searched in {language}, {origin}")
            }
            _ => self.description().to_owned(),
        };
        let counts = match self {
            Self::TextSpace => Some(dataset.captions),
            Self::ImportedEmbeddings => Some(dataset.embeddings),
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
        let is_own = [IMPORTED_EMBEDDINGS, Self::OwnPair.id()].contains(&self.id());
        if let Some((model, applied_at)) = dataset.model.as_ref().filter(|_| is_own) {
            body.name = Some(model.record.name.clone());
            body.applied_at = Some(format_iso8601(*applied_at));
            let files = model.record.files.iter();
            let file = files
                .map(|file| ModelFileBody { path: file.path.clone(), sha256: file.sha256.clone() });
            body.files = file.collect();
        }
        body
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::OwnPair => "your model: similar images, and texts that describe them",
            Self::OwnImageEncoder => "your model: similar images",
            Self::ImportedEmbeddings => {
                "imported embeddings: similar images and clusters; no text encoder belongs to them"
            }
            Self::TextSpace => {
                "captions from beside the images; searched by a text space trained on them, not by a model"
            }
            Self::Labels => "labels from beside the images",
            Self::OwnLabels => {
                "labels from beside the images, and after them those of your model: classes that it is confident of, \
                 and what they are kinds of"
            }
            Self::Objects => "boxes from beside the images",
        }
    }
}
