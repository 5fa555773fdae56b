//! Searches a dataset: `SearchContext::search` returns a `SearchRanking`, computed here on an index in memory, or by
//! the database (`table_ranking`). Start here.

use std::{convert::Infallible, io, sync::Arc};

use tessera_model::{
    Anchor, Filter, ScoreKind,
    vql::{Fraction, QueryText},
};
use tessera_search::{
    member_search::{DistanceQuery, Grouping},
    text::name_words::EXACT_NAME_DISTANCE,
};
use tessera_store::StoreError;

use crate::{
    dataset_index::DatasetIndex,
    filter_mask::{condition, retain, retain_scores},
    ranking::{BM25, ClusterRanking, MatchingMembers, Scores, SearchRanking, file_positions},
    search_context::{SearchContext, lower_distances_of_copies},
    search_query::{RetrievalError, SearchQuery, distance_bound},
    table_ranking::TableRanking,
};

impl SearchContext<'_> {
    /// Searches the search table of the dataset if it has one, and otherwise its index in memory.
    pub fn search(&self, query: &SearchQuery) -> Result<Arc<dyn SearchRanking>, RetrievalError> {
        if let Some(ranking) = TableRanking::find(self, query)? {
            return Ok(Arc::new(ranking));
        }
        let ranking = self.indexes.ranking(self.store, self.dataset, query, |index| {
            let mask = vec![true; index.members.len()];
            QueryRun { context: self, index, query, mask, name_distances: Vec::new() }.rank()
        });
        Ok(ranking?)
    }
}

struct QueryRun<'a> {
    context: &'a SearchContext<'a>,
    index: &'a Arc<DatasetIndex>,
    query: &'a SearchQuery,
    /// Whether each member matches.
    mask: Vec<bool>,
    /// The distances of members that were found by their names.
    name_distances: Vec<f32>,
}

impl QueryRun<'_> {
    fn rank(mut self) -> Result<ClusterRanking, RetrievalError> {
        let query = self.query;
        let mut scores = None;
        if let Grouping::Duplicates(similarity) = query.grouping {
            let similarities = &self.index.members.near_duplicate_similarities;
            retain(&mut self.mask, |member| similarities[member] >= similarity);
        }
        if let Some(anchor) = query.anchor {
            scores = Some(cosine(self.visual_distances(anchor)?));
        }
        if let Some(caption) = &query.caption {
            let semantic = cosine(self.text_distances(caption)?);
            retain_scores(&mut self.mask, &semantic.values, f64::is_finite);
            // If there is an anchor as well, the anchor ranks and the caption only limits.
            if let Some(max) = query.max_score.map(distance_bound) {
                retain_scores(&mut self.mask, &semantic.values, |score| score < max);
            }
            scores.get_or_insert(semantic);
        }
        for (index, filter) in query.filters.iter().enumerate() {
            let by_filter = self.apply_filter(filter).map_err(|cause| cause.in_filter(index))?;
            scores = scores.or(by_filter);
        }
        if let (Some(max), None) = (query.max_score.map(distance_bound), &query.caption) {
            let distances =
                scores.as_ref().filter(|scores| scores.kind == ScoreKind::COSINE_DISTANCE);
            let distances = distances.ok_or(RetrievalError::NoSimilarity)?;
            retain_scores(&mut self.mask, &distances.values, |score| score < max);
        }
        let mask = self.mask;
        let files = &self.index.members.properties;
        let positions = query.order.map(|order| file_positions(files, &mask, order));
        let found = MatchingMembers { mask, scores, positions };
        let index = self.index.clone();
        Ok(ClusterRanking::new(index, query.grouping, found, self.name_distances))
    }

    /// Applies a filter. Returns the scores by which the filter can rank.
    fn apply_filter(&mut self, filter: &Filter) -> Result<Option<Scores>, RetrievalError> {
        match filter {
            Filter::FullText(text) => return self.apply_full_text(text),
            Filter::Semantic { text, min_similarity } => {
                let values = self.text_distances(text.as_str())?;
                let min = min_similarity.map(Fraction::value);
                retain_scores(&mut self.mask, &values, |score| {
                    score.is_finite() && min.is_none_or(|min| 1.0 - score >= min)
                });
                return Ok(Some(cosine(values)));
            }
            Filter::Similar { anchor, max_distance } => {
                let values = self.visual_distances(*anchor)?;
                let max = max_distance.map(distance_bound);
                retain_scores(&mut self.mask, &values, |score| max.is_none_or(|max| score < max));
                return Ok(Some(cosine(values)));
            }
            _ => {}
        }
        if let Some(holds) = condition(self.context, self.index, filter)? {
            retain(&mut self.mask, holds);
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
        retain(&mut self.mask, |member| flags[member]);
        Ok(matching.then_some(Scores { values, kind: BM25 }))
    }

    /// Returns the distance of every member from a picture. A copy is nearer than its vector.
    fn visual_distances(&self, anchor: Anchor) -> Result<Vec<f32>, RetrievalError> {
        let picture = self.context.query_picture(anchor)?;
        let mut distances = self.distances(&picture.distance)?;
        let members = &self.index.members;
        lower_distances_of_copies(self.context, picture, members, &mut distances)?;
        Ok(distances)
    }

    /// Returns the distance of every member from a text, which is infinite for members without text. Remembers which
    /// distances names have.
    fn text_distances(&mut self, text: &str) -> Result<Vec<f32>, RetrievalError> {
        let search = self.context.query_text(text)?;
        let index = self.index;
        let mut distances = match &search.vectors {
            Some(query) => self.distances(query)?,
            None => vec![f32::INFINITY; index.members.len()],
        };
        if let Some(exact) = &search.exact {
            let Ok(factors) = exact.factors(|it| Ok::<_, Infallible>(index.captions.search(it)));
            index.pictures().for_each(&factors, |member, factor| {
                distances[member as usize] *= factor;
            });
        }
        if let Some(names) = &search.names {
            index.pictures().for_each(&index.file_names.find(names), |member, distance| {
                let is_exact = names.is_name(index.members.properties.name(member as usize));
                let distance = if is_exact { EXACT_NAME_DISTANCE } else { distance };
                let known = &mut distances[member as usize];
                *known = known.min(distance);
            });
            self.name_distances.extend(names.distances());
        }
        Ok(distances)
    }

    fn distances(&self, query: &DistanceQuery) -> Result<Vec<f32>, RetrievalError> {
        self.index.distances(query).map_err(|cause| self.unreadable(cause))
    }

    fn unreadable(&self, cause: io::Error) -> RetrievalError {
        StoreError::Io(self.context.store.indexes_dir(), cause).into()
    }
}

fn cosine(values: Vec<f32>) -> Scores {
    Scores { values, kind: ScoreKind::COSINE_DISTANCE }
}
