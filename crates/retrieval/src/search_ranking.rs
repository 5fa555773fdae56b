//! The result of a search, wherever it was computed.

use std::sync::Arc;

use super::{
    RetrievalError, SearchContext, SearchQuery,
    query_run::rank_in_memory,
    ranking::{COSINE_DISTANCE, ClusterRanking},
    table_ranking::TableRanking,
};
use tessera_store::{
    Store,
    search_table::{ClusterMatch, SelectedMember},
};

type SelectedMembers<'a> = Box<dyn Iterator<Item = SelectedMember> + 'a>;

/// Its functions fail with [`RetrievalError::Outdated`] if an operation on the dataset has ended since.
pub enum SearchRanking {
    InMemory(Arc<ClusterRanking>),
    /// Each function reads a table of the store.
    InTable(Box<TableRanking>),
}

impl SearchContext<'_> {
    /// Searches the table of the dataset, if it has one, or else its index.
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

    /// The matching members of all clusters, in the order of the index.
    pub fn members(&self, store: &Store) -> Result<SelectedMembers<'_>, RetrievalError> {
        Ok(match self {
            Self::InMemory(ranking) => Box::new(ranking.members()),
            Self::InTable(ranking) => Box::new(ranking.members(store, None)?.into_iter()),
        })
    }

    /// The matching members of one cluster, in the order of the index.
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

    /// What the scores are, as spelled on the wire; `None` if the query does not rank.
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
