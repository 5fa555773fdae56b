//! The pictures that are uploaded to be searched by, and those of them used lately.

use std::path::PathBuf;

use tessera_model::{PictureSource, Preview, Region, SafeText};
use tessera_picture::PictureSubject;

/// A picture that is uploaded to be searched by, or the part of it that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryImage {
    /// Which picture it is.
    pub subject: PictureSubject,
    /// Where its bytes are.
    pub source: PictureSource,
    /// What it is called on screen.
    pub name: SafeText,
    /// The part that counts; else all of it.
    pub region: Option<Region>,
}

impl QueryImage {
    /// All of a file of this machine.
    #[must_use]
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

    /// A copy of a media: the media itself cannot be searched by a part of it. `None` when
    /// the service gives no link to it.
    #[must_use]
    pub fn copy_of(preview: &Preview) -> Option<Self> {
        let link = preview.original.clone()?;
        Some(Self {
            subject: PictureSubject::Media(preview.media),
            source: PictureSource::Link(link),
            name: SafeText::name(&format!("copy of media {}", preview.media.short())),
            region: None,
        })
    }

    /// Its name, and which part of it counts.
    #[must_use]
    pub fn label(&self) -> SafeText {
        match self.region {
            None => self.name.clone(),
            Some(region) => SafeText::name(&format!("{}, {}", self.name, region.description())),
        }
    }
}

/// The pictures searched by in this run, newest first, each with its last region.
#[derive(Debug, Default)]
pub struct RecentImages {
    images: Vec<QueryImage>,
}

impl RecentImages {
    /// Most pictures remembered.
    const CAPACITY: usize = 20;

    /// A picture is searched by.
    pub fn add(&mut self, image: QueryImage) {
        self.images.retain(|known| known.subject != image.subject);
        self.images.insert(0, image);
        self.images.truncate(Self::CAPACITY);
    }

    /// The region that a picture was last searched by.
    #[must_use]
    pub fn region(&self, of: &PictureSubject) -> Option<Region> {
        self.images.iter().find(|known| known.subject == *of).and_then(|known| known.region)
    }

    /// The files among them.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.images.iter().filter_map(|image| match &image.subject {
            PictureSubject::File(path) => Some(path),
            PictureSubject::Media(_) | PictureSubject::ArchiveEntry(..) => None,
        })
    }
}
