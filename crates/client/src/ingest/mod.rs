//! Adding media. An upload is never sent twice by itself, and its end is never guessed: when the
//! connection is lost on the way, the state of the dataset says what became of it.

mod chosen;
mod form;
mod packed;
mod preflight;

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    Access, Client, Report,
    call::{Call, Payload, Reply},
    operation::Operation,
};
pub(super) use form::MediaForm;
pub use preflight::{files_to_send, preflight};
use tessera_model::{
    AddMedia, Dataset, DatasetId, Failure, FailureKind, MediaSource, Preflight, SafeText,
    dataset::Operation as Allowed,
};
use tessera_wire::paths::{self, Parameters, query};

/// Between two looks at how far an upload has come.
const LOOK: Duration = Duration::from_millis(100);
/// Bytes a second that a service is given time for, to store an upload before it answers.
const STORING: u64 = 1 << 20;

impl Client {
    /// Adds media to a dataset. Sent once; success means that the service has taken them on, without
    /// those that the answer names: files that could not be read when their turn came.
    ///
    /// # Errors
    /// [`FailureKind::Local`] before any request for what the interface does not take, and for
    /// files that change while they are sent; [`FailureKind::Conflict`] when the dataset is busy;
    /// [`FailureKind::NoAnswer`] when nobody can tell whether the media were taken on.
    pub async fn add_media(
        &self,
        dataset: DatasetId,
        addition: &AddMedia,
        report: Report<'_>,
    ) -> Result<Preflight, Failure> {
        addition.check().map_err(|invalid| refuse(&invalid.to_string()))?;
        if addition.spot.is_some() && matches!(self.endpoint().access(), Access::OnPremises) {
            return Err(refuse("use_spot: is for hosted deployments only"));
        }
        if let MediaSource::ServerPath(path) = &addition.source {
            return self.process_folder(dataset, path, addition.force).await;
        }
        let form = Arc::new(MediaForm::of(addition).await?);
        // An early refusal is lost in a long upload more often than not (M9): ask first.
        let before = self.free(dataset, addition.force).await?;
        let url = self.endpoint().base_url().at(&paths::add_media(dataset), &Parameters::new());
        let call = Call::new(Operation::AddMedia, url, Payload::Media(Arc::clone(&form)));
        match self.watched(&call, &form, report).await {
            Ok(_) => {}
            Err(failure) => self.after_loss(&before, Some(&form), failure).await?,
        }
        Ok(form.found().clone())
    }

    /// `GET process/add_media` of the pipeline: a folder that it can read by itself.
    async fn process_folder(
        &self,
        dataset: DatasetId,
        path: &str,
        force: bool,
    ) -> Result<Preflight, Failure> {
        let pipeline = self.endpoint().pipeline_url().ok_or_else(|| {
            refuse("path: this deployment has no address of its pipeline")
                .remedy("Give the pipeline_url of the on-premises deployment")
        })?;
        let parameters =
            vec![(query::DATASET_ID, dataset.to_string()), (query::PATH, path.to_owned())];
        let url = pipeline.at(paths::PROCESS_ADD_MEDIA, &parameters);
        let before = self.free(dataset, force).await?;
        let call = Call::get(Operation::ProcessMedia, url);
        if let Err(failure) = self.transport.fetch(&call).await {
            self.after_loss(&before, None, failure).await?;
        }
        Ok(Preflight::default())
    }

    /// The dataset before something is sent, unless its status forbids that.
    async fn free(&self, dataset: DatasetId, force: bool) -> Result<Dataset, Failure> {
        let before = self.dataset(dataset).await?;
        match before.status.allows(Allowed::AddMedia).refusal() {
            Some(reason) if !force => {
                let sentence = format!("media cannot be added while {}", before.status.word());
                Err(Failure::new(FailureKind::Conflict, sentence)
                    .detail(Some(SafeText::detail(reason))))
            }
            _ => Ok(before),
        }
    }

    /// Sends an upload as long as it moves.
    async fn watched(
        &self,
        call: &Call,
        form: &MediaForm,
        report: Report<'_>,
    ) -> Result<Reply, Failure> {
        let policy = self.transport.engine.policy();
        let storing = policy.headers + Duration::from_secs(form.total() / STORING);
        let mut told = Told { form, report };
        let mut answer = pin!(self.transport.fetch(call));
        let mut looks = tokio::time::interval(LOOK);
        let mut latest = (0, Instant::now());
        loop {
            tokio::select! {
                reply = &mut answer => return reply,
                _ = looks.tick() => {}
            }
            let sent = form.sent();
            told.tell();
            if sent != latest.0 {
                latest = (sent, Instant::now());
            }
            let patience = if sent < form.total() { policy.upload_idle } else { storing };
            if latest.1.elapsed() > patience {
                let sentence = "the upload stalled: the service takes no more of it";
                return Err(Failure::new(FailureKind::NoAnswer, sentence));
            }
        }
    }

    /// What became of a request that got no answer, by the state of the dataset (M37). Without a form
    /// there was nothing to upload.
    async fn after_loss(
        &self,
        before: &Dataset,
        form: Option<&MediaForm>,
        failure: Failure,
    ) -> Result<(), Failure> {
        if let Some(fault) = form.and_then(MediaForm::fault) {
            return Err(Failure::new(FailureKind::Local, format!("nothing was added: {fault}"))
                .remedy("Send it again when the files are at rest"));
        }
        if failure.kind != FailureKind::NoAnswer {
            return Err(failure);
        }
        let Ok(now) = self.dataset(before.id).await else { return Err(failure) };
        let changed = (&now.status, now.n_images, now.n_videos)
            != (&before.status, before.n_images, before.n_videos);
        let word = now.status.word();
        let (sent, total) = form.map_or((0, 0), |form| (form.sent(), form.total()));
        match (sent == total, changed) {
            (true, true) => Ok(()),
            (true, false) => Err(failure),
            (false, true) => Err(Failure::new(
                FailureKind::Conflict,
                format!("the upload was refused on its way: the dataset is {word} now"),
            )
            .remedy("Another operation is running; send it again when that is done")),
            (false, false) => Err(Failure::new(
                FailureKind::NoAnswer,
                format!(
                    "the upload was cut off after {sent} of {total} bytes; the dataset is {word} as \
                     before, so nothing was added"
                ),
            )
            .detail(failure.detail)
            .remedy("Send it again; in smaller parts, if the service refuses its size")),
        }
    }
}

/// How far an upload has come. Told a last time when it ends or is given up: whether all of it was
/// sent then decides what is said of it.
struct Told<'a> {
    form: &'a MediaForm,
    report: Report<'a>,
}

impl Told<'_> {
    fn tell(&mut self) {
        (self.report)(self.form.sent(), Some(self.form.total()));
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        self.tell();
    }
}

fn refuse(sentence: &str) -> Failure {
    Failure::new(FailureKind::Local, sentence)
}
