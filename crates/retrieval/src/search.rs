//! Searches a dataset: `SearchContext` has what a search works with and resolves the parts of a query, and its `search`
//! returns a `SearchRanking`, computed in memory (`query_run`) or by the database (`table_ranking`). Start here.

use std::{io, sync::Arc};

use tessera_encoder::Encoder;
use tessera_model::{
    Anchor, AnchorKind, EntityType, Filter, Granularity,
    vql::{Fraction, QueryText},
};
use tessera_search::{
    member_search::{DistanceQuery, MemberVector, MergeRule, VectorQuery},
    text::full_text_query::{FullTextQuery, SyntaxError, parse},
};
use tessera_store::{
    Store, StoreError, applied_model,
    dataset::DatasetRecord,
    picture_features::{self, PictureFeatures},
    picture_table::StoredPicture,
    query_image,
    search_table::{ClusterMatch, SearchTableLimits, SelectedMember},
};

use crate::{
    IndexCache,
    query_run::rank_in_memory,
    ranking::{COSINE_DISTANCE, ClusterRanking},
    stored_pictures::StoredPictures,
    table_ranking::TableRanking,
};

/// The parts of a deployment that a search works with.
pub struct SearchContext<'a> {
    pub store: &'a Store,
    pub pictures: &'a StoredPictures,
    pub indexes: &'a IndexCache,
    /// The encoders of the user's own model, if there is one.
    pub model: Option<&'a Encoder>,
    pub dataset: &'a DatasetRecord,
    pub limits: SearchTableLimits,
}

/// The anchor of a search.
pub(super) struct QueryPicture {
    pub distance: DistanceQuery,
    pub features: PictureFeatures,
    pub thumbnail: Option<StoredPicture>,
}

impl SearchContext<'_> {
    /// Returns what media items are compared with: the descriptor, and the vector of the user's model if the dataset has
    /// vectors of this model.
    pub(super) fn query_picture(&self, anchor: Anchor) -> Result<QueryPicture, RetrievalError> {
        let (store, dataset) = (self.store, self.dataset.id);
        let found = if anchor.kind == AnchorKind::Upload {
            let upload = store.read(|c| query_image::find(c, dataset, anchor.media))?;
            upload.map(|upload| (upload.features, Some(StoredPicture::InStore(upload.thumbnail))))
        } else {
            store.read(|c| picture_features::find(c, dataset, anchor.media))?
        };
        let (features, thumbnail) = found.ok_or(RetrievalError::AnchorNotFound)?;
        let vector = features.descriptor.clone();
        let builtin = VectorQuery { of: MemberVector::Descriptor, vector };
        let distance = match &features.model_vector {
            Some(vector) if self.applied_model()?.is_some() => {
                let model = VectorQuery { of: MemberVector::Model, vector: vector.clone() };
                DistanceQuery::Merged { builtin, model, rule: MergeRule::Weighted }
            }
            _ => DistanceQuery::Single(builtin),
        };
        Ok(QueryPicture { distance, features, thumbnail })
    }

    /// Returns the distance from a text: by captions and labels, and by the user's model if it takes texts and the dataset has
    /// vectors of this model. `None` if no word of the text is known.
    pub(super) fn distance_from_text(
        &self,
        text: &str,
    ) -> Result<Option<DistanceQuery>, RetrievalError> {
        let space = self.indexes.text_space(self.store, self.dataset)?;
        let model = self.applied_model()?.filter(|model| model.takes_texts());
        if space.is_none() && model.is_none() {
            return Err(RetrievalError::NoTextEmbeddings);
        }
        let builtin = space.and_then(|space| space.embed(text));
        let builtin = builtin.map(|vector| VectorQuery { of: MemberVector::Embedding, vector });
        let by_model = model.map(|model| model.embed_text(text)).transpose();
        let by_model = by_model.map_err(RetrievalError::UnencodableText)?;
        let by_model = by_model.map(|vector| VectorQuery { of: MemberVector::Model, vector });
        Ok(match (builtin, by_model) {
            (Some(builtin), Some(model)) => {
                Some(DistanceQuery::Merged { builtin, model, rule: MergeRule::BuiltinFirst })
            }
            (builtin, model) => builtin.or(model).map(DistanceQuery::Single),
        })
    }

    /// Returns the user's model if the dataset has vectors of this model.
    fn applied_model(&self) -> Result<Option<&Encoder>, RetrievalError> {
        let Some(model) = self.model else { return Ok(None) };
        let applied = self.store.read(|c| applied_model::fingerprint(c, self.dataset.id))?;
        Ok((applied == Some(model.fingerprint())).then_some(model))
    }

    /// Parses a query over captions, in the language in which they are indexed.
    pub(super) fn full_text_query(
        &self,
        text: &QueryText,
    ) -> Result<FullTextQuery, RetrievalError> {
        parse(text.as_str(), self.dataset.language.indexed).map_err(RetrievalError::FullText)
    }
}

/// The query of a search. Equal queries have equal results within a generation.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SearchQuery {
    pub entity: EntityType,
    /// Ranks by similarity to an image.
    pub anchor: Option<Anchor>,
    /// Ranks by the meaning of a text.
    pub caption: Option<String>,
    /// The score that results must be below.
    pub max_score: Option<Fraction>,
    pub filters: Vec<Filter>,
    pub granularity: Granularity,
}

type SelectedMembers<'a> = Box<dyn Iterator<Item = SelectedMember> + 'a>;

/// The result of a search, wherever it was computed. Its functions fail with [`RetrievalError::Outdated`] if an indexing task on
/// the dataset has ended since.
pub enum SearchRanking {
    InMemory(Arc<ClusterRanking>),
    /// Each function reads a table of the store.
    InTable(Box<TableRanking>),
}

impl SearchContext<'_> {
    /// Searches the table of the dataset if it has one, and its index in memory if not.
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

    /// Returns the kind of the scores, as spelled on the wire; `None` if the query does not rank.
    pub fn score_kind(&self) -> Option<&'static str> {
        match self {
            Self::InMemory(ranking) => ranking.score_kind(),
            Self::InTable(ranking) => ranking.score_kind(),
        }
    }

    /// Whether the scores are distances that similarities can be computed from.
    pub fn is_similarity(&self) -> bool {
        self.score_kind() == Some(COSINE_DISTANCE)
    }

    /// Whether only the nearest of the matching members were considered.
    pub fn is_bounded(&self) -> bool {
        match self {
            Self::InMemory(_) => false,
            Self::InTable(ranking) => ranking.is_bounded(),
        }
    }
}

/// The reason why a query has no result.
#[derive(Debug)]
pub enum RetrievalError {
    AnchorNotFound,
    /// No media item has an embedding that a text could be compared with.
    NoTextEmbeddings,
    /// The query has a maximum score, but nothing that ranks by similarity.
    NoSimilarity,
    /// The encoder rejects the text; the message says why.
    UnencodableText(String),
    FullText(SyntaxError),
    /// An indexing task ended while the search ran. The next search finds its result.
    Outdated,
    Store(StoreError),
    /// The thumbnail of the picture to compare with cannot be read from the bucket.
    UnreadableThumbnail(io::Error),
}

impl From<StoreError> for RetrievalError {
    fn from(cause: StoreError) -> Self {
        Self::Store(cause)
    }
}
