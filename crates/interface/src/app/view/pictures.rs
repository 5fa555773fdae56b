//! Finds the pictures on screen with the requests for them, and defines query images, which are pictures to search by.

use std::path::PathBuf;

use tessera_model::{Anchor, Link, PictureSource, Region};
use tessera_picture::{Canvas, Crop, PictureSubject, PictureView, Protocol};

use crate::app::ServiceData;
use crate::app::prelude::*;

pub struct VisiblePicture {
    pub view: PictureView,
    pub source: PictureSource,
    /// The other picture, if this is a difference of two pictures.
    pub compared_with: Option<PictureSource>,
    pub canvas: Canvas,
}

impl VisiblePicture {
    pub fn new(view: PictureView, source: PictureSource, canvas: Canvas) -> Self {
        Self { view, source, compared_with: None, canvas }
    }

    pub fn lane(&self) -> Lane {
        Lane::Picture(self.view.clone(), self.canvas)
    }
}

impl ServiceData {
    pub(in crate::app) fn request_picture(&mut self, picture: VisiblePicture, outbox: &mut Outbox) {
        let lane = picture.lane();
        let VisiblePicture { view, source, compared_with, canvas } = picture;
        if self.pictures.get(&view, canvas).is_some() {
            self.pictures.touch(view, canvas);
        } else if !outbox.tickets.is_open(&lane) {
            let request = match compared_with {
                None => Request::Picture(source, view.crop, canvas),
                Some(other) => Request::Difference([source, other], view.crop, canvas),
            };
            outbox.send(lane, request);
        }
    }
}

/// Returns how the detail shows a preview. A region is highlighted in its whole picture.
pub fn detail_picture_view(preview: &Preview) -> PictureView {
    let region = preview.region.filter(|_| preview.original.is_some());
    let part = region.map_or(Crop::Full, Crop::Highlighted);
    PictureView { subject: PictureSubject::Media(preview.media), crop: part }
}

/// Returns the picture that contains the region of a preview.
pub(in crate::app) fn framed_picture(preview: &Preview, canvas: Canvas) -> Option<VisiblePicture> {
    preview.region?;
    let source = PictureSource::Link(preview.original.clone()?);
    Some(VisiblePicture::new(detail_picture_view(preview), source, canvas))
}

/// Returns the picture of a preview: the thumbnail for a small canvas, and the original for a
/// larger one.
pub(in crate::app) fn preview_picture(preview: &Preview, canvas: Canvas) -> Option<VisiblePicture> {
    let needs_original = match canvas.protocol {
        Protocol::HalfBlock => u32::from(canvas.columns) > 256,
        _ => u32::from(canvas.columns) * u32::from(canvas.cell.0) > 320,
    };
    let link = if needs_original { preview.original.as_ref() } else { None };
    let link = link.or(preview.thumbnail.as_ref()).or(preview.original.as_ref())?;
    let source = PictureSource::Link(link.clone());
    Some(VisiblePicture::new(preview.media.into(), source, canvas))
}

pub fn full_size_link(preview: &Preview) -> Option<Link> {
    preview.original.clone().or_else(|| preview.thumbnail.clone())
}

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
            name: preview.title(),
            region: None,
        })
    }

    pub fn label(&self) -> SafeText {
        match self.region {
            None => self.name.clone(),
            Some(_) => SafeText::name(&format!("part of {}", self.name)),
        }
    }
}

/// The pictures that were searched by in this run, newest first, each with its last region.
#[derive(Debug, Default)]
pub struct RecentImages {
    images: Vec<QueryImage>,
    /// The pictures of the last anchors that were registered, newest first.
    registered: Vec<(Anchor, QueryImage)>,
}

impl RecentImages {
    const CAPACITY: usize = 20;

    pub fn add(&mut self, image: QueryImage) {
        self.images.retain(|known| known.subject != image.subject);
        self.images.insert(0, image);
        self.images.truncate(Self::CAPACITY);
    }

    pub fn add_registered(&mut self, anchor: Anchor, image: QueryImage) {
        self.registered.insert(0, (anchor, image));
        self.registered.truncate(Self::CAPACITY);
    }

    /// Returns the picture behind the uploaded anchor of a query, if the anchor was registered in this run.
    pub fn registered(&self, query: &Query) -> Option<&QueryImage> {
        let Query::Similar(anchor) = query else { return None };
        self.registered.iter().find(|(known, _)| known == anchor).map(|(_, image)| image)
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
