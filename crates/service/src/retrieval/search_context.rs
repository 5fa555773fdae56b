//! Answers a question: resolves what ranks to vectors, lets the filters narrow, and orders the clusters
//! that are left.

use std::{collections::HashSet, sync::Arc};

use half::f16;
use rusqlite::Connection;

use super::{
    dataset_index::{DatasetIndex, SearchQuery},
    filter_mask::FilterMask,
    ranking::{ClusterRanking, Scores},
};
use crate::{
    store::{Store, StoreError, dataset::DatasetRecord, full_text, media, query_image},
    text::full_text_query::{FtsExpression, SyntaxError, parse},
};
use tessera_model::{
    Anchor, AnchorKind, EntityType, Filter, Granularity,
    vql::{Fraction, QueryText},
};

/// What scores by vectors are called on the wire.
const COSINE_DISTANCE: &str = "cosine_distance";
/// What scores of full text are called on the wire: lower is better.
const BM25: &str = "bm25";

/// Why a question has no answer.
#[derive(Debug)]
pub enum RetrievalError {
    /// Nobody knows its anchor.
    AnchorNotFound,
    /// It is not asked as its anchor was registered; the sentence says what must be equal.
    AnchorMismatch(String),
    /// Nothing of the dataset has a meaning that a text could be compared with.
    NoTextEmbeddings,
    /// A text that the encoder does not take; the sentence says why.
    UnencodableText(String),
    /// A full-text query is no query.
    FullText(SyntaxError),
    /// The store failed.
    Store(StoreError),
}

impl From<StoreError> for RetrievalError {
    fn from(cause: StoreError) -> Self {
        Self::Store(cause)
    }
}

/// What questions are asked of.
pub struct SearchContext<'a> {
    /// The store.
    pub store: &'a Store,
    /// The dataset.
    pub dataset: &'a DatasetRecord,
    /// Images or objects.
    pub entity: EntityType,
    /// Their media in memory.
    pub index: &'a DatasetIndex,
    /// What a text means; `None` where the dataset has nothing to compare it with.
    pub embed_text: &'a dyn Fn(&str) -> Result<Option<TextEmbedding>, RetrievalError>,
}

/// What a text means.
pub enum TextEmbedding {
    /// A unit vector.
    Vector(Vec<f16>),
    /// Nothing that the dataset knows.
    Unknown,
}

impl SearchContext<'_> {
    /// The answer to a question.
    ///
    /// # Errors
    /// It has none.
    pub fn search(&self, question: &SearchQuery) -> Result<Arc<ClusterRanking>, RetrievalError> {
        self.index.ranking(question, || self.rank(question))
    }

    fn rank(&self, question: &SearchQuery) -> Result<ClusterRanking, RetrievalError> {
        let mut sieve = FilterMask::new(self.index);
        let mut scores = None;
        if let Some(anchor) = question.anchor {
            let look = self.anchor_descriptor(anchor, Some(question.granularity))?;
            scores = Some(Scores {
                values: self.index.descriptor_distances(&look),
                kind: COSINE_DISTANCE,
            });
        }
        if let Some(caption) = &question.caption {
            let meant = Scores { values: self.semantic_distances(caption)?, kind: COSINE_DISTANCE };
            sieve.by_score(&meant.values, f64::is_finite);
            // An anchor beside it ranks; the caption still bounds.
            if let Some(below) = question.max_score {
                sieve.by_score(&meant.values, |score| score < below.value());
            }
            scores.get_or_insert(meant);
        } else if let (Some(below), Some(scores)) = (question.max_score, &scores) {
            sieve.by_score(&scores.values, |score| score < below.value());
        }
        for filter in &question.filters {
            let by_filter = self.apply_filter(&mut sieve, filter)?;
            scores = scores.or(by_filter);
        }
        Ok(ClusterRanking::new(self.index, question.granularity, sieve.into_mask(), scores))
    }

    /// Applies a filter. Returns what it could rank by.
    fn apply_filter(
        &self,
        sieve: &mut FilterMask,
        filter: &Filter,
    ) -> Result<Option<Scores>, RetrievalError> {
        match filter {
            Filter::FullText(text) => return self.apply_full_text(sieve, text),
            Filter::Semantic { text, min_similarity } => {
                let values = self.semantic_distances(text.as_str())?;
                let least = min_similarity.map(Fraction::value);
                sieve.by_score(&values, |score| {
                    score.is_finite() && least.is_none_or(|least| 1.0 - score >= least)
                });
                return Ok(Some(Scores { values, kind: COSINE_DISTANCE }));
            }
            Filter::Similar { anchor, max_distance } => {
                let values =
                    self.index.descriptor_distances(&self.anchor_descriptor(*anchor, None)?);
                let most = max_distance.map(Fraction::value);
                sieve.by_score(&values, |score| most.is_none_or(|most| score <= most));
                return Ok(Some(Scores { values, kind: COSINE_DISTANCE }));
            }
            Filter::Labels(rule, labels) => sieve.labels(*rule, labels.as_slice()),
            Filter::Tags(tags) => sieve.tags(self.dataset.id, tags.as_slice()),
            Filter::Issue(issue) => sieve.issue(issue),
            Filter::Duplicates(similarity) => sieve.duplicates(*similarity),
            Filter::Uniqueness(score) => sieve.uniqueness(*score),
        }
        Ok(None)
    }

    fn apply_full_text(
        &self,
        sieve: &mut FilterMask,
        text: &QueryText,
    ) -> Result<Option<Scores>, RetrievalError> {
        let (expression, wanted) = match parse(text.as_str()).map_err(RetrievalError::FullText)? {
            FtsExpression::Matching(expression) => (expression, true),
            FtsExpression::NotMatching(expression) => (expression, false),
        };
        let found = self.store.read(|c| full_text::search(c, &expression, wanted))?;
        let rows: HashSet<i64> = found.iter().map(|&(row, _)| row).collect();
        sieve.by_picture(&rows, wanted);
        if !wanted {
            return Ok(None);
        }
        let mut values = vec![f32::INFINITY; self.index.members.len()];
        for (row, score) in found {
            for &member in self.index.members_of_picture(row) {
                values[member as usize] = score;
            }
        }
        Ok(Some(Scores { values, kind: BM25 }))
    }

    /// The distance of every member from what a text means; infinite for those without a meaning.
    fn semantic_distances(&self, text: &str) -> Result<Vec<f32>, RetrievalError> {
        match (self.embed_text)(text)? {
            Some(TextEmbedding::Vector(vector)) => Ok(self.index.embedding_distances(&vector)),
            Some(TextEmbedding::Unknown) => Ok(vec![f32::INFINITY; self.index.members.len()]),
            None => Err(RetrievalError::NoTextEmbeddings),
        }
    }

    /// The look of an anchor. With a `level` an uploaded one must have been registered for it and
    /// for this entity type (rule: interface, `GET explore`).
    fn anchor_descriptor(
        &self,
        anchor: Anchor,
        level: Option<Granularity>,
    ) -> Result<Vec<f16>, RetrievalError> {
        let dataset = self.dataset.id;
        if anchor.kind == AnchorKind::Media {
            let kept = self.index.descriptor(anchor.media).map(<[_]>::to_vec);
            let stored = |c: &Connection| media::descriptor(c, dataset, anchor.media);
            let look = match kept {
                Some(look) => Some(look),
                None => self.store.read(stored)?,
            };
            return look.ok_or(RetrievalError::AnchorNotFound);
        }
        let upload = self.store.read(|c| query_image::find(c, dataset, anchor.media))?;
        let upload = upload.ok_or(RetrievalError::AnchorNotFound)?;
        let must_equal = |what: &str, value: &str| {
            RetrievalError::AnchorMismatch(format!(
                "{what} must equal the value used when registering the anchor: {value}"
            ))
        };
        if level.is_some_and(|level| level != upload.level) {
            return Err(must_equal("threshold", &upload.level.level().to_string()));
        }
        if level.is_some() && upload.entity != self.entity {
            return Err(must_equal("entity_type", upload.entity.word()));
        }
        Ok(upload.descriptor)
    }
}
