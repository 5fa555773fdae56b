//! Query images, and the recently used ones.

use std::path::PathBuf;

use tessera_model::{PictureSource, Preview, Region, SafeText};
use tessera_picture::PictureSubject;

/// A picture that is uploaded to search by it, or by a region of it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryImage {
    pub subject: PictureSubject,
    pub source: PictureSource,
    pub name: SafeText,
    /// The region to search by. `None` searches by the whole picture.
    pub region: Option<Region>,
}

impl QueryImage {
    pub fn file(path: PathBuf) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let name = SafeText::file_name(&name);
        Self {
            subject: PictureSubject::File(path.clone()),
            source: PictureSource::File(path),
            name,
            region: None,
        }
    }

    /// Copies a media item, because a region of a media item cannot be searched by directly.
    /// Returns `None` if the media item has no link.
    pub fn copy_of(preview: &Preview) -> Option<Self> {
        let link = preview.original.clone()?;
        Some(Self {
            subject: PictureSubject::Media(preview.media),
            source: PictureSource::Link(link),
            name: SafeText::name(&format!("copy of media {}", preview.media.short())),
            region: None,
        })
    }

    pub fn label(&self) -> SafeText {
        match self.region {
            None => self.name.clone(),
            Some(region) => SafeText::name(&format!("{}, {}", self.name, region.description())),
        }
    }
}

/// The pictures that were searched by in this run, newest first, each with its last region.
#[derive(Debug, Default)]
pub struct RecentImages {
    images: Vec<QueryImage>,
}

impl RecentImages {
    const CAPACITY: usize = 20;

    pub fn add(&mut self, image: QueryImage) {
        self.images.retain(|known| known.subject != image.subject);
        self.images.insert(0, image);
        self.images.truncate(Self::CAPACITY);
    }

    pub fn region(&self, of: &PictureSubject) -> Option<Region> {
        self.images.iter().find(|known| known.subject == *of).and_then(|known| known.region)
    }

    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.images.iter().filter_map(|image| match &image.subject {
            PictureSubject::File(path) => Some(path),
            PictureSubject::Media(_)
            | PictureSubject::ArchiveEntry(..)
            | PictureSubject::Difference(..) => None,
        })
    }
}
