//! The typed client: one async function per endpoint, model values in, model values or a
//! [`Failure`] out.

use std::{fmt, path::Path, sync::Arc};

use bytes::Bytes;
use image::ImageFormat;
use reqwest::{
    StatusCode,
    header::{CACHE_CONTROL, HeaderValue},
};

use crate::{
    api::{
        call::{Call, Upload},
        endpoint::Endpoint,
        exchange::Exchange,
        operation::Operation,
        policy::Policy,
    },
    model::{
        Anchor, Dataset, DatasetId, EntityType, ExportSpec, ExportTask, ExportTaskId, Failure,
        FailureKind, Granularity, Link, Page, SafeText, Search,
    },
    wire::{
        dataset::{read_dataset, read_datasets},
        explore::{read_anchor, read_page},
        export::read_task,
        paths::{self, Parameters, query},
    },
};

/// Largest query image that is sent, in bytes.
pub const QUERY_IMAGE_LIMIT: u64 = 32 << 20;

/// A client of one service. Cheap to clone; clones share connections, token and retry budget.
#[derive(Clone)]
pub struct Client {
    pub(super) exchange: Arc<Exchange>,
}

impl Client {
    /// A client with the default patience.
    ///
    /// # Errors
    /// [`FailureKind::Local`] when TLS cannot be set up on this machine.
    pub fn new(endpoint: Endpoint) -> Result<Self, Failure> {
        Self::with_policy(endpoint, Policy::default())
    }

    /// A client with its own deadlines and pauses.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn with_policy(endpoint: Endpoint, policy: Policy) -> Result<Self, Failure> {
        Ok(Self { exchange: Arc::new(Exchange::new(endpoint, policy)?) })
    }

    /// Where it sends requests, and how it is let in.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.exchange.endpoint
    }

    /// `GET datasets`: the datasets of the caller, and how many rows could not be read.
    ///
    /// # Errors
    /// Whatever keeps the list away.
    pub async fn datasets(&self) -> Result<(Vec<Dataset>, usize), Failure> {
        let call = self.get(Operation::Datasets, &paths::datasets(), &Parameters::new());
        self.exchange.fetch(&call).await?.read(call.operation, read_datasets)
    }

    /// `GET dataset`: one record.
    ///
    /// # Errors
    /// [`FailureKind::NotFound`] when it does not exist or may not be seen, and whatever keeps
    /// the record away.
    pub async fn dataset(&self, id: DatasetId) -> Result<Dataset, Failure> {
        let call = self.get(Operation::Dataset, &paths::dataset(id), &Parameters::new());
        self.exchange.fetch(&call).await?.read(call.operation, read_dataset)
    }

    /// `GET explore`: one page of clusters.
    ///
    /// # Errors
    /// Whatever keeps the page away.
    pub async fn explore(&self, search: &Search) -> Result<Page, Failure> {
        let parameters = paths::explore_parameters(search);
        let call = self.get(Operation::Explore, &paths::explore(search.dataset), &parameters);
        self.exchange.fetch(&call).await?.read(call.operation, read_page)
    }

    /// `POST search-image-similarity`: registers a file of this machine as query image.
    ///
    /// # Errors
    /// [`FailureKind::Local`] before any request when the file is no picture the service could
    /// read or is over [`QUERY_IMAGE_LIMIT`]; [`FailureKind::Conflict`] when the dataset is not
    /// READY.
    pub async fn register_anchor(
        &self,
        dataset: DatasetId,
        file: &Path,
        entity: EntityType,
        granularity: Granularity,
    ) -> Result<Anchor, Failure> {
        let upload = read_query_image(file).await?;
        let parameters = vec![
            (query::ENTITY_TYPE, entity.word().to_owned()),
            (query::THRESHOLD, granularity.level().to_string()),
        ];
        let path = paths::search_image_similarity(dataset);
        let mut call = self.get(Operation::RegisterAnchor, &path, &parameters);
        call.upload = Some(upload);
        let reply = self.exchange.fetch(&call).await?;
        if reply.status == StatusCode::ACCEPTED && reply.body.is_empty() {
            let sentence = "the query image was accepted, but no anchor was returned";
            return Err(Failure::new(FailureKind::Unexpected, sentence).remedy("Send it again"));
        }
        reply.read(call.operation, read_anchor)
    }

    /// `GET export_context_async`: starts an export of a whole dataset. Sent once.
    ///
    /// # Errors
    /// [`FailureKind::NoAnswer`] means that it may have started all the same;
    /// [`FailureKind::Conflict`] that the dataset is not READY.
    pub async fn start_export(
        &self,
        dataset: DatasetId,
        spec: &ExportSpec,
    ) -> Result<ExportTask, Failure> {
        let path = paths::export_context_async(dataset);
        let mut call = self.get(Operation::StartExport, &path, &paths::export_parameters(spec));
        // A cached answer would name an export that somebody else started.
        call.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let reply = self.exchange.fetch(&call).await?;
        reply.read(call.operation, |value| read_task(value, None))
    }

    /// `GET export_status`: where an export stands.
    ///
    /// # Errors
    /// Whatever keeps the state away.
    pub async fn export_status(
        &self,
        dataset: DatasetId,
        task: ExportTaskId,
    ) -> Result<ExportTask, Failure> {
        let parameters = vec![(query::EXPORT_TASK_ID, task.to_string())];
        let path = paths::export_status(dataset);
        let call = self.get(Operation::ExportStatus, &path, &parameters);
        let reply = self.exchange.fetch(&call).await?;
        reply.read(call.operation, |value| read_task(value, Some(task)))
    }

    /// Fetches a picture of at most `limit` bytes, as it is stored. Never carries the login.
    ///
    /// # Errors
    /// Whatever keeps the picture away, or that it is larger.
    pub async fn picture(&self, link: &Link, limit: usize) -> Result<Bytes, Failure> {
        let mut call = Call::get(Operation::Picture, self.exchange.resolve(link)?);
        call.limit = limit;
        Ok(self.exchange.fetch(&call).await?.body)
    }

    fn get(&self, operation: Operation, path: &str, parameters: &Parameters) -> Call {
        Call::get(operation, self.endpoint().base_url().at(path, parameters))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(self.endpoint()).finish()
    }
}

/// Reads and checks a query image, so that nothing is sent that must be refused (U11).
async fn read_query_image(file: &Path) -> Result<Upload, Failure> {
    let name = SafeText::file(&file.display().to_string());
    let refuse = |reason: &str| Failure::new(FailureKind::Local, format!("{name}: {reason}"));
    let metadata = tokio::fs::metadata(file).await;
    let metadata = metadata.map_err(|error| refuse(&error.to_string()))?;
    if !metadata.is_file() {
        return Err(refuse("not a file").remedy("Choose a picture file"));
    }
    if metadata.len() > QUERY_IMAGE_LIMIT {
        let reason = format!("larger than {} MiB", QUERY_IMAGE_LIMIT >> 20);
        return Err(refuse(&reason).remedy("Choose a smaller copy of the picture"));
    }
    let bytes = tokio::fs::read(file).await;
    let bytes = Bytes::from(bytes.map_err(|error| refuse(&error.to_string()))?);
    let (name, media_type) = match image::guess_format(&bytes) {
        Ok(ImageFormat::Jpeg) => ("query.jpg", "image/jpeg"),
        Ok(ImageFormat::Png) => ("query.png", "image/png"),
        Ok(ImageFormat::WebP) => ("query.webp", "image/webp"),
        Ok(ImageFormat::Gif) => ("query.gif", "image/gif"),
        Ok(ImageFormat::Bmp) => ("query.bmp", "image/bmp"),
        _ => {
            return Err(refuse("not a picture").remedy("Choose a JPEG, PNG, WebP, GIF or BMP file"));
        }
    };
    Ok(Upload { bytes, name, media_type })
}
