//! Searches a large dataset by means of a search table, which the database searches.

use std::{borrow::Cow, sync::Arc};

use tessera_model::{
    Anchor, Filter, ScoreKind, TagId, composed,
    vql::{
        ColumnName, FileProperty, Fraction, IssueFilter, IssueMode, IssueName, Property, QueryText,
    },
};
use tessera_search::{
    member_search::{
        DistanceBound, DistanceQuery, Grouping, IssueRange, MemberCondition, MemberDistance,
        MemberOrder, MemberSearch, MemberVector, VectorQuery,
    },
    similarity::MAX_COPY_CANDIDATES,
    text::full_text_query::FullTextQuery,
};
use tessera_store::{
    Connection, Store, captions,
    cluster::ClusterMatch,
    search_table::{self, SearchTable, SelectedMember, TableSearch},
};

use crate::{
    issues::confidence_range,
    ranking::{BM25, SearchRanking},
    search_context::{QueryPicture, SearchContext, copies_among_rows},
    search_query::{RetrievalError, SearchQuery, distance_bound},
};

/// The ranking of one generation. Each function computes the ranking again, with the same result.
pub struct TableRanking {
    store: Arc<Store>,
    found: TableSearch,
    /// The scores of members that were found by their names.
    name_distances: Vec<f32>,
}

impl TableRanking {
    /// Prepares a search. Returns `None` if the dataset has no search table.
    pub fn find(
        context: &SearchContext,
        query: &SearchQuery,
    ) -> Result<Option<Self>, RetrievalError> {
        let SearchContext { store, dataset, limits, .. } = context;
        if !store.is_on_server() {
            return Ok(None);
        }
        let found = store.read(|c| search_table::find(c, dataset.id, query.entity))?;
        let Some(table) = found else { return Ok(None) };
        if query.order.is_some() {
            return Err(RetrievalError::NoFileOrder);
        }
        if table.generation != dataset.generation {
            return Err(RetrievalError::Outdated);
        }
        let (search, name_distances) = QueryTranslation::new(context, &table).translate(query)?;
        let mut found = TableSearch { table, search, grouping: query.grouping, horizon: None };
        let is_bounded = |c: &Connection| found.exceeds(c, limits.max_exact);
        if read_current(store, &found.table, is_bounded)? {
            found.horizon = Some(limits.horizon);
        }
        Ok(Some(Self { store: Arc::clone(store), found, name_distances }))
    }

    fn read<T>(
        &self,
        read: impl FnOnce(&TableSearch, &Connection) -> tessera_store::Result<T>,
    ) -> Result<T, RetrievalError> {
        read_current(&self.store, &self.found.table, |c| read(&self.found, c))
    }
}

impl SearchRanking for TableRanking {
    fn page(&self, page: u64) -> Result<Vec<ClusterMatch>, RetrievalError> {
        self.read(|found, c| found.page(c, page))
    }

    fn cluster(&self, rank: u32) -> Result<Option<ClusterMatch>, RetrievalError> {
        self.read(|found, c| found.cluster(c, rank))
    }

    fn members(&self, cluster: Option<u32>) -> Result<Vec<SelectedMember>, RetrievalError> {
        self.read(|found, c| found.members(c, cluster))
    }

    fn best_members_of(&self, cluster: u32) -> Result<Vec<SelectedMember>, RetrievalError> {
        let mut members = self.members(Some(cluster))?;
        members.sort_by(|a, b| a.score.unwrap_or_default().total_cmp(&b.score.unwrap_or_default()));
        Ok(members)
    }

    fn score_kind(&self) -> Option<&'static str> {
        match self.found.search.order {
            MemberOrder::Browsing => None,
            MemberOrder::Captions(_) => Some(BM25),
            MemberOrder::Distance(_) => Some(ScoreKind::COSINE_DISTANCE),
        }
    }

    fn name_distances(&self) -> &[f32] {
        &self.name_distances
    }

    fn is_bounded(&self) -> bool {
        self.found.horizon.is_some()
    }
}

/// Reads a search table in one snapshot. Fails if the dataset has another generation by now.
fn read_current<T>(
    store: &Store,
    table: &SearchTable,
    read: impl FnOnce(&Connection) -> tessera_store::Result<T>,
) -> Result<T, RetrievalError> {
    let found = store.read(|c| {
        let is_current = search_table::is_current(c, table)?;
        is_current.then(|| read(c)).transpose()
    });
    match found {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(RetrievalError::Outdated),
        // The table was removed after the snapshot began.
        Err(cause) if cause.is_missing_table() => Err(RetrievalError::Outdated),
        Err(cause) => Err(cause.into()),
    }
}

/// Translates a query into conditions and an order, with the same result as `search` has in memory.
struct QueryTranslation<'a> {
    context: &'a SearchContext<'a>,
    table: &'a SearchTable,
    conditions: Vec<MemberCondition>,
    /// The order by the first part of the query that ranks.
    order: Option<MemberOrder>,
    /// The distances of members that are found by their names.
    name_distances: Vec<f32>,
}

impl<'a> QueryTranslation<'a> {
    fn new(context: &'a SearchContext<'a>, table: &'a SearchTable) -> Self {
        Self { context, table, conditions: Vec::new(), order: None, name_distances: Vec::new() }
    }

    fn translate(
        mut self,
        query: &SearchQuery,
    ) -> Result<(MemberSearch, Vec<f32>), RetrievalError> {
        let max_score = query.max_score.map(distance_bound);
        if let Grouping::Duplicates(similarity) = query.grouping {
            self.conditions.push(MemberCondition::NearDuplicate(similarity.into()));
        }
        if let Some(anchor) = query.anchor {
            self.order = Some(MemberOrder::Distance(self.visual_distance(anchor)?));
        }
        if let Some(caption) = &query.caption {
            // If there is an anchor as well, the anchor ranks and the caption only limits.
            let bound = max_score.map_or(DistanceBound::Exists, DistanceBound::Below);
            self.semantic(caption, bound)?;
        }
        for (index, filter) in query.filters.iter().enumerate() {
            self.filter(filter).map_err(|cause| cause.in_filter(index))?;
        }
        if let (Some(max_score), None) = (max_score, &query.caption) {
            let Some(MemberOrder::Distance(distance)) = self.order.clone() else {
                return Err(RetrievalError::NoSimilarity);
            };
            let bound = DistanceBound::Below(max_score);
            self.conditions.push(MemberCondition::Distance(distance, bound));
        }
        let order = self.order.unwrap_or(MemberOrder::Browsing);
        Ok((MemberSearch { conditions: self.conditions, order }, self.name_distances))
    }

    fn filter(&mut self, filter: &Filter) -> Result<(), RetrievalError> {
        match filter {
            Filter::FullText(text) => self.full_text(text),
            Filter::Semantic { text, min_similarity } => {
                let least = min_similarity.map(Fraction::value);
                let bound = least.map_or(DistanceBound::Exists, DistanceBound::SimilarityFrom);
                self.semantic(text.as_str(), bound)
            }
            Filter::Similar { anchor, max_distance } => {
                let distance = self.visual_distance(*anchor)?;
                let max = max_distance.map(distance_bound);
                let bound = max.map_or(DistanceBound::Exists, DistanceBound::Below);
                self.distance(distance, bound);
                Ok(())
            }
            _ => {
                let condition = self.condition(filter)?;
                self.conditions.extend(condition);
                Ok(())
            }
        }
    }

    /// Returns the condition of a filter, or `None` for a filter that ranks.
    fn condition(&self, filter: &Filter) -> Result<Option<MemberCondition>, RetrievalError> {
        Ok(Some(match filter {
            Filter::FullText(_) | Filter::Semantic { .. } | Filter::Similar { .. } => {
                return Ok(None);
            }
            Filter::Labels(rule, labels) => {
                let names = labels.as_slice().iter().map(|label| composed(label.as_str()));
                MemberCondition::Labels(*rule, names.map(Cow::into_owned).collect())
            }
            Filter::Tags(tags) => {
                let lacks = tags
                    .as_slice()
                    .iter()
                    .map(|tag| Ok(MemberCondition::Not(Box::new(self.tag_condition(*tag)?))));
                let lacks = lacks.collect::<Result<_, RetrievalError>>()?;
                MemberCondition::Not(Box::new(MemberCondition::Any(lacks)))
            }
            Filter::Issue(issue) => issue_condition(issue),
            Filter::Duplicates(similarity) => {
                MemberCondition::NearDuplicate(similarity.value().max(f64::EPSILON))
            }
            Filter::Uniqueness(score) => MemberCondition::Uniqueness(score.value()),
            Filter::Property(filter)
                if *filter.property() == Property::File(FileProperty::Rating) =>
            {
                let by_users = self.context.user_tags()?;
                // Without a rating, an item may match as well.
                let matches_without = filter.matches(None);
                let differ =
                    |row: &i64| filter.matches(by_users.rating_value(*row)) != matches_without;
                let rows = MemberCondition::Rows(by_users.rated_rows().filter(differ).collect());
                if matches_without { MemberCondition::Not(Box::new(rows)) } else { rows }
            }
            Filter::Property(filter) => {
                if let Property::Column(name) = filter.property() {
                    self.require_column(name)?;
                }
                MemberCondition::Property(filter.clone())
            }
            Filter::AnyOf(filters) => {
                let each = filters.as_slice().iter().map(|filter| self.condition(filter));
                let each: Vec<_> = each.collect::<Result<_, _>>()?;
                MemberCondition::Any(each.into_iter().flatten().collect())
            }
            Filter::Not(negated) => match self.condition(negated.filter())? {
                Some(condition) => MemberCondition::Not(Box::new(condition)),
                None => return Ok(None),
            },
        }))
    }

    fn tag_condition(&self, tag: TagId) -> Result<MemberCondition, RetrievalError> {
        let (store, table) = (self.context.store, self.table);
        let by_users = self.context.user_tags()?;
        let name = by_users.ids.name_id(tag);
        let has_tag = || read_current(store, table, |c| search_table::has_tag(c, table, name));
        self.context.require_tag(tag, has_tag)?;
        Ok(MemberCondition::Tag { name, by_users: by_users.rows(name).to_vec() })
    }

    fn require_column(&self, name: &ColumnName) -> Result<(), RetrievalError> {
        let (store, table) = (self.context.store, self.table);
        let has_column = |c: &Connection| search_table::has_column(c, table, name.as_str());
        if read_current(store, table, has_column)? {
            return Ok(());
        }
        let known = read_current(store, table, |c| search_table::column_names(c, table))?;
        Err(RetrievalError::UnknownColumn { name: name.as_str().to_owned(), known })
    }

    fn full_text(&mut self, text: &QueryText) -> Result<(), RetrievalError> {
        let query = self.context.full_text_query(text)?;
        let found = self.context.store.read(|c| captions::search(c, &query))?;
        let matching = !query.is_negated;
        if matching && self.order.is_none() {
            self.order = Some(MemberOrder::Captions(found));
        } else {
            let pictures = found.into_iter().map(|(row, _)| row).collect();
            self.conditions.push(MemberCondition::Captions { pictures, matching });
        }
        Ok(())
    }

    fn semantic(&mut self, text: &str, bound: DistanceBound) -> Result<(), RetrievalError> {
        let (store, table) = (self.context.store, self.table);
        let search = self.context.query_text(text)?;
        // If no word is known, a query without a vector is used, from which nothing has a distance.
        let unknown = VectorQuery { of: MemberVector::Text, vector: Vec::new() };
        let query = search.vectors.unwrap_or(DistanceQuery::Single(unknown));
        let mut distance = MemberDistance::from(query);
        if let Some(exact) = &search.exact {
            let search = |query: &FullTextQuery| store.read(|c| captions::search(c, query));
            distance.factors = exact.factors(search)?;
        }
        if let Some(names) = &search.names {
            let find = |c: &Connection| search_table::find_names(c, table, names);
            distance.names = read_current(store, table, find)?;
            self.name_distances.extend(names.distances());
        }
        self.distance(distance, bound);
        Ok(())
    }

    /// Returns the distance from a picture. Copies among the nearest members are nearer than their vectors.
    fn visual_distance(&self, anchor: Anchor) -> Result<MemberDistance, RetrievalError> {
        let QueryPicture { distance: query, features, .. } = self.context.query_picture(anchor)?;
        let (store, table) = (self.context.store, self.table);
        let nearest =
            |c: &Connection| search_table::nearest(c, table, &query.vectors(), MAX_COPY_CANDIDATES);
        let copies = copies_among_rows(store, &features, &read_current(store, table, nearest)?)?;
        Ok(MemberDistance { copies, ..query.into() })
    }

    fn distance(&mut self, distance: MemberDistance, bound: DistanceBound) {
        self.order.get_or_insert_with(|| MemberOrder::Distance(distance.clone()));
        self.conditions.push(MemberCondition::Distance(distance, bound));
    }
}

fn issue_condition(issue: &IssueFilter) -> MemberCondition {
    let within = issue.mode == IssueMode::In;
    let IssueName::Known(kind) = issue.kind else {
        // A member never has an issue with an unknown name.
        let never = MemberCondition::Never;
        return if within { never } else { MemberCondition::Not(Box::new(never)) };
    };
    let (min, max) = confidence_range(issue).into_inner();
    MemberCondition::Issue(IssueRange { kind, min, max, within })
}
