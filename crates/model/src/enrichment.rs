//! The enrichment models of a dataset. The API does not describe the response, so a model that the response does not
//! mention is unknown rather than missing.

use crate::{SafeText, keyword::keyword_enum, text::group_digits};

keyword_enum!(
    EnrichmentModel {
        /// Captions, which caption search and full-text search need.
        CaptionImages = "CAPTION_IMAGES",
        ImageTagging = "IMAGE_TAGGING",
        /// Images and text in one embedding space, which semantic search needs.
        MultimodelImageEncoding = "MULTIMODEL_IMAGE_ENCODING",
        ObjectDetection = "OBJECT_DETECTION",
    }
);

impl EnrichmentModel {
    pub const ANY_FOR_CAPTIONS: &[Self] = &[Self::CaptionImages];
    pub const ANY_FOR_LABELS: &[Self] = &[Self::ImageTagging];
    /// Either of these models is enough.
    pub const ANY_FOR_SEMANTIC: &[Self] = &[Self::MultimodelImageEncoding, Self::CaptionImages];
}

/// The identifier under which a local service lists imported embeddings.
pub const IMPORTED_EMBEDDINGS: &str = "imported-embeddings";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelStatus {
    Applied,
    NotApplied,
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enrichment {
    /// One status for each of [`EnrichmentModel::ALL`], in the same order.
    pub statuses: [ModelStatus; EnrichmentModel::ALL.len()],
    /// The models that the response describes, including models of unknown types.
    pub models: Vec<AppliedModel>,
    pub raw: SafeText,
}

/// A model that was applied to a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedModel {
    /// The name of an [`EnrichmentModel`], or a name that this program does not know.
    pub kind: SafeText,
    pub id: Option<SafeText>,
    pub name: Option<SafeText>,
    pub description: Option<SafeText>,
    /// The time as the service writes it.
    pub applied_at: Option<SafeText>,
    pub files: Vec<ModelFile>,
    /// How many media items have what this model gives. `None` if the service does not say.
    pub coverage: Option<Coverage>,
}

/// How many media items of a dataset have something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    pub covered: u64,
    pub all: u64,
}

/// A file of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    pub path: SafeText,
    pub sha256: SafeText,
}

impl Enrichment {
    /// Returns how many media items have a caption. A dataset of `media` items without this enrichment has no captions.
    pub fn caption_coverage(&self, media: Option<u64>) -> Option<Coverage> {
        match self.status_of(EnrichmentModel::CaptionImages) {
            ModelStatus::NotApplied => media.map(|all| Coverage { covered: 0, all }),
            ModelStatus::Applied => self.applied(EnrichmentModel::CaptionImages)?.coverage,
            ModelStatus::Unknown => None,
        }
    }

    pub fn status_of(&self, model: EnrichmentModel) -> ModelStatus {
        self.statuses[model as usize]
    }

    /// Returns the embeddings that were imported, if the dataset has any.
    pub fn imported_embeddings(&self) -> Option<&AppliedModel> {
        self.models.iter().find(|applied| applied.is_imported())
    }

    /// Returns what the response says about the model of a type.
    pub fn applied(&self, model: EnrichmentModel) -> Option<&AppliedModel> {
        self.models.iter().find(|applied| applied.kind.as_str() == model.as_str())
    }
}

impl AppliedModel {
    fn is_imported(&self) -> bool {
        self.id.as_ref().is_some_and(|id| id.as_str() == IMPORTED_EMBEDDINGS)
    }

    /// Says how many pictures have what this model gives, if the service counts them.
    pub fn coverage_text(&self) -> Option<String> {
        let coverage = self.coverage?;
        let is_imported = self.is_imported();
        Some(if is_imported { coverage.embeddings_text() } else { coverage.captions_text() })
    }
}

impl Coverage {
    /// Says how many pictures have a caption.
    pub fn captions_text(self) -> String {
        self.text("a caption")
    }

    fn embeddings_text(self) -> String {
        self.text("an imported embedding")
    }

    pub fn missing(self) -> u64 {
        self.all.saturating_sub(self.covered)
    }

    /// Says how many pictures have no vector.
    pub fn missing_text(self) -> String {
        let (missing, all) = (group_digits(self.missing()), group_digits(self.all));
        let have = if self.missing() == 1 { "has" } else { "have" };
        format!("{missing} of {all} pictures {have} no vector")
    }

    fn text(self, what: &str) -> String {
        let (covered, all) = (group_digits(self.covered), group_digits(self.all));
        match self.covered {
            0 if self.all == 1 => format!("the only picture does not have {what}"),
            0 => format!("none of the {all} pictures has {what}"),
            1 => format!("1 of {all} pictures has {what}"),
            _ => format!("{covered} of {all} pictures have {what}"),
        }
    }
}

pub fn missing_model_warning(
    models: &[EnrichmentModel],
    known: Option<&Enrichment>,
) -> Option<String> {
    let has_status = |status: ModelStatus| {
        move |model: &EnrichmentModel| {
            known.map_or(ModelStatus::Unknown, |known| known.status_of(*model)) == status
        }
    };
    let names: Vec<&str> = models.iter().map(|model| model.as_str()).collect();
    let names = names.join(" or ");
    if models.is_empty() || models.iter().any(has_status(ModelStatus::Applied)) {
        None
    } else if models.iter().all(has_status(ModelStatus::NotApplied)) {
        Some(format!("needs {names}, which this dataset does not have"))
    } else {
        Some(format!("needs {names}; the service does not say whether this dataset has it"))
    }
}
