//! Which enrichment models were applied to a dataset, as far as the service tells. The body of its
//! answer is not described, so what cannot be seen in it is unknown rather than missing.

use crate::SafeText;

/// A model that searches depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnrichmentModel {
    /// Captions of images: caption search, and full text.
    CaptionImages,
    /// Labels of images.
    ImageTagging,
    /// Pictures and texts in one space: semantic search.
    MultimodelImageEncoding,
    /// Boxes around objects.
    ObjectDetection,
}

impl EnrichmentModel {
    /// All of them, in the order they are shown.
    pub const ALL: [Self; 4] = [
        Self::CaptionImages,
        Self::ImageTagging,
        Self::MultimodelImageEncoding,
        Self::ObjectDetection,
    ];

    /// What searches in captions need.
    pub const CAPTIONS: &[Self] = &[Self::CaptionImages];
    /// What filters on labels need.
    pub const LABELS: &[Self] = &[Self::ImageTagging];
    /// What a semantic filter needs: one of them.
    pub const SEMANTIC: &[Self] = &[Self::MultimodelImageEncoding, Self::CaptionImages];

    /// The word on the wire and on screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::CaptionImages => "CAPTION_IMAGES",
            Self::ImageTagging => "IMAGE_TAGGING",
            Self::MultimodelImageEncoding => "MULTIMODEL_IMAGE_ENCODING",
            Self::ObjectDetection => "OBJECT_DETECTION",
        }
    }
}

/// Whether a model was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelStatus {
    /// The answer names it.
    Applied,
    /// The answer lists what was applied, and this is not in the list.
    NotApplied,
    /// The answer does not tell.
    Unknown,
}

/// The enrichment context of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enrichment {
    /// Each of [`EnrichmentModel::ALL`], in its order.
    pub statuses: [ModelStatus; EnrichmentModel::ALL.len()],
    /// The answer as it came.
    pub raw: SafeText,
}

impl Enrichment {
    /// Whether `model` was applied.
    pub fn status_of(&self, model: EnrichmentModel) -> ModelStatus {
        let all = EnrichmentModel::ALL.into_iter().zip(self.statuses);
        all.into_iter()
            .find(|(known, _)| *known == model)
            .map_or(ModelStatus::Unknown, |(_, is)| is)
    }
}

/// What to say of the models one of which is needed: nothing when one was applied. `known` is what
/// was told of the dataset, if anything was.
pub fn missing_model_warning(
    models: &[EnrichmentModel],
    known: Option<&Enrichment>,
) -> Option<String> {
    let applied =
        |model: &EnrichmentModel| known.map_or(ModelStatus::Unknown, |it| it.status_of(*model));
    let names: Vec<&str> = models.iter().map(|model| model.word()).collect();
    let names = names.join(" or ");
    if models.is_empty() || models.iter().any(|model| applied(model) == ModelStatus::Applied) {
        None
    } else if models.iter().all(|model| applied(model) == ModelStatus::NotApplied) {
        Some(format!("needs {names}, which this dataset has not"))
    } else {
        Some(format!("needs {names}; it is not known whether this dataset has it"))
    }
}
