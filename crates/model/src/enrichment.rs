//! The enrichment models of a dataset. The interface does not describe the response, so a model it
//! does not mention is unknown rather than missing.

use crate::SafeText;

/// A model that searches depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnrichmentModel {
    /// Caption search and full text.
    CaptionImages,
    ImageTagging,
    /// Images and text in one embedding space: semantic search.
    MultimodelImageEncoding,
    ObjectDetection,
}

impl EnrichmentModel {
    pub const ALL: [Self; 4] = [
        Self::CaptionImages,
        Self::ImageTagging,
        Self::MultimodelImageEncoding,
        Self::ObjectDetection,
    ];

    pub const ANY_FOR_CAPTIONS: &[Self] = &[Self::CaptionImages];
    pub const ANY_FOR_LABELS: &[Self] = &[Self::ImageTagging];
    /// Either of these is enough.
    pub const ANY_FOR_SEMANTIC: &[Self] = &[Self::MultimodelImageEncoding, Self::CaptionImages];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::CaptionImages => "CAPTION_IMAGES",
            Self::ImageTagging => "IMAGE_TAGGING",
            Self::MultimodelImageEncoding => "MULTIMODEL_IMAGE_ENCODING",
            Self::ObjectDetection => "OBJECT_DETECTION",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelStatus {
    Applied,
    NotApplied,
    Unknown,
}

/// The enrichment context of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enrichment {
    /// One for each of [`EnrichmentModel::ALL`], in its order.
    pub statuses: [ModelStatus; EnrichmentModel::ALL.len()],
    /// The response as received.
    pub raw: SafeText,
}

impl Enrichment {
    pub fn status_of(&self, model: EnrichmentModel) -> ModelStatus {
        let all = EnrichmentModel::ALL.into_iter().zip(self.statuses);
        all.into_iter()
            .find(|(known, _)| *known == model)
            .map_or(ModelStatus::Unknown, |(_, is)| is)
    }
}

/// A warning when none of the models is known to be applied.
pub fn missing_model_warning(
    models: &[EnrichmentModel],
    known: Option<&Enrichment>,
) -> Option<String> {
    let applied =
        |model: &EnrichmentModel| known.map_or(ModelStatus::Unknown, |it| it.status_of(*model));
    let names: Vec<&str> = models.iter().map(|model| model.as_str()).collect();
    let names = names.join(" or ");
    if models.is_empty() || models.iter().any(|model| applied(model) == ModelStatus::Applied) {
        None
    } else if models.iter().all(|model| applied(model) == ModelStatus::NotApplied) {
        Some(format!("needs {names}, which this dataset does not have"))
    } else {
        Some(format!("needs {names}; the service does not say whether this dataset has it"))
    }
}
