//! Maps each request to a call: one match with one arm per request.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt as _;
use tokio::sync::mpsc;

use crate::{
    message::{Payload, ReadRequest, Request, RequestProgress, Response, Ticket},
    state::{self, StateStore},
    worker::{
        WorkerEvent,
        external_viewer::{self, ViewerCopies},
        folder_listing,
        progress_throttle::ProgressThrottle,
        thumbnail_loader::ThumbnailLoader,
    },
};
use tessera_client::{Client, ExistingFile, QueryImageUpload};
use tessera_model::{Failure, PictureSource, SafeText};

pub(super) struct RequestHandler {
    client: Client,
    state: Arc<StateStore>,
    pictures: ThumbnailLoader,
    viewer_copies: ViewerCopies,
    events: mpsc::UnboundedSender<WorkerEvent>,
}

impl RequestHandler {
    pub(super) fn new(
        client: Client,
        state: StateStore,
        events: mpsc::UnboundedSender<WorkerEvent>,
    ) -> Self {
        let pictures = ThumbnailLoader::new(client.clone());
        Self {
            pictures,
            viewer_copies: ViewerCopies::default(),
            client,
            state: Arc::new(state),
            events,
        }
    }

    /// Handles a request. A panic fails only that request.
    pub(super) async fn handle(&self, ticket: Ticket, request: Request) -> Response {
        let performed = AssertUnwindSafe(self.perform(&ticket, request));
        let result = performed.catch_unwind().await.unwrap_or_else(|_| {
            let sentence = "internal error while handling this request";
            Err(Failure::local(sentence).with_remedy("Please report it"))
        });
        Response { ticket, result }
    }

    #[expect(clippy::too_many_lines, reason = "a table: one arm for each request")]
    async fn perform(&self, ticket: &Ticket, request: Request) -> Result<Payload, Failure> {
        let client = &self.client;
        match request {
            Request::Datasets => client
                .list_datasets()
                .await
                .map(|(datasets, skipped)| Payload::Datasets(datasets, skipped)),
            Request::Dataset(dataset) => client.dataset(dataset).await.map(Payload::Dataset),
            Request::Explore(search) => client.explore(&search).await.map(Payload::Page),
            Request::Enrichment(dataset) => {
                client.enrichment(dataset).await.map(Payload::Enrichment)
            }
            Request::Record(dataset) => client.dataset_fields(dataset).await.map(Payload::Record),
            Request::RegisterAnchor { dataset, image, entity, granularity, region } => {
                let image = self.load_query_image(image).await?;
                let anchor = client.register_anchor(dataset, image, entity, granularity, region);
                anchor.await.map(Payload::Anchor)
            }
            Request::StartExport(dataset, spec) => {
                client.start_export(dataset, &spec).await.map(Payload::Export)
            }
            Request::StartSelectionExport { dataset, format, images, items } => client
                .start_selective_export(dataset, format, images, &items)
                .await
                .map(Payload::Export),
            Request::Reindex(dataset) => client.reindex(dataset).await.map(|()| Payload::Accepted),
            Request::AddMedia(dataset, addition) => client
                .add_media(dataset, &addition, &mut self.progress_callback(ticket.clone()))
                .await
                .map(|_| Payload::Accepted),
            Request::Preflight(source) => run_blocking(move || tessera_client::preflight(&source))
                .await
                .map(Payload::Preflight),
            Request::ExportStatus(dataset, task) => {
                client.export_status(dataset, task).await.map(Payload::Export)
            }
            Request::Download { dataset, task, target } => client
                .download(
                    (dataset, task),
                    (&target, ExistingFile::Keep),
                    &mut self.progress_callback(ticket.clone()),
                )
                .await
                .map(Payload::Downloaded),
            Request::Picture(source, part, canvas) => {
                self.pictures.load_thumbnail(&source, part, canvas).await.map(Payload::Picture)
            }
            Request::Folder(path) => {
                run_blocking(move || folder_listing::list_folder(&path)).await.map(Payload::Folder)
            }
            Request::Inspect(path) => {
                let inspection =
                    run_blocking(move || tessera_client::inspect_archive(&path)).await?;
                Ok(Payload::Inspection(Box::new(inspection)))
            }
            Request::OpenExternally(source) => {
                self.open_externally(source).await.map(|()| Payload::Outside)
            }
            Request::Original(link) => self
                .pictures
                .fetch_link(&link)
                .await
                .map(|bytes| Payload::Original(bytes.to_vec().into())),
            Request::Curl(read) => Ok(Payload::Curl(match read {
                ReadRequest::Dataset(dataset) => client.curl_dataset(dataset),
                ReadRequest::Page(search) => client.curl_explore(&search),
                ReadRequest::Export(dataset, task) => client.curl_export_status(dataset, task),
            })),
            Request::SaveSelection(path, dataset, selection) => {
                run_blocking(move || state::save_selection(path, dataset, &selection))
                    .await
                    .map(Payload::SelectionSaved)
            }
            Request::OpenSelection(path, dataset) => {
                run_blocking(move || state::open_selection(&path, dataset))
                    .await
                    .map(|selection| Payload::Selection(dataset, selection))
            }
            Request::SaveNamed(name, dataset, selection) => self
                .with_state(move |state| state.save_named_selection(&name, dataset, &selection))
                .await
                .map(Payload::SelectionSaved),
            Request::OpenNamed(name, dataset) => {
                let unknown = format!("there is no selection named `{}`", SafeText::name(&name));
                let found = self
                    .with_state(move |state| state.load_named_selection(&name, dataset))
                    .await?;
                found
                    .map(|selection| Payload::Selection(dataset, selection))
                    .ok_or_else(|| Failure::local(unknown))
            }
            Request::SaveState(entry) => {
                let number = ticket.number;
                self.with_state(move |state| state.save(number, &entry)).await?;
                Ok(Payload::StateSaved)
            }
            Request::Recall(book) => {
                self.with_state(move |state| state.load(&book)).await.map(Payload::StateLoaded)
            }
        }
    }

    /// Uses the state store on a blocking thread.
    async fn with_state<T: Send + 'static>(
        &self,
        work: impl FnOnce(&StateStore) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let state = Arc::clone(&self.state);
        run_blocking(move || work(&state)).await
    }

    async fn load_query_image(&self, source: PictureSource) -> Result<QueryImageUpload, Failure> {
        if let PictureSource::File(path) = &source {
            return QueryImageUpload::read(path).await;
        }
        let bytes = self.pictures.load_bytes(&source).await?;
        QueryImageUpload::new(bytes, &source.to_string()).await
    }

    /// Opens a picture in the desktop's viewer: a file directly, anything else as a copy.
    async fn open_externally(&self, source: PictureSource) -> Result<(), Failure> {
        if let PictureSource::File(path) = &source {
            return external_viewer::open(path).await;
        }
        let bytes = self.pictures.load_bytes(&source).await?;
        external_viewer::open(&self.viewer_copies.copy(&bytes)?).await
    }

    /// Reports progress, throttled to a rate that a screen can show.
    fn progress_callback(&self, ticket: Ticket) -> impl FnMut(u64, Option<u64>) + Send + use<> {
        let events = self.events.clone();
        let mut pace = ProgressThrottle::default();
        move |done, total| {
            if pace.is_due(std::time::Instant::now()) {
                let progress = RequestProgress { ticket: ticket.clone(), done, total };
                // Without a listener the program is ending.
                let _ = events.send(WorkerEvent::Progress(progress));
            }
        }
    }
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Failure::internal_error()))
}
