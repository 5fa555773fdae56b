//! Request -> call -> answer: one match, one line per variant.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt as _;
use tokio::sync::mpsc;

use crate::{
    journal::{self, Journal},
    message::{Answer, Progress, Read, Request, Response, Ticket},
    worker::{
        Reply, folder,
        outside::{self, Outside},
        pictures::Pictures,
        progress::Pace,
    },
};
use tessera_client::{Client, Existing, QueryImage};
use tessera_model::{Failure, FailureKind, PictureSource, SafeText};

/// What a request needs to be performed.
pub(super) struct Desk {
    client: Client,
    journal: Arc<Journal>,
    pictures: Pictures,
    outside: Outside,
    replies: mpsc::UnboundedSender<Reply>,
}

impl Desk {
    pub(super) fn new(
        client: Client,
        journal: Journal,
        replies: mpsc::UnboundedSender<Reply>,
    ) -> Self {
        let pictures = Pictures::new(client.clone());
        Self { pictures, outside: Outside::default(), client, journal: Arc::new(journal), replies }
    }

    /// Performs a request. A panic on the way is a failure of that request alone.
    pub(super) async fn respond(&self, ticket: Ticket, request: Request) -> Response {
        let performed = AssertUnwindSafe(self.perform(&ticket, request));
        let result = performed.catch_unwind().await.unwrap_or_else(|_| {
            let sentence = "this request met a fault of the program itself";
            Err(Failure::new(FailureKind::Local, sentence).remedy("Please report it"))
        });
        Response { ticket, result }
    }

    #[expect(clippy::too_many_lines, reason = "a table: one arm for each request")]
    async fn perform(&self, ticket: &Ticket, request: Request) -> Result<Answer, Failure> {
        let client = &self.client;
        match request {
            Request::Datasets => client
                .datasets()
                .await
                .map(|(datasets, skipped)| Answer::Datasets(datasets, skipped)),
            Request::Dataset(dataset) => client.dataset(dataset).await.map(Answer::Dataset),
            Request::Explore(search) => client.explore(&search).await.map(Answer::Page),
            Request::Enrichment(dataset) => {
                client.enrichment(dataset).await.map(Answer::Enrichment)
            }
            Request::Record(dataset) => client.record(dataset).await.map(Answer::Record),
            Request::RegisterAnchor { dataset, image, entity, granularity, region } => {
                let image = self.query_image(image).await?;
                let anchor = client.register_anchor(dataset, image, entity, granularity, region);
                anchor.await.map(Answer::Anchor)
            }
            Request::StartExport(dataset, spec) => {
                client.start_export(dataset, &spec).await.map(Answer::Export)
            }
            Request::StartSelection { dataset, format, images, items } => client
                .start_selective_export(dataset, format, images, &items)
                .await
                .map(Answer::Export),
            Request::Reindex(dataset) => client.reindex(dataset).await.map(|()| Answer::Accepted),
            Request::AddMedia(dataset, addition) => client
                .add_media(dataset, &addition, &mut self.reporter(ticket.clone()))
                .await
                .map(|_| Answer::Accepted),
            Request::Preflight(source) => {
                aside(move || tessera_client::preflight(&source)).await.map(Answer::Preflight)
            }
            Request::ExportStatus(dataset, task) => {
                client.export_status(dataset, task).await.map(Answer::Export)
            }
            Request::Download { dataset, task, target } => client
                .download(
                    (dataset, task),
                    (&target, Existing::Kept),
                    &mut self.reporter(ticket.clone()),
                )
                .await
                .map(Answer::Downloaded),
            Request::Picture(source, part, canvas) => {
                self.pictures.show(&source, part, canvas).await.map(Answer::Picture)
            }
            Request::Folder(path) => aside(move || folder::list(&path)).await.map(Answer::Folder),
            Request::Inspect(path) => {
                let inspection = aside(move || tessera_client::inspect_archive(&path)).await?;
                Ok(Answer::Inspection(Box::new(inspection)))
            }
            Request::Outside(source) => self.open_outside(source).await.map(|()| Answer::Outside),
            Request::Original(link) => self
                .pictures
                .bytes(&link)
                .await
                .map(|bytes| Answer::Original(bytes.to_vec().into())),
            Request::Curl(read) => Ok(Answer::Curl(match read {
                Read::Dataset(dataset) => client.curl_dataset(dataset),
                Read::Page(search) => client.curl_explore(&search),
                Read::Export(dataset, task) => client.curl_export_status(dataset, task),
            })),
            Request::SaveSelection(path, dataset, selection) => {
                aside(move || journal::save_selection(path, dataset, &selection))
                    .await
                    .map(Answer::SelectionSaved)
            }
            Request::OpenSelection(path, dataset) => {
                aside(move || journal::open_selection(&path, dataset))
                    .await
                    .map(|selection| Answer::Selection(dataset, selection))
            }
            Request::SaveNamed(name, dataset, selection) => self
                .write_down(move |journal| journal.keep_named(&name, dataset, &selection))
                .await
                .map(Answer::SelectionSaved),
            Request::OpenNamed(name, dataset) => {
                let unknown = format!("no selection is called `{}`", SafeText::name(&name));
                let found = self.write_down(move |journal| journal.named(&name, dataset)).await?;
                found
                    .map(|selection| Answer::Selection(dataset, selection))
                    .ok_or_else(|| Failure::new(FailureKind::Local, unknown))
            }
            Request::Keep(entry) => {
                let number = ticket.number;
                self.write_down(move |journal| journal.keep(number, &entry)).await?;
                Ok(Answer::Kept)
            }
            Request::Recall(book) => {
                self.write_down(move |journal| journal.recall(&book)).await.map(Answer::Recalled)
            }
        }
    }

    /// Works on the journal, away from the tasks that must not wait for a disk.
    async fn write_down<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Journal) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let journal = Arc::clone(&self.journal);
        aside(move || work(&journal)).await
    }

    /// A query image from wherever it is.
    async fn query_image(&self, source: PictureSource) -> Result<QueryImage, Failure> {
        if let PictureSource::File(path) = &source {
            return QueryImage::read(path).await;
        }
        let bytes = self.pictures.of(&source).await?;
        QueryImage::new(bytes, &source.to_string()).await
    }

    /// Opens a picture in the viewer of the desktop; a copy of it, unless it is a file already.
    async fn open_outside(&self, source: PictureSource) -> Result<(), Failure> {
        if let PictureSource::File(path) = &source {
            return outside::open(path).await;
        }
        let bytes = self.pictures.of(&source).await?;
        outside::open(&self.outside.copy(&bytes)?).await
    }

    /// Passes progress on, at a pace that a screen can use.
    fn reporter(&self, ticket: Ticket) -> impl FnMut(u64, Option<u64>) + Send + use<> {
        let replies = self.replies.clone();
        let mut pace = Pace::default();
        move |done, total| {
            if pace.allows(std::time::Instant::now()) {
                let progress = Progress { ticket: ticket.clone(), done, total };
                // Without a listener the program is ending.
                let _ = replies.send(Reply::Progress(progress));
            }
        }
    }
}

/// Does work that waits for a disk away from the tasks that must not.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Failure::fault()))
}
