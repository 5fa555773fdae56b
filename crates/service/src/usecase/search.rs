//! Browses and searches the clusters of a dataset, and the members of a cluster. A parameter of a search that is not
//! given constrains nothing. Its value comes from the registration of the anchor, or is the default.

use std::{collections::HashMap, sync::Arc};

use super::ServiceError;
use crate::Deployment;
use tessera_model::{
    Anchor, AnchorKind, ClusterId, DatasetId, EntityType, FileOrder, Filter, Granularity, MediaId,
    Operation, Page, Query, Search, TagId, UserTags, vql::Fraction,
};
use tessera_retrieval::{RetrievalError, SearchContext, SearchQuery, SearchRanking};
use tessera_search::member_search::Grouping;
use tessera_store::{
    cluster::{self, ClusterMatch, ClusterRecord, ShownCluster},
    dataset::DatasetRecord,
    duplicate_group,
    query_image::{self, StoredQueryImage},
    tags,
};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SearchParams {
    pub entity: Option<EntityType>,
    pub granularity: Option<Granularity>,
    pub anchor: Option<RequestedAnchor>,
    pub caption: Option<String>,
    /// The bound below which scores must be.
    pub max_score: Option<Fraction>,
    pub filters: Vec<Filter>,
    /// The order of the whole result by a property of files.
    pub order: Option<FileOrder>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RequestedAnchor {
    pub media: MediaId,
    /// The kind of the anchor. `None` means a registered query image if there is one with this identifier, and
    /// otherwise a media item.
    pub kind: Option<AnchorKind>,
}

impl From<&Search> for SearchParams {
    fn from(search: &Search) -> Self {
        let (anchor, caption) = match &search.query {
            Query::Browse => (None, None),
            Query::Similar(anchor) => (Some(*anchor), None),
            Query::Caption { text, max_score } => (None, Some((text, *max_score))),
        };
        Self {
            entity: Some(search.entity),
            granularity: Some(search.granularity),
            anchor: anchor
                .map(|Anchor { media, kind }| RequestedAnchor { media, kind: Some(kind) }),
            caption: caption.map(|(text, _)| text.as_str().to_owned()),
            max_score: caption.and_then(|(_, max_score)| max_score),
            filters: search.filters.clone(),
            order: search.order,
        }
    }
}

impl SearchParams {
    /// Whether the search neither ranks, filters nor sorts, so that the stored clusters are the result.
    pub(crate) fn is_browse(&self) -> bool {
        let ranks = self.anchor.is_some() || self.caption.is_some() || self.max_score.is_some();
        !ranks && self.filters.is_empty() && self.order.is_none()
    }

    pub(super) fn operation(&self) -> Operation {
        if self.anchor.is_some() { Operation::VisualSearch } else { Operation::TextSearch }
    }

    /// Returns what the clusters are: those of a granularity, or groups of near-duplicates if a filter requires
    /// near-duplicates.
    fn grouping(&self, level: Granularity) -> Grouping {
        let similarity = |filter: &Filter| match filter {
            Filter::Duplicates(similarity) => Fraction::new(similarity.value()),
            _ => None,
        };
        let highest = self.filters.iter().filter_map(similarity).max();
        highest.map_or(Grouping::Level(level), Grouping::of_duplicates)
    }
}

impl Deployment {
    /// Completes the parameters. Fails if a parameter differs from the registration of the anchor.
    pub(super) fn search_query(
        &self,
        dataset: DatasetId,
        params: &SearchParams,
    ) -> Result<SearchQuery, ServiceError> {
        let registered = params.anchor.map(|anchor| self.registered_image(dataset, anchor));
        let registered = registered.transpose()?.flatten();
        let anchor = params.anchor.map(|RequestedAnchor { media, .. }| Anchor {
            media,
            kind: if registered.is_some() { AnchorKind::Upload } else { AnchorKind::Media },
        });
        let of_anchor = registered.as_ref();
        let level = require_same_value(
            "threshold",
            params.granularity,
            of_anchor.and_then(|image| image.level),
            |level| level.level().to_string(),
        )?;
        Ok(SearchQuery {
            entity: require_same_value(
                "entity_type",
                params.entity,
                of_anchor.and_then(|image| image.entity),
                |entity| entity.as_str().to_owned(),
            )?,
            grouping: params.grouping(level),
            anchor,
            caption: params.caption.clone(),
            max_score: params.max_score,
            filters: params.filters.clone(),
            order: params.order,
        })
    }

    /// Returns the registered query image behind an anchor, or `None` for a media item.
    fn registered_image(
        &self,
        dataset: DatasetId,
        anchor: RequestedAnchor,
    ) -> Result<Option<StoredQueryImage>, ServiceError> {
        if anchor.kind == Some(AnchorKind::Media) {
            return Ok(None);
        }
        let found = self.store.read(|c| query_image::find(c, dataset, anchor.media))?;
        if found.is_none() && anchor.kind == Some(AnchorKind::Upload) {
            return Err(RetrievalError::AnchorNotFound.into());
        }
        Ok(found)
    }
}

/// Returns the requested value, or else the registered one. Fails if both are given and differ.
fn require_same_value<T: PartialEq + Default>(
    name: &str,
    requested: Option<T>,
    registered: Option<T>,
    text: impl FnOnce(T) -> String,
) -> Result<T, ServiceError> {
    match (requested, registered) {
        (Some(requested), Some(registered)) if requested != registered => {
            let value = text(registered);
            Err(ServiceError::Invalid(format!(
                "{name} must equal the value used when registering the anchor: {value}"
            )))
        }
        (requested, registered) => Ok(requested.or(registered).unwrap_or_default()),
    }
}

/// The maximum number of times that a search is started. An indexing task that ends makes a search start again, but
/// hardly ever twice in a row.
const MAX_ATTEMPTS: u32 = 3;

pub(crate) struct ScoredCluster {
    pub entity: EntityType,
    pub level: Granularity,
    pub cluster: ClusterRecord,
    pub scores: Option<PreviewScores>,
    /// The path of the original of each preview, if the settings show paths.
    pub original_paths: Vec<Option<String>>,
    /// The identifiers of the tags of the cluster, in their order.
    pub tag_ids: Vec<TagId>,
    /// The tags and ratings of the media items of the previews that have some.
    pub given: HashMap<MediaId, UserTags>,
}

pub(crate) struct PreviewScores {
    /// The kind of the scores, in the spelling of the wire.
    pub kind: &'static str,
    pub values: Vec<f32>,
    /// Whether each preview was found by its folder or file name.
    pub by_name: Vec<bool>,
}

impl PreviewScores {
    /// Returns the scores of a ranking, or `None` if it does not rank.
    fn new(ranking: &dyn SearchRanking, values: Vec<f32>) -> Option<Self> {
        let kind = ranking.score_kind()?;
        let by_name = values.iter().map(|score| ranking.is_by_name(*score)).collect();
        Some(Self { kind, values, by_name })
    }
}

/// A cluster, with the ranking of the members that match a search.
pub(super) struct RankedCluster {
    pub entity: EntityType,
    pub grouping: Grouping,
    pub rank: u32,
    pub ranking: Arc<dyn SearchRanking>,
}

/// One page of clusters.
pub(crate) struct ClusterPage {
    pub clusters: Vec<ScoredCluster>,
    /// Whether only the nearest media of a large dataset were considered.
    pub is_bounded: bool,
}

impl Deployment {
    pub(crate) fn find_clusters(
        &self,
        id: DatasetId,
        params: &SearchParams,
        page: u64,
    ) -> Result<ClusterPage, ServiceError> {
        if params.is_browse() {
            let clusters = self.browse(id, params, page)?;
            return Ok(ClusterPage { clusters, is_bounded: false });
        }
        until_current(|| self.search(id, params, page))
    }

    /// Returns one page of clusters. During the first indexing, each media item that was found so far is a cluster.
    fn browse(
        &self,
        id: DatasetId,
        params: &SearchParams,
        page: u64,
    ) -> Result<Vec<ScoredCluster>, ServiceError> {
        let record = self.require_dataset(id)?;
        let entity = params.entity.unwrap_or_default();
        let level = params.granularity.unwrap_or_default();
        let (mut clusters, are_stored) = self.store.read(|c| {
            Ok(if cluster::any(c, id)? {
                (cluster::page(c, id, entity, level, page)?, true)
            } else {
                (cluster::single_item_page(c, id, entity, level, page)?, false)
            })
        })?;
        if are_stored {
            let first = page.saturating_mul(Page::SIZE as u64);
            let ranks = (first..).map(|rank| u32::try_from(rank).unwrap_or(u32::MAX));
            self.add_user_tags(&record, entity, level, ranks.zip(&mut clusters))?;
        }
        let scored = |cluster| self.scored(entity, level, cluster, None);
        self.with_given(id, clusters.into_iter().map(scored).collect::<Result<_, _>>()?)
    }

    fn search(
        &self,
        id: DatasetId,
        params: &SearchParams,
        page: u64,
    ) -> Result<ClusterPage, ServiceError> {
        let operation = params.operation();
        let record = self.require_ready(id, operation)?;
        require_searchable(&record, operation)?;
        let query = self.search_query(id, params)?;
        let result = self.search_context(&record).search(&query)?;
        let (entity, grouping) = (query.entity, query.grouping);
        let matches = result.page(page)?;
        let found = self.shown_clusters(&record, entity, grouping, &matches)?;
        let scored = matches.iter().zip(found).filter_map(|(matching, found)| {
            let (cluster, values) = found?;
            let scores = PreviewScores::new(&*result, values);
            let cluster = ClusterRecord { counts: matching.counts, ..cluster };
            Some(self.scored(entity, grouping.granularity(), cluster, scores))
        });
        let clusters = self.with_given(id, scored.collect::<Result<_, _>>()?)?;
        Ok(ClusterPage { clusters, is_bounded: result.is_bounded() })
    }

    /// Reads clusters with these members as previews, and the scores of the previews.
    fn shown_clusters(
        &self,
        record: &DatasetRecord,
        entity: EntityType,
        grouping: Grouping,
        shown: &[ClusterMatch],
    ) -> Result<Vec<Option<ShownCluster>>, ServiceError> {
        let level = match grouping {
            Grouping::Level(level) => level,
            Grouping::Duplicates(similarity) => {
                return Ok(self.store.read(|c| {
                    duplicate_group::with_previews(c, record.id, entity, similarity, shown)
                })?);
            }
        };
        let mut found =
            self.store.read(|c| cluster::with_previews(c, record.id, entity, level, shown))?;
        let ranked = shown.iter().zip(&mut found);
        let ranked =
            ranked.filter_map(|(shown, found)| Some((shown.cluster, &mut found.as_mut()?.0)));
        self.add_user_tags(record, entity, level, ranked)?;
        Ok(found)
    }

    fn scored(
        &self,
        entity: EntityType,
        level: Granularity,
        cluster: ClusterRecord,
        scores: Option<PreviewScores>,
    ) -> Result<ScoredCluster, ServiceError> {
        let original_paths = self.original_paths(&cluster.previews)?;
        Ok(ScoredCluster {
            entity,
            level,
            cluster,
            scores,
            original_paths,
            tag_ids: Vec::new(),
            given: HashMap::new(),
        })
    }

    /// Puts the most frequent tags of users before those of the sidecars, which the clusters have already.
    fn add_user_tags<'a>(
        &self,
        record: &DatasetRecord,
        entity: EntityType,
        level: Granularity,
        clusters: impl Iterator<Item = (u32, &'a mut ClusterRecord)>,
    ) -> Result<(), ServiceError> {
        let by_users = self.indexes.user_tags(&self.store, record)?;
        let clusters: Vec<(u32, &mut ClusterRecord)> = clusters.collect();
        let ranks = clusters.iter().map(|(rank, _)| *rank);
        let mut tags = by_users.of_clusters(entity, level, ranks);
        for (rank, cluster) in clusters {
            let mut user_tags: Vec<String> =
                tags.remove(&rank).unwrap_or_default().into_iter().map(str::to_owned).collect();
            cluster.tags.retain(|tag| !user_tags.contains(tag));
            user_tags.append(&mut cluster.tags);
            cluster.tags = user_tags;
        }
        Ok(())
    }

    /// Adds the identifiers of tags, and the tags and ratings of the media items of the previews.
    fn with_given(
        &self,
        dataset: DatasetId,
        mut clusters: Vec<ScoredCluster>,
    ) -> Result<Vec<ScoredCluster>, ServiceError> {
        let media = |found: &ScoredCluster| -> Vec<MediaId> {
            found.cluster.previews.iter().map(|preview| preview.media).collect()
        };
        let shown: Vec<MediaId> = clusters.iter().flat_map(media).collect();
        let (ids, all) =
            self.store.read(|c| Ok((tags::ids(c, dataset)?, tags::of_media(c, &shown)?)))?;
        for found in &mut clusters {
            let names = found.cluster.tags.iter();
            found.tag_ids = names.map(|name| ids.of(dataset, name)).collect();
            let shown = media(found).into_iter();
            found.given = shown.filter_map(|id| Some((id, all.get(&id)?.clone()))).collect();
        }
        Ok(clusters)
    }

    /// Finds a cluster. If an entity type or a granularity was requested, the cluster must have it. A group of
    /// near-duplicates has no granularity.
    pub(super) fn ranked_cluster(
        &self,
        record: &DatasetRecord,
        id: ClusterId,
        params: &SearchParams,
    ) -> Result<RankedCluster, ServiceError> {
        let found = self.store.read(|c| cluster::locate(c, record.id, id))?;
        let found = found.filter(|(entity, grouping, _)| {
            let is_requested = |level| Grouping::Level(level) == *grouping;
            params.entity.is_none_or(|requested| requested == *entity)
                && (matches!(grouping, Grouping::Duplicates(_))
                    || params.granularity.is_none_or(is_requested))
        });
        let (entity, grouping, rank) =
            found.ok_or_else(|| ServiceError::NotFound(format!("Cluster {id} not found")))?;
        let granularity = match grouping {
            Grouping::Level(level) => Some(level),
            Grouping::Duplicates(_) => params.granularity,
        };
        let params = SearchParams { entity: Some(entity), granularity, ..params.clone() };
        let query = SearchQuery { grouping, ..self.search_query(record.id, &params)? };
        let ranking = self.search_context(record).search(&query)?;
        Ok(RankedCluster { entity, grouping, rank, ranking })
    }

    /// Returns a cluster with one page of its members as previews, best first, or `None` past the last member.
    pub(crate) fn member_page(
        &self,
        dataset: DatasetId,
        id: ClusterId,
        params: &SearchParams,
        page: u64,
    ) -> Result<Option<ScoredCluster>, ServiceError> {
        until_current(|| self.current_member_page(dataset, id, params, page))
    }

    fn current_member_page(
        &self,
        dataset: DatasetId,
        id: ClusterId,
        params: &SearchParams,
        page: u64,
    ) -> Result<Option<ScoredCluster>, ServiceError> {
        let record = self.require_dataset(dataset)?;
        let RankedCluster { entity, grouping, rank, ranking } =
            self.ranked_cluster(&record, id, params)?;
        let skip = usize::try_from(page.saturating_mul(Page::SIZE as u64)).unwrap_or(usize::MAX);
        let members = ranking.best_members_of(rank)?;
        let members = members.into_iter().skip(skip).take(Page::SIZE);
        let best_members = members.map(|member| (member.row, member.score)).collect();
        let shown = [ClusterMatch { cluster: rank, best_members, ..ClusterMatch::default() }];
        let mut found = self.shown_clusters(&record, entity, grouping, &shown)?;
        let mut found = found.pop().flatten().filter(|(cluster, _)| !cluster.previews.is_empty());
        if let (Grouping::Duplicates(_), Some((group, _))) = (grouping, &mut found) {
            let counted = ranking.cluster(rank)?;
            group.counts = counted.map(|counted| counted.counts).unwrap_or_default();
        }
        let page = found.map(|(cluster, values)| {
            let scores = PreviewScores::new(&*ranking, values);
            self.scored(entity, grouping.granularity(), cluster, scores)
        });
        Ok(self.with_given(dataset, page.transpose()?.into_iter().collect())?.pop())
    }

    pub(super) fn search_context<'a>(&'a self, dataset: &'a DatasetRecord) -> SearchContext<'a> {
        SearchContext {
            store: &self.store,
            pictures: &self.originals.pictures,
            indexes: &self.indexes,
            models: &self.models,
            dataset,
            limits: self.settings.search_tables,
        }
    }
}

/// Fails before the first indexing has ended.
pub(super) fn require_searchable(
    record: &DatasetRecord,
    operation: Operation,
) -> Result<(), ServiceError> {
    if record.generation > 0 {
        return Ok(());
    }
    Err(ServiceError::Conflict(format!(
        "Operation '{}' is blocked while the dataset is indexed for the first time",
        operation.code()
    )))
}

/// Repeats a search if an indexing task has ended meanwhile.
pub(super) fn until_current<T>(
    mut search: impl FnMut() -> Result<T, ServiceError>,
) -> Result<T, ServiceError> {
    for _ in 1..MAX_ATTEMPTS {
        match search() {
            Err(ServiceError::Retrieval(RetrievalError::Outdated)) => {}
            found => return found,
        }
    }
    search()
}
