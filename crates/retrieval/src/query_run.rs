//! Runs a query on an index in memory: resolves the parts that rank to vectors, filters, and ranks the remaining clusters.
//! `table_ranking` does the same by SQL.

use std::{io, sync::Arc};

use tessera_model::{
    Anchor, Filter,
    vql::{Fraction, QueryText},
};
use tessera_search::member_search::DistanceQuery;
use tessera_store::StoreError;

use crate::{
    RetrievalError, SearchContext, SearchQuery, copies,
    dataset_index::DatasetIndex,
    filter_mask::FilterMask,
    ranking::{BM25, COSINE_DISTANCE, ClusterRanking, Scores},
};

/// Searches the index of the current generation.
pub fn rank_in_memory(
    context: &SearchContext,
    query: &SearchQuery,
) -> Result<Arc<ClusterRanking>, RetrievalError> {
    context.indexes.ranking(context.store, context.dataset, query, |index| {
        QueryRun { context, index, query, mask: FilterMask::new(index) }.rank()
    })
}

struct QueryRun<'a> {
    context: &'a SearchContext<'a>,
    index: &'a Arc<DatasetIndex>,
    query: &'a SearchQuery,
    mask: FilterMask<'a>,
}

impl QueryRun<'_> {
    fn rank(mut self) -> Result<ClusterRanking, RetrievalError> {
        let query = self.query;
        let mut scores = None;
        if let Some(anchor) = query.anchor {
            scores = Some(cosine(self.visual_distances(anchor)?));
        }
        if let Some(caption) = &query.caption {
            let semantic = cosine(self.semantic_distances(caption)?);
            self.mask.by_score(&semantic.values, f64::is_finite);
            // If there is an anchor, too, the anchor ranks and the caption still limits.
            if let Some(max_score) = query.max_score {
                self.mask.by_score(&semantic.values, |score| score < max_score.value());
            }
            scores.get_or_insert(semantic);
        }
        for filter in &query.filters {
            let by_filter = self.apply_filter(filter)?;
            scores = scores.or(by_filter);
        }
        if let (Some(max_score), None) = (query.max_score, &query.caption) {
            let distances = scores.as_ref().filter(|scores| scores.kind == COSINE_DISTANCE);
            let distances = distances.ok_or(RetrievalError::NoSimilarity)?;
            self.mask.by_score(&distances.values, |score| score < max_score.value());
        }
        Ok(ClusterRanking::new(
            self.index.clone(),
            query.granularity,
            self.mask.into_mask(),
            scores,
        ))
    }

    /// Applies a filter. Returns the scores by which the filter can rank.
    fn apply_filter(&mut self, filter: &Filter) -> Result<Option<Scores>, RetrievalError> {
        match filter {
            Filter::FullText(text) => return self.apply_full_text(text),
            Filter::Semantic { text, min_similarity } => {
                let values = self.semantic_distances(text.as_str())?;
                let min = min_similarity.map(Fraction::value);
                self.mask.by_score(&values, |score| {
                    score.is_finite() && min.is_none_or(|min| 1.0 - score >= min)
                });
                return Ok(Some(cosine(values)));
            }
            Filter::Similar { anchor, max_distance } => {
                let values = self.visual_distances(*anchor)?;
                let max = max_distance.map(Fraction::value);
                self.mask.by_score(&values, |score| max.is_none_or(|max| score <= max));
                return Ok(Some(cosine(values)));
            }
            Filter::Labels(rule, labels) => self.mask.labels(*rule, labels.as_slice()),
            Filter::Tags(tags) => self.mask.tags(self.context.dataset.id, tags.as_slice()),
            Filter::Issue(issue) => self.mask.issue(issue),
            Filter::Duplicates(similarity) => self.mask.duplicates(*similarity),
            Filter::Uniqueness(score) => self.mask.uniqueness(*score),
        }
        Ok(None)
    }

    fn apply_full_text(&mut self, text: &QueryText) -> Result<Option<Scores>, RetrievalError> {
        let query = self.context.full_text_query(text)?;
        let found = self.index.captions.search(&query);
        let matching = !query.is_negated;
        let members = self.index.members.len();
        let mut flags = vec![!matching; members];
        let mut values = vec![f32::INFINITY; if matching { members } else { 0 }];
        self.index.pictures().for_each(&found, |member, score| {
            flags[member as usize] = matching;
            if let Some(value) = values.get_mut(member as usize) {
                *value = score;
            }
        });
        self.mask.by_flag(&flags);
        Ok(matching.then_some(Scores { values, kind: BM25 }))
    }

    /// Returns the distance of every member from a picture. Copies are nearer than their vectors.
    fn visual_distances(&self, anchor: Anchor) -> Result<Vec<f32>, RetrievalError> {
        let picture = self.context.query_picture(anchor)?;
        let mut distances = self.distances(&picture.distance)?;
        let members = &self.index.members;
        copies::apply_to_members(self.context, picture, members, &mut distances)?;
        Ok(distances)
    }

    /// Returns the distance of every member from a text; infinite for members without one.
    fn semantic_distances(&self, text: &str) -> Result<Vec<f32>, RetrievalError> {
        match self.context.distance_from_text(text)? {
            Some(query) => self.distances(&query),
            None => Ok(vec![f32::INFINITY; self.index.members.len()]),
        }
    }

    fn distances(&self, query: &DistanceQuery) -> Result<Vec<f32>, RetrievalError> {
        self.index.distances(query).map_err(|cause| self.unreadable(cause))
    }

    fn unreadable(&self, cause: io::Error) -> RetrievalError {
        StoreError::Io(self.context.store.indexes_dir(), cause).into()
    }
}

fn cosine(values: Vec<f32>) -> Scores {
    Scores { values, kind: COSINE_DISTANCE }
}
