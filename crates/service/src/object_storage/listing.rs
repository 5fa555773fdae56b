//! The content of a folder or manifest.

use super::object_entry::ObjectEntry;
use tessera_model::FileKind;

pub const MAX_OBJECTS: usize = 1_000_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectListing {
    /// Media and sidecars, in listing order.
    pub entries: Vec<ObjectEntry>,
    pub media: usize,
    /// Number of objects that are neither, or whose keys are not addressable.
    pub skipped: usize,
    /// Whether there may be further objects.
    pub truncated: bool,
}

impl ObjectListing {
    pub(super) fn add(&mut self, entry: ObjectEntry) {
        match entry.file_kind() {
            FileKind::Picture | FileKind::Video => self.media += 1,
            FileKind::Sidecar => {}
            FileKind::Archive | FileKind::Other => {
                self.skipped += 1;
                return;
            }
        }
        self.entries.push(entry);
    }

    /// Whether to continue until `most` media are found.
    pub(super) fn should_continue(&mut self, most: usize) -> bool {
        self.truncated = self.media >= most || self.entries.len() + self.skipped >= MAX_OBJECTS;
        !self.truncated
    }
}
