//! Stores what the service has sent, once and by id, and the login that the service accepts. Panes store ids and
//! positions, never copies.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use lru::LruCache;
use tessera_model::{
    Dataset, EncodingProgress, Enrichment, EntityType, FolderListing, FolderQuery, LocalDataset,
    MediaId, Overview, SavedView, StateValue, Timestamp,
};
use tessera_picture::{Canvas, Encoded, PictureSubject, PictureView, Thumbnail};

use crate::app::prelude::*;
use crate::app::{Job, JobState, pane::ObservedDatasets};

#[derive(Debug, Default)]
pub struct ServiceData {
    /// The datasets in the order of the service.
    pub datasets: Remote<Vec<Dataset>>,
    /// The datasets that were opened by their ids.
    pub pinned: BTreeSet<DatasetId>,
    pub(in crate::app) unreadable_datasets: usize,
    pub observed: ObservedDatasets,
    pub(in crate::app) enrichments: BTreeMap<DatasetId, Remote<Enrichment>>,
    /// What only a local service knows about its datasets.
    pub(in crate::app) local_datasets: BTreeMap<DatasetId, Remote<LocalDataset>>,
    pub(in crate::app) overviews: BTreeMap<(DatasetId, EntityType), Remote<Overview>>,
    pub views: Remote<Vec<SavedView>>,
    pub pictures: PictureCache,
    pub folder: KnownFolder,
}

impl ServiceData {
    pub fn dataset_list(&self) -> &[Dataset] {
        self.datasets.value().map_or(&[], Vec::as_slice)
    }

    pub fn enrichment(&self, dataset: DatasetId) -> Option<&Enrichment> {
        self.enrichments.get(&dataset)?.value()
    }

    /// Returns the counts of a dataset, or `None` if the service has not sent them or does not count.
    pub fn overview(&self, dataset: DatasetId, entity: EntityType) -> Option<&Overview> {
        self.overviews.get(&(dataset, entity))?.value()
    }

    /// Returns how far the media of a dataset are encoded, while they are.
    pub fn encoding(&self, dataset: DatasetId) -> Option<&EncodingProgress> {
        self.dataset(dataset).filter(|dataset| dataset.status.is_busy())?;
        self.local_datasets.get(&dataset)?.value()?.encoding.as_ref()
    }

    pub fn dataset(&self, id: DatasetId) -> Option<&Dataset> {
        self.dataset_list().iter().find(|dataset| dataset.id == id)
    }
}

/// The listing of a folder of this machine that was read last.
#[derive(Clone, Debug, Default)]
pub struct KnownFolder(Option<(FolderQuery, Remote<FolderListing>)>);

impl KnownFolder {
    /// Returns the listing if it has everything that the query finds.
    pub fn listing_of(&self, query: &FolderQuery) -> Option<&Remote<FolderListing>> {
        let (known, listing) = self.0.as_ref()?;
        known.answers(query, listing.value()).then_some(listing)
    }

    pub(in crate::app) fn entry(&mut self, query: FolderQuery) -> &mut Remote<FolderListing> {
        let known = self.0.take().filter(|(known, _)| *known == query);
        let (_, listing) = self.0.insert(known.unwrap_or((query, Remote::default())));
        listing
    }
}

/// A picture, or why it cannot be drawn.
pub type PictureResult = Result<Thumbnail, SafeText>;

#[derive(Debug)]
pub struct PictureCache {
    entries: LruCache<(PictureView, Canvas), PictureResult>,
    bytes: usize,
}

impl Default for PictureCache {
    fn default() -> Self {
        Self { entries: LruCache::unbounded(), bytes: 0 }
    }
}

impl PictureCache {
    /// The size limit in bytes. A screen of pixel pictures takes about 4 MiB, and a screen of half-blocks 100 KiB. A
    /// picture that fills a screen of 2000x1200 pixels takes 10 MiB, and its neighbors are also kept.
    pub const BUDGET: usize = 48 << 20;

    /// Returns a picture, or `Some(Err)` with the reason why it cannot be drawn. Returns `None` if
    /// it is not loaded.
    pub fn get(&self, view: &PictureView, canvas: Canvas) -> Option<&PictureResult> {
        self.entries.peek(&(view.clone(), canvas))
    }

    /// Returns the most recently shown view that differs only in its region.
    pub fn most_recent_variant(&self, of: &PictureView, canvas: Canvas) -> Option<&PictureView> {
        let mut entries =
            self.entries.iter().filter(|((_, at), picture)| *at == canvas && picture.is_ok());
        entries.find(|((view, _), _)| view.differs_only_in_region(of)).map(|((view, _), _)| view)
    }

    /// Adds a picture, and drops the least recently shown pictures that exceed the budget. A
    /// failure does not replace a picture.
    pub fn insert(&mut self, view: PictureView, canvas: Canvas, picture: PictureResult) {
        if picture.is_err() && self.get(&view, canvas).is_some_and(Result::is_ok) {
            return;
        }
        self.bytes += size_in_bytes(&picture);
        if let Some((_, old)) = self.entries.push((view, canvas), picture) {
            self.bytes -= size_in_bytes(&old);
        }
        while self.bytes > Self::BUDGET && self.entries.len() > 1 {
            let Some((_, old)) = self.entries.pop_lru() else { break };
            self.bytes -= size_in_bytes(&old);
        }
    }

    /// Returns the most recently shown picture that meets a condition.
    pub fn newest(
        &self,
        condition: impl Fn(&PictureView, Canvas) -> bool,
    ) -> Option<(&PictureView, Canvas, &Thumbnail)> {
        let pictures = self
            .entries
            .iter()
            .filter_map(|((view, canvas), picture)| Some((view, *canvas, picture.as_ref().ok()?)));
        pictures.into_iter().find(|(view, canvas, _)| condition(view, *canvas))
    }

    /// Marks a picture as shown now.
    pub fn touch(&mut self, view: PictureView, canvas: Canvas) {
        self.entries.promote(&(view, canvas));
    }

    /// Forgets that a picture could not be loaded, so that the picture is requested again.
    pub fn forget_failure_of(&mut self, media: MediaId) {
        let of = PictureSubject::Media(media);
        self.retain(|view, picture| view.subject != of || picture.is_ok());
    }

    pub fn forget_failures(&mut self) {
        self.retain(|_, picture| picture.is_ok());
    }

    fn retain(&mut self, condition: impl Fn(&PictureView, &PictureResult) -> bool) {
        self.entries.retain(|(view, _), picture| {
            let stays = condition(view, picture);
            self.bytes -= if stays { 0 } else { size_in_bytes(picture) };
            stays
        });
    }
}

fn size_in_bytes(picture: &PictureResult) -> usize {
    let pixels = match picture.as_ref().map(|picture| &picture.encoded) {
        Ok(Encoded::Pixels(pixels)) => pixels.len() * 3,
        Ok(Encoded::Kitty { payload, .. }) => payload.len(),
        Ok(Encoded::Sequence(sequence)) => sequence.len(),
        Err(reason) => reason.as_str().len(),
    };
    pixels + size_of::<(PictureView, Canvas, PictureResult)>()
}

/// A saved value, or `None` if it was never saved.
pub(in crate::app) type LoadedState = Result<Option<StateValue>, Failure>;

#[derive(Debug, Default)]
pub struct LoginState {
    /// The API key that identifies the login. `None` if the deployment has no login.
    pub key: Option<SafeText>,
    pub(in crate::app) token_expires_at: Option<Timestamp>,
    /// Why the service does not accept the login. `None` once the service accepts it.
    pub rejection: Option<Failure>,
}

impl LoginState {
    /// Returns the time until the token expires. Tokens are renewed before that.
    pub fn token_time_left(&self, clock: Timestamp) -> Option<Duration> {
        let expires_at = self.token_expires_at?;
        Some(expires_at.saturating_sub(clock))
    }

    /// Returns when the remaining time on screen changes next. The screen counts in minutes, and in
    /// seconds during the last minute.
    pub(in crate::app) fn next_login_tick(&self, now: Uptime, clock: Timestamp) -> Option<Uptime> {
        let left = self.token_time_left(clock).filter(|left| !left.is_zero())?;
        let step = if left > Duration::from_mins(1) { left.as_secs() % 60 } else { 0 };
        Some(now + Duration::from_secs(step.max(1)))
    }

    /// Returns whether the service works on the job, or will, while this program cannot follow the job without login.
    pub fn waits_for_login(&self, job: &Job) -> bool {
        let follows = matches!(
            job.state(),
            JobState::Queued(_) | JobState::DatasetRunning | JobState::ExportRunning(..)
        );
        follows && self.rejection.is_some()
    }
}
