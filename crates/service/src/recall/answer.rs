//! Answers a question: resolves what ranks to vectors, lets the filters narrow, and orders the clusters
//! that are left.

use std::{collections::HashSet, sync::Arc};

use half::f16;
use rusqlite::Connection;

use super::{
    filter::Sieve,
    gallery::{Gallery, Question},
    rank::{Scores, Standing},
};
use crate::{
    store::{Store, StoreError, anchor, dataset::Record, media, words},
    words::query::{Match, SyntaxError, parse},
};
use tessera_model::{
    Anchor, AnchorKind, EntityType, Filter, Granularity,
    vql::{Fraction, QueryText},
};

/// What scores by vectors are called on the wire.
const COSINE: &str = "cosine_distance";
/// What scores of full text are called on the wire: lower is better.
const BM25: &str = "bm25";

/// Why a question has no answer.
#[derive(Debug)]
pub enum Unanswerable {
    /// Nobody knows its anchor.
    NoAnchor,
    /// It is not asked as its anchor was registered; the sentence says what must be equal.
    Differs(String),
    /// Nothing of the dataset has a meaning that a text could be compared with.
    NoMeaning,
    /// A text that the encoder does not take; the sentence says why.
    Unreadable(String),
    /// A full-text query is no query.
    FullText(SyntaxError),
    /// The store failed.
    Store(StoreError),
}

impl From<StoreError> for Unanswerable {
    fn from(cause: StoreError) -> Self {
        Self::Store(cause)
    }
}

/// What questions are asked of.
pub struct Ground<'a> {
    /// The store.
    pub store: &'a Store,
    /// The dataset.
    pub dataset: &'a Record,
    /// Images or objects.
    pub entity: EntityType,
    /// Their media in memory.
    pub gallery: &'a Gallery,
    /// What a text means; `None` where the dataset has nothing to compare it with.
    pub meaning: &'a dyn Fn(&str) -> Result<Option<Meaning>, Unanswerable>,
}

/// What a text means.
pub enum Meaning {
    /// A unit vector.
    Vector(Vec<f16>),
    /// Nothing that the dataset knows.
    Unknown,
}

impl Ground<'_> {
    /// The answer to a question.
    ///
    /// # Errors
    /// It has none.
    pub fn answer(&self, question: &Question) -> Result<Arc<Standing>, Unanswerable> {
        self.gallery.answer(question, || self.find(question))
    }

    fn find(&self, question: &Question) -> Result<Standing, Unanswerable> {
        let mut sieve = Sieve::new(self.gallery);
        let mut scores = None;
        if let Some(anchor) = question.anchor {
            let look = self.look(anchor, Some(question.level))?;
            scores = Some(Scores { values: self.gallery.distances(&look), kind: COSINE });
        }
        if let Some(caption) = &question.caption {
            let meant = Scores { values: self.meant(caption)?, kind: COSINE };
            sieve.scored(&meant.values, f64::is_finite);
            // An anchor beside it ranks; the caption still bounds.
            if let Some(below) = question.below {
                sieve.scored(&meant.values, |score| score < below.value());
            }
            scores.get_or_insert(meant);
        } else if let (Some(below), Some(scores)) = (question.below, &scores) {
            sieve.scored(&scores.values, |score| score < below.value());
        }
        for filter in &question.filters {
            let by_filter = self.narrow(&mut sieve, filter)?;
            scores = scores.or(by_filter);
        }
        Ok(Standing::new(self.gallery, question.level, sieve.kept(), scores))
    }

    /// Applies a filter. Returns what it could rank by.
    fn narrow(&self, sieve: &mut Sieve, filter: &Filter) -> Result<Option<Scores>, Unanswerable> {
        match filter {
            Filter::FullText(text) => return self.full_text(sieve, text),
            Filter::Semantic { text, min_similarity } => {
                let values = self.meant(text.as_str())?;
                let least = min_similarity.map(Fraction::value);
                sieve.scored(&values, |score| {
                    score.is_finite() && least.is_none_or(|least| 1.0 - score >= least)
                });
                return Ok(Some(Scores { values, kind: COSINE }));
            }
            Filter::Similar { anchor, max_distance } => {
                let values = self.gallery.distances(&self.look(*anchor, None)?);
                let most = max_distance.map(Fraction::value);
                sieve.scored(&values, |score| most.is_none_or(|most| score <= most));
                return Ok(Some(Scores { values, kind: COSINE }));
            }
            Filter::Labels(rule, labels) => sieve.labels(*rule, labels.as_slice()),
            Filter::Tags(tags) => sieve.tags(self.dataset.id, tags.as_slice()),
            Filter::Issue(issue) => sieve.issue(issue),
            Filter::Duplicates(similarity) => sieve.duplicates(*similarity),
            Filter::Uniqueness(score) => sieve.uniqueness(*score),
        }
        Ok(None)
    }

    fn full_text(
        &self,
        sieve: &mut Sieve,
        text: &QueryText,
    ) -> Result<Option<Scores>, Unanswerable> {
        let (expression, wanted) = match parse(text.as_str()).map_err(Unanswerable::FullText)? {
            Match::Some(expression) => (expression, true),
            Match::AllBut(expression) => (expression, false),
        };
        let found = self.store.read(|c| words::matching(c, &expression, wanted))?;
        let rows: HashSet<i64> = found.iter().map(|&(row, _)| row).collect();
        sieve.pictures(&rows, wanted);
        if !wanted {
            return Ok(None);
        }
        let mut values = vec![f32::INFINITY; self.gallery.members.len()];
        for (row, score) in found {
            for &member in self.gallery.of_picture(row) {
                values[member as usize] = score;
            }
        }
        Ok(Some(Scores { values, kind: BM25 }))
    }

    /// The distance of every member from what a text means; infinite for those without a meaning.
    fn meant(&self, text: &str) -> Result<Vec<f32>, Unanswerable> {
        match (self.meaning)(text)? {
            Some(Meaning::Vector(vector)) => Ok(self.gallery.distances_in_meaning(&vector)),
            Some(Meaning::Unknown) => Ok(vec![f32::INFINITY; self.gallery.members.len()]),
            None => Err(Unanswerable::NoMeaning),
        }
    }

    /// The look of an anchor. With a `level` an uploaded one must have been registered for it and
    /// for this entity type (rule: interface, `GET explore`).
    fn look(&self, anchor: Anchor, level: Option<Granularity>) -> Result<Vec<f16>, Unanswerable> {
        let dataset = self.dataset.id;
        if anchor.kind == AnchorKind::Media {
            let kept = self.gallery.look(anchor.media).map(<[_]>::to_vec);
            let stored = |c: &Connection| media::descriptor(c, dataset, anchor.media);
            let look = match kept {
                Some(look) => Some(look),
                None => self.store.read(stored)?,
            };
            return look.ok_or(Unanswerable::NoAnchor);
        }
        let upload = self.store.read(|c| anchor::find(c, dataset, anchor.media))?;
        let upload = upload.ok_or(Unanswerable::NoAnchor)?;
        let must_equal = |what: &str, value: &str| {
            Unanswerable::Differs(format!(
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
