//! The rows of the metadata, whatever their format.

use std::collections::HashSet;

use super::{ArchiveContent, unique_names::UniqueNames};
use crate::{signed_link::media_link, task_error::TaskError};
use tessera_retrieval::issues;
use tessera_store::{
    export::{self, ExportEntry},
    preview::StoredPreview,
};

pub struct MetadataRow {
    pub entry: ExportEntry,
    pub objects: Vec<ExportEntry>,
    /// Its name below `images/`, if it is included.
    pub image: Option<String>,
    /// The signed link of the original in the service.
    pub url: String,
}

pub fn issue_list(entry: &ExportEntry) -> Vec<(&'static str, f64)> {
    let Some(assignment) = &entry.assignment else {
        return Vec::new();
    };
    let found = issues::detected_issues(entry.media.sharpness, entry.media.brightness, assignment);
    found.map(|(kind, confidence)| (kind.as_str(), confidence)).collect()
}

pub fn uniqueness(entry: &ExportEntry) -> Option<f64> {
    entry.assignment.map(|assignment| assignment.uniqueness.into())
}

/// Calls `each` with every row, with the names that the pictures have in the archive.
pub fn for_each_row(
    content: &ArchiveContent,
    missing: &HashSet<i64>,
    mut each: impl FnMut(MetadataRow) -> Result<(), TaskError>,
) -> Result<(), TaskError> {
    let mut names = UniqueNames::default();
    let origin = &content.export.origin;
    let with_objects = content.dataset.n_objects > 0;
    export::for_each_entry(content.connection, content.export, |entry| {
        let image = content
            .export
            .spec
            .include_images
            .then(|| names.unique(&entry.media.file_name()))
            .filter(|_| !missing.contains(&entry.media.row));
        let StoredPreview { media, version, .. } = StoredPreview::from(&entry.media);
        let url = media_link(content.link_key, origin, media, &version, "original");
        let picture = entry.media.row;
        let objects = with_objects
            .then(|| export::object_entries(content.connection, content.export.id, picture));
        let objects = objects.transpose()?.unwrap_or_default();
        each(MetadataRow { entry, objects, image, url })
    })
}
