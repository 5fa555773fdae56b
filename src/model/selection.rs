//! What a selective export takes: media by themselves, and whole clusters with what is left out.

use crate::model::{ClusterId, EntityType, Filter, MediaId};

/// One item of a selection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SelectionItem {
    /// These media.
    Media(Vec<MediaId>),
    /// The members of a cluster: all of them, not only those seen as previews.
    Cluster {
        /// The cluster.
        cluster: ClusterId,
        /// What its members are.
        entity: EntityType,
        /// What members must also be.
        filters: Vec<Filter>,
        /// Members left out.
        exclude: Vec<MediaId>,
    },
}
