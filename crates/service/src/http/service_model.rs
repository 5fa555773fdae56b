//! The models behind the enrichments of this service.

use crate::{
    Deployment,
    store::{caption_language::CaptionLanguage, dataset::DatasetRecord, full_text::TextCoverage},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceModel {
    Own,
    TextSpace,
    Labels,
    Objects,
}

impl ServiceModel {
    /// The models that a dataset of a deployment can have.
    pub fn available(deployment: &Deployment) -> impl Iterator<Item = Self> {
        let has_own = deployment.settings.model.is_some();
        [Self::Own, Self::TextSpace, Self::Labels, Self::Objects]
            .into_iter()
            .filter(move |model| has_own || *model != Self::Own)
    }

    pub fn is_applied(self, record: &DatasetRecord, coverage: TextCoverage) -> bool {
        match self {
            Self::Own => true,
            Self::TextSpace => coverage.has_captions,
            Self::Labels => coverage.has_labels,
            Self::Objects => record.n_objects > 0,
        }
    }

    /// The enrichment as spelled on the wire.
    pub fn enrichment(self) -> &'static str {
        match self {
            Self::Own => "MULTIMODEL_IMAGE_ENCODING",
            Self::TextSpace => "CAPTION_IMAGES",
            Self::Labels => "IMAGE_TAGGING",
            Self::Objects => "OBJECT_DETECTION",
        }
    }

    pub fn id(self) -> &'static str {
        match self {
            Self::Own => "own-model",
            Self::TextSpace => "tessera-text-space",
            Self::Labels | Self::Objects => "tessera-sidecar",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "Your model",
            Self::TextSpace => "Text space",
            Self::Labels => "Labels",
            Self::Objects => "Boxes",
        }
    }

    /// What is special about it in a dataset.
    pub fn detail(self, record: &DatasetRecord) -> Option<String> {
        let CaptionLanguage { indexed, chosen } = record.language;
        let origin = if chosen.is_some() { "as chosen" } else { "as detected in them" };
        let detail = || format!("the captions are searched in {}, {origin}", indexed.name());
        (self == Self::TextSpace).then(detail)
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::Own => "the model that this deployment was started with",
            Self::TextSpace => {
                "captions from beside the images; searched by a text space trained on them, not by a model"
            }
            Self::Labels => "labels from beside the images",
            Self::Objects => "boxes from beside the images",
        }
    }
}
