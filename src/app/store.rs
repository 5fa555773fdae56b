//! What the service has sent, stored once, by id. Panes keep ids and positions, never copies.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::PathBuf,
};

use crate::app::{Remote, dataset_history::ObservedDatasets};
use tessera_model::{
    Dataset, DatasetId, Enrichment, FolderListing, MediaId, Page, SafeText, SavedView, Search,
};
use tessera_picture::{Canvas, PictureSubject, PictureView, Thumbnail};

#[derive(Debug, Default)]
pub struct Store {
    /// In the order of the service.
    pub datasets: Remote<Vec<Dataset>>,
    /// The datasets opened by their ids.
    pub pinned: BTreeSet<DatasetId>,
    pub unreadable_datasets: usize,
    pub observed: ObservedDatasets,
    pub enrichments: BTreeMap<DatasetId, Remote<Enrichment>>,
    pub pages: PageCache,
    pub views: Remote<Vec<SavedView>>,
    pub pictures: PictureCache,
    /// The last listed folder of this machine.
    pub folder: Option<(PathBuf, Remote<FolderListing>)>,
}

impl Store {
    pub fn dataset_list(&self) -> &[Dataset] {
        self.datasets.value().map_or(&[], Vec::as_slice)
    }

    /// The listing of a folder; only the last one is kept.
    pub fn folder_entry(&mut self, path: PathBuf) -> &mut Remote<FolderListing> {
        let known = self.folder.take().filter(|(known, _)| *known == path);
        let (_, listed) = self.folder.insert(known.unwrap_or((path, Remote::default())));
        listed
    }

    pub fn enrichment(&self, dataset: DatasetId) -> Option<&Enrichment> {
        self.enrichments.get(&dataset)?.value()
    }

    pub fn dataset(&self, id: DatasetId) -> Option<&Dataset> {
        self.dataset_list().iter().find(|dataset| dataset.id == id)
    }
}

/// The recently visited pages, so that going back is instant.
#[derive(Debug, Default)]
pub struct PageCache {
    /// Oldest first.
    recent: Vec<(Search, Remote<Page>)>,
}

impl PageCache {
    /// A page of 100 clusters takes about half a megabyte.
    const CAPACITY: usize = 24;

    pub fn get(&self, search: &Search) -> Option<&Remote<Page>> {
        self.recent.iter().find(|(known, _)| known == search).map(|(_, page)| page)
    }

    /// The entry of a page, created if necessary, and from now on the most recent one.
    pub fn entry(&mut self, search: Search) -> &mut Remote<Page> {
        let known = self.recent.iter().position(|(known, _)| *known == search);
        let entry = known.map_or((search, Remote::default()), |index| self.recent.remove(index));
        if self.recent.len() >= Self::CAPACITY {
            self.recent.remove(0);
        }
        self.recent.push(entry);
        let last = self.recent.len() - 1;
        &mut self.recent[last].1
    }

    /// The loaded pages of a search, ordered by number, whichever page it names.
    pub fn pages_of(&self, search: &Search) -> Vec<(u32, &Page)> {
        let number = |page: u32| Search { page, ..search.clone() };
        let same = self.recent.iter().filter(|(known, _)| number(known.page) == *known);
        let mut pages: Vec<(u32, &Page)> =
            same.filter_map(|(known, page)| Some((known.page, page.value()?))).collect();
        pages.sort_by_key(|(number, _)| *number);
        pages
    }

    /// The media or clusters of a dataset have changed.
    pub fn invalidate(&mut self, dataset: DatasetId) {
        for (_, page) in self.recent.iter_mut().filter(|(search, _)| search.dataset == dataset) {
            page.invalidate();
        }
    }
}

/// A picture, or why it cannot be drawn.
pub type PictureResult = Result<Thumbnail, SafeText>;

#[derive(Debug, Default)]
pub struct PictureCache {
    entries: HashMap<(PictureView, Canvas), (PictureResult, u64)>,
    bytes: usize,
    tick: u64,
}

impl PictureCache {
    /// Bytes: a screen of pixel pictures is about 4 MiB, of half-blocks 100 KiB.
    const BUDGET: usize = 24 << 20;

    /// `None`: not loaded. `Some(Err)`: why it cannot be drawn.
    pub fn get(&self, view: &PictureView, canvas: Canvas) -> Option<&PictureResult> {
        self.entries.get(&(view.clone(), canvas)).map(|(picture, _)| picture)
    }

    /// The most recently shown view that differs from `wanted` at most in its region; `wanted`
    /// itself, if it is cached.
    pub fn most_recent_variant(
        &self,
        wanted: &PictureView,
        canvas: Canvas,
    ) -> Option<&PictureView> {
        let variants = self.entries.iter().filter(|((view, at), (picture, _))| {
            *at == canvas
                && (view == wanted || (picture.is_ok() && view.differs_only_in_region(wanted)))
        });
        let newest = variants.max_by_key(|((view, _), (_, shown_at))| (view == wanted, *shown_at));
        newest.map(|((view, _), _)| view)
    }

    /// Adds a picture and drops the least recently shown ones over the budget.
    pub fn insert(&mut self, view: PictureView, canvas: Canvas, picture: PictureResult) {
        self.tick += 1;
        self.bytes += size_in_bytes(&picture);
        if let Some((old, _)) = self.entries.insert((view, canvas), (picture, self.tick)) {
            self.bytes -= size_in_bytes(&old);
        }
        while self.bytes > Self::BUDGET && self.entries.len() > 1 {
            let oldest = self.entries.iter().min_by_key(|(_, (_, shown_at))| *shown_at);
            let oldest = oldest.map(|(key, _)| key.clone());
            let Some((old, _)) = oldest.and_then(|key| self.entries.remove(&key)) else {
                break;
            };
            self.bytes -= size_in_bytes(&old);
        }
    }

    /// Marks a picture as shown now.
    pub fn touch(&mut self, view: PictureView, canvas: Canvas) {
        self.tick += 1;
        if let Some((_, shown_at)) = self.entries.get_mut(&(view, canvas)) {
            *shown_at = self.tick;
        }
    }

    /// Forgets that a picture could not be loaded, so that it is requested again.
    pub fn forget_failure_of(&mut self, media: MediaId) {
        let of = PictureSubject::Media(media);
        self.entries.retain(|(view, _), (picture, _)| view.subject != of || picture.is_ok());
    }

    pub fn forget_failures(&mut self) {
        self.entries.retain(|_, (picture, _)| picture.is_ok());
    }
}

fn size_in_bytes(picture: &PictureResult) -> usize {
    use tessera_picture::Encoded;
    let pixels = match picture.as_ref().map(|picture| &picture.encoded) {
        Ok(Encoded::Pixels(pixels)) => pixels.len() * 3,
        Ok(Encoded::Kitty { payload, .. }) => payload.len(),
        Ok(Encoded::Sequence(sequence)) => sequence.len(),
        Err(reason) => reason.as_str().len(),
    };
    pixels + size_of::<(PictureView, Canvas, PictureResult, u64)>()
}
