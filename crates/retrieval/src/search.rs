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
use tessera_store::{
    Store, StoreError,
    search_table::{ClusterMatch, SelectedMember},
};

use crate::{
    dataset_index::DatasetIndex,
    filter_mask::{FilterMask, condition},
    ranking::{BM25, ClusterRanking, MatchingMembers, Scores, file_positions},
    search_context::{SearchContext, lower_distances_of_copies},
    search_query::{RetrievalError, SearchQuery},
    table_ranking::TableRanking,
};

type SelectedMembers<'a> = Box<dyn Iterator<Item = SelectedMember> + 'a>;

/// The result of a search, wherever it was computed. Its functions fail with [`RetrievalError::Outdated`] if an
/// indexing task on the dataset has ended since the search.
pub enum SearchRanking {
    InMemory(Arc<ClusterRanking>),
    /// The result of the database. Each function reads a table of the store.
    InTable(Box<TableRanking>),
}

impl SearchContext<'_> {
    /// Searches the search table of the dataset if it has one, and otherwise its index in memory.
    pub fn search(&self, query: &SearchQuery) -> Result<SearchRanking, RetrievalError> {
        Ok(match TableRanking::find(self, query)? {
            Some(ranking) => SearchRanking::InTable(Box::new(ranking)),
            None => SearchRanking::InMemory(rank_in_memory(self, query)?),
        })
    }
}

impl SearchRanking {
    pub fn page(&self, store: &Store, page: u64) -> Result<Vec<ClusterMatch>, RetrievalError> {
        match self {
            Self::InMemory(ranking) => Ok(ranking.page(page)),
            Self::InTable(ranking) => ranking.page(store, page),
        }
    }

    /// Returns one of the matching clusters by its rank.
    pub fn cluster(
        &self,
        store: &Store,
        rank: u32,
    ) -> Result<Option<ClusterMatch>, RetrievalError> {
        match self {
            Self::InMemory(ranking) => Ok(ranking.cluster(rank)),
            Self::InTable(ranking) => ranking.cluster(store, rank),
        }
    }

    /// Returns the matching members of all clusters, in the order of the index.
    pub fn members(&self, store: &Store) -> Result<SelectedMembers<'_>, RetrievalError> {
        Ok(match self {
            Self::InMemory(ranking) => Box::new(ranking.members()),
            Self::InTable(ranking) => Box::new(ranking.members(store, None)?.into_iter()),
        })
    }

    /// Returns the matching members of one cluster, in the order of the index.
    pub fn members_of(
        &self,
        store: &Store,
        cluster: u32,
    ) -> Result<SelectedMembers<'_>, RetrievalError> {
        Ok(match self {
            Self::InMemory(ranking) => Box::new(ranking.members_of(cluster)),
            Self::InTable(ranking) => Box::new(ranking.members(store, Some(cluster))?.into_iter()),
        })
    }

    /// Returns the matching members of one cluster, best first.
    pub fn best_members_of(
        &self,
        store: &Store,
        cluster: u32,
    ) -> Result<Vec<SelectedMember>, RetrievalError> {
        let ranking = match self {
            Self::InMemory(ranking) => return Ok(ranking.best_members_of(cluster)),
            Self::InTable(ranking) => ranking,
        };
        let mut members = ranking.members(store, Some(cluster))?;
        members.sort_by(|a, b| a.score.unwrap_or_default().total_cmp(&b.score.unwrap_or_default()));
        Ok(members)
    }

    /// Returns the kind of the scores in the spelling of the wire, or `None` if the query does not rank.
    pub fn score_kind(&self) -> Option<&'static str> {
        match self {
            Self::InMemory(ranking) => ranking.score_kind(),
            Self::InTable(ranking) => ranking.score_kind(),
        }
    }

    /// Whether the scores are distances from which similarities can be computed.
    pub fn is_similarity(&self) -> bool {
        self.score_kind() == Some(ScoreKind::COSINE_DISTANCE)
    }

    /// Whether a score says that a member was found by its name. Distances of vectors practically never equal those of
    /// names.
    pub fn is_by_name(&self, score: f32) -> bool {
        let distances = match self {
            Self::InMemory(ranking) => ranking.name_distances(),
            Self::InTable(ranking) => ranking.name_distances(),
        };
        distances.iter().any(|distance| distance.to_bits() == score.to_bits())
    }

    /// Whether only the nearest of the matching members were considered.
    pub fn is_bounded(&self) -> bool {
        match self {
            Self::InMemory(_) => false,
            Self::InTable(ranking) => ranking.is_bounded(),
        }
    }
}

/// Searches the index of the current generation.
fn rank_in_memory(
    context: &SearchContext,
    query: &SearchQuery,
) -> Result<Arc<ClusterRanking>, RetrievalError> {
    context.indexes.ranking(context.store, context.dataset, query, |index| {
        let mask = FilterMask::new(index.members.len());
        QueryRun { context, index, query, mask, name_distances: Vec::new() }.rank()
    })
}

struct QueryRun<'a> {
    context: &'a SearchContext<'a>,
    index: &'a Arc<DatasetIndex>,
    query: &'a SearchQuery,
    mask: FilterMask,
    /// The distances of members that were found by their names.
    name_distances: Vec<f32>,
}

impl QueryRun<'_> {
    fn rank(mut self) -> Result<ClusterRanking, RetrievalError> {
        let query = self.query;
        let mut scores = None;
        if let Grouping::Duplicates(similarity) = query.grouping {
            let similarities = &self.index.members.near_duplicate_similarities;
            self.mask.retain(|member| similarities[member] >= similarity);
        }
        if let Some(anchor) = query.anchor {
            scores = Some(cosine(self.visual_distances(anchor)?));
        }
        if let Some(caption) = &query.caption {
            let semantic = cosine(self.text_distances(caption)?);
            self.mask.by_score(&semantic.values, f64::is_finite);
            // If there is an anchor as well, the anchor ranks and the caption only limits.
            if let Some(max_score) = query.max_score {
                self.mask.by_score(&semantic.values, |score| score < max_score.value());
            }
            scores.get_or_insert(semantic);
        }
        for (index, filter) in query.filters.iter().enumerate() {
            let by_filter = self.apply_filter(filter).map_err(|cause| cause.in_filter(index))?;
            scores = scores.or(by_filter);
        }
        if let (Some(max_score), None) = (query.max_score, &query.caption) {
            let distances =
                scores.as_ref().filter(|scores| scores.kind == ScoreKind::COSINE_DISTANCE);
            let distances = distances.ok_or(RetrievalError::NoSimilarity)?;
            self.mask.by_score(&distances.values, |score| score < max_score.value());
        }
        let mask = self.mask.into_mask();
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
            _ => {}
        }
        if let Some(holds) = condition(self.context, self.index, filter)? {
            self.mask.retain(holds);
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
