//! Numbers the labels of objects. All labels of a dataset are numbered in alphabetical order, also if only some of its
//! objects are exported, so that all exports of a dataset use the same numbers until a label is added or removed.

use super::metadata::ArchiveContent;
use crate::task_error::TaskError;
use tessera_store::export;

pub(super) struct Categories(Vec<String>);

impl Categories {
    pub(super) fn of(content: &ArchiveContent) -> Result<Self, TaskError> {
        Ok(Self(export::object_labels(content.connection, content.dataset.id)?))
    }

    /// Returns the labels in the order of their numbers.
    pub(super) fn labels(&self) -> &[String] {
        &self.0
    }

    /// Returns the number of a label, counted from 0.
    pub(super) fn number(&self, label: &str) -> u64 {
        self.0.partition_point(|other| other.as_str() < label) as u64
    }
}
