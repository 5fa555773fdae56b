//! Reads the keypoints of a scope's members from the store, in the order of row numbers.

use std::ops::Range;

use super::{TaskContext, clustered_media::ClusteredMedia};
use crate::task_error::TaskError;
use tessera_model::{DatasetId, EntityType};
use tessera_search::similarity::KeypointSource;
use tessera_store::{QueryError, picture_features};

pub(super) struct StoredKeypoints<'a> {
    pub(super) context: &'a TaskContext,
    pub(super) dataset: DatasetId,
    pub(super) entity: EntityType,
    pub(super) source: Option<i64>,
    pub(super) members: &'a ClusteredMedia,
    pub(super) corners: usize,
}

impl KeypointSource for StoredKeypoints<'_> {
    type Error = TaskError;

    fn rows(&self) -> usize {
        self.members.len()
    }

    fn corners(&self) -> usize {
        self.corners
    }

    fn for_each(
        &self,
        positions: Range<usize>,
        mut each: impl FnMut(u32, &[u8]),
    ) -> Result<(), TaskError> {
        let Some(rows) = self.members.rows_in_order(positions) else { return Ok(()) };
        let read = self.context.store.read(|c| {
            picture_features::for_each_look(
                c,
                self.dataset,
                self.entity,
                self.source,
                rows.clone(),
                |look| {
                    self.context.check_cancelled().map_err(|_| QueryError::Stopped)?;
                    if let Some(position) = self.members.position(look.media) {
                        each(position, look.keypoints);
                    }
                    Ok::<_, QueryError>(())
                },
            )
        });
        Ok(read?)
    }
}
