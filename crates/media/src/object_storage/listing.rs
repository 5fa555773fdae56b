//! The content of a folder or manifest.

use super::object_entry::ObjectEntry;
use tessera_model::FileKind;

/// Limit on the objects of a manifest, which is read as a whole.
const MAX_MANIFEST_OBJECTS: usize = 1_000_000;

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
    pub fn add(&mut self, entry: ObjectEntry) {
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

    /// Adds a part until `most` media are found.
    pub(super) fn append(&mut self, part: Self, most: usize) {
        self.skipped += part.skipped;
        for entry in part.entries {
            self.truncated = self.media >= most;
            if self.truncated {
                return;
            }
            self.add(entry);
        }
        self.truncated = part.truncated || self.media >= most;
    }

    /// Whether to read on until `most` media of a manifest are found.
    pub(super) fn should_continue(&mut self, most: usize) -> bool {
        self.truncated =
            self.media >= most || self.entries.len() + self.skipped >= MAX_MANIFEST_OBJECTS;
        !self.truncated
    }
}
