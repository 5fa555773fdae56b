//! What a search works with, and how the parts of a query are resolved.

use half::f16;

use super::{IndexCache, RetrievalError};
use crate::{
    store::{
        Store, dataset::DatasetRecord, full_text, media, query_image,
        search_table::SearchTableLimits,
    },
    text::{
        encoders::Encoders,
        full_text_query::{FtsExpression, parse},
    },
};
use tessera_model::{Anchor, AnchorKind, vql::QueryText};

pub struct SearchContext<'a> {
    pub store: &'a Store,
    pub indexes: &'a IndexCache,
    /// The user's own encoders, if there are any.
    pub encoders: Option<&'a Encoders>,
    pub dataset: &'a DatasetRecord,
    pub limits: SearchTableLimits,
}

impl SearchContext<'_> {
    pub(super) fn anchor_descriptor(&self, anchor: Anchor) -> Result<Vec<f16>, RetrievalError> {
        let (store, dataset) = (self.store, self.dataset.id);
        if anchor.kind == AnchorKind::Upload {
            let upload = store.read(|c| query_image::find(c, dataset, anchor.media))?;
            return upload.map(|upload| upload.descriptor).ok_or(RetrievalError::AnchorNotFound);
        }
        let stored = store.read(|c| media::descriptor(c, dataset, anchor.media))?;
        stored.ok_or(RetrievalError::AnchorNotFound)
    }

    /// `None` if no word of the text is known.
    pub(super) fn embed_text(&self, text: &str) -> Result<Option<Vec<f16>>, RetrievalError> {
        self.indexes.embed_text(self.store, self.dataset, self.encoders, text)
    }

    /// The pictures whose captions match, or with `false` those whose captions are excluded, with their scores.
    pub(super) fn full_text(
        &self,
        text: &QueryText,
    ) -> Result<(CaptionScores, bool), RetrievalError> {
        let parsed = parse(text.as_str(), self.dataset.language.indexed)
            .map_err(RetrievalError::FullText)?;
        let (expression, matching) = match parsed {
            FtsExpression::Matching(expression) => (expression, true),
            FtsExpression::NotMatching(expression) => (expression, false),
        };
        Ok((self.store.read(|c| full_text::search(c, &expression, matching))?, matching))
    }
}

/// Rows of pictures, and the scores of their captions.
type CaptionScores = Vec<(i64, f32)>;
