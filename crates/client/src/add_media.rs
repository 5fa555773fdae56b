//! Adds media: an upload is sent once, and after a lost connection the state of the dataset decides.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use crate::{
    client::Client,
    download::ProgressCallback,
    multipart::{Form, FormContent, FormPart, with_path},
    preflight::{UploadFile, check_archive, collect_files},
    request::{ApiRequest, RequestBody},
    response::ApiResponse,
    service_config::AuthMethod,
};
use tessera_model::{
    Dataset, DatasetId, Failure, FailureKind, MediaAddition, MediaSource, Preflight, SafeText,
    dataset::Operation,
};
use tessera_wire::{
    add_media::{Accepted, accepted_since, field, read_processing},
    endpoints::{self, Endpoint, Parameters, query},
};

const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// The rate, in bytes per second, at which a service is expected to store an upload before it responds.
const MIN_STORE_RATE: u64 = 1 << 20;

/// Media that a service has accepted.
#[derive(Clone, Debug)]
pub struct AddedMedia {
    pub accepted: Accepted,
    /// Describes what was sent, and which files were skipped.
    pub preflight: Preflight,
}

impl Client {
    /// Adds media to a dataset. The request is sent once.
    ///
    /// # Errors
    /// [`FailureKind::Local`] before any request if the input is invalid, or later if a file changes while it is sent.
    /// [`FailureKind::Conflict`] if the dataset is busy. [`FailureKind::NoResponse`] or [`FailureKind::Unconfirmed`] if
    /// the outcome is unknown.
    pub async fn add_media(
        &self,
        dataset: DatasetId,
        addition: &MediaAddition,
        report: ProgressCallback<'_>,
    ) -> Result<AddedMedia, Failure> {
        addition.validate().map_err(|invalid| Failure::local(invalid.to_string()))?;
        if addition.spot.is_some() && matches!(self.service().auth(), AuthMethod::OnPremises) {
            return Err(Failure::local("use_spot: only for hosted deployments"));
        }
        if let MediaSource::ServerPath(path) = &addition.source {
            let accepted = self.process_folder(dataset, path, addition.force).await?;
            return Ok(AddedMedia { accepted, preflight: Preflight::default() });
        }
        let (form, preflight) = media_form(addition).await?;
        // The status is checked first, because the response of an early rejection is often lost during a long upload.
        let previous = self.require_addable(dataset, addition.force).await?;
        let url =
            self.service().base_url().url_for(&endpoints::add_media(dataset), &Parameters::new());
        let request = ApiRequest::new(Endpoint::AddMedia, url, RequestBody::Form(form.clone()));
        let response = self.upload(&request, &form, report).await;
        let accepted = match response.and_then(|response| response.read_accepted()) {
            Ok(accepted) => accepted,
            Err(failure) => self.resolve_lost_upload(&previous, Some(&form), failure).await?,
        };
        Ok(AddedMedia { accepted, preflight })
    }

    /// Adds a folder that the pipeline can read, by `GET process/add_media` of the pipeline.
    async fn process_folder(
        &self,
        dataset: DatasetId,
        path: &str,
        force: bool,
    ) -> Result<Accepted, Failure> {
        let pipeline = self.service().pipeline_url().ok_or_else(|| {
            Failure::local("path: no pipeline URL is configured for this deployment")
                .with_remedy("Set pipeline_url in the profile of the deployment")
        })?;
        let parameters =
            vec![(query::DATASET_ID, dataset.to_string()), (query::PATH, path.to_owned())];
        let url = pipeline.url_for(endpoints::PROCESS_ADD_MEDIA, &parameters);
        let previous = self.require_addable(dataset, force).await?;
        let request = ApiRequest::get(Endpoint::ProcessMedia, url);
        let response = self.transport.fetch(&request).await;
        match response.and_then(|response| self.read(&response, read_processing)) {
            Ok(accepted) => Ok(accepted),
            Err(failure) => self.resolve_lost_upload(&previous, None, failure).await,
        }
    }

    async fn require_addable(&self, dataset: DatasetId, force: bool) -> Result<Dataset, Failure> {
        let previous = self.dataset(dataset).await?;
        match previous.status.allows(Operation::AddMedia).denial_reason() {
            Some(reason) if !force => {
                let sentence =
                    format!("cannot add media while the dataset is {}", previous.status.as_str());
                Err(Failure::new(FailureKind::Conflict, sentence)
                    .with_detail(Some(SafeText::detail(reason))))
            }
            _ => Ok(previous),
        }
    }

    /// Sends an upload, and stops it if it stalls.
    async fn upload(
        &self,
        request: &ApiRequest,
        form: &Form,
        report: ProgressCallback<'_>,
    ) -> Result<ApiResponse, Failure> {
        let policy = self.transport.retry_engine.policy();
        let storing =
            policy.header_timeout + Duration::from_secs(form.content_bytes / MIN_STORE_RATE);
        let mut reporter = UploadReporter { form, report };
        let mut response = pin!(self.transport.fetch(request));
        let mut ticks = tokio::time::interval(PROGRESS_INTERVAL);
        let mut latest = (0, Instant::now());
        loop {
            tokio::select! {
                reply = &mut response => return reply,
                _ = ticks.tick() => {}
            }
            let sent = form.sent_bytes();
            reporter.report_progress();
            if sent != latest.0 {
                latest = (sent, Instant::now());
            }
            let idle = policy.upload_idle_timeout;
            let timeout = if sent < form.content_bytes { idle } else { storing };
            if latest.1.elapsed() > timeout {
                let sentence = "the upload stalled: the service accepts no more data";
                return Err(Failure::new(FailureKind::NoResponse, sentence));
            }
        }
    }

    /// Decides the outcome by the state of the dataset. Without a form, nothing was uploaded.
    async fn resolve_lost_upload(
        &self,
        previous: &Dataset,
        form: Option<&Form>,
        failure: Failure,
    ) -> Result<Accepted, Failure> {
        if let Some(error) = form.and_then(Form::file_error) {
            return Err(Failure::local(format!("nothing was added: {error}"))
                .with_remedy("Send it again when the files no longer change"));
        }
        if !matches!(failure.kind, FailureKind::NoResponse | FailureKind::Unconfirmed) {
            return Err(failure);
        }
        let (sent, total) = form.map_or((0, 0), |form| (form.sent_bytes(), form.content_bytes));
        if sent == total {
            let acceptance = self.find_acceptance(previous).await;
            return acceptance.map(|(_, accepted)| accepted).ok_or(failure);
        }
        let Ok(now) = self.dataset(previous.id).await else { return Err(failure) };
        let word = now.status.as_str();
        match accepted_since(previous, &now) {
            Some(_) => Err(Failure::new(
                FailureKind::Conflict,
                format!("the upload was rejected during the transfer: the dataset is {word} now"),
            )
            .with_remedy("Another task is running; send it again when that is done")),
            None => Err(Failure::new(
                FailureKind::NoResponse,
                format!(
                    "the upload was interrupted after {sent} of {total} bytes, so nothing was added; the \
                     dataset is {word}"
                ),
            )
            .with_detail(failure.detail)
            .with_remedy("Send it again, in smaller parts if the service rejects its size")),
        }
    }

    /// Looks for evidence in the dataset that a request was accepted whose response was lost. A service may change the
    /// dataset only some time after it has accepted a request, so the dataset is read several times.
    pub async fn find_acceptance(&self, previous: &Dataset) -> Option<(Dataset, Accepted)> {
        for pause in self.transport.retry_engine.policy().acceptance_check_delays {
            tokio::time::sleep(pause).await;
            if let Ok(now) = self.dataset(previous.id).await
                && let Some(accepted) = accepted_since(previous, &now)
            {
                return Some((now, accepted));
            }
        }
        None
    }
}

/// Reports the progress once more when it is dropped, because the outcome is reported differently if everything was
/// sent.
struct UploadReporter<'a> {
    form: &'a Form,
    report: ProgressCallback<'a>,
}

impl UploadReporter<'_> {
    fn report_progress(&mut self) {
        (self.report)(self.form.sent_bytes(), Some(self.form.content_bytes));
    }
}

impl Drop for UploadReporter<'_> {
    fn drop(&mut self) {
        self.report_progress();
    }
}

/// Checks the files of an addition. Returns the form, and the result of the check, which is empty for a remote source.
/// Unreadable files are skipped. Only the bytes of the files count as content.
async fn media_form(addition: &MediaAddition) -> Result<(Form, Preflight), Failure> {
    let source = addition.source.clone();
    let files = tokio::task::spawn_blocking(move || files_of_source(&source)).await;
    let (field, files, preflight) =
        files.map_err(|_| Failure::local("the files could not be checked"))??;
    let content_bytes = files.iter().map(|file| file.fingerprint.bytes).sum();
    let text = |(field, text): (&'static str, String)| FormPart {
        field: field.into(),
        content: FormContent::Text(text.into()),
    };
    let file = |file| FormPart { field: field.into(), content: FormContent::OnDisk(file) };
    let texts = text_fields(addition).into_iter().map(text);
    let mut form = Form::new(texts.chain(files.into_iter().map(file)));
    form.content_bytes = content_bytes;
    Ok((form, preflight))
}

/// Returns the form field, the files, and the result of checking them. A remote source has no files.
fn files_of_source(
    source: &MediaSource,
) -> Result<(&'static str, Vec<UploadFile>, Preflight), Failure> {
    match source {
        MediaSource::Files(paths) => {
            let (files, preflight) = collect_files(paths, None);
            if files.is_empty() {
                let sentence = format!("no readable media: {} unreadable", preflight.unreadable);
                return Err(Failure::local(sentence).with_remedy("Choose other files"));
            }
            Ok((field::FILES, files, preflight))
        }
        MediaSource::Archive(path) => {
            let archive =
                check_archive(path).map_err(|reason| Failure::local(with_path(path, &reason)))?;
            Ok((field::ARCHIVE, vec![archive.file], Preflight::default()))
        }
        MediaSource::Storage(_) | MediaSource::ServerPath(_) => {
            Ok((field::FILES, Vec::new(), Preflight::default()))
        }
    }
}

/// Returns the short text fields. Unset values are not sent.
fn text_fields(addition: &MediaAddition) -> Vec<(&'static str, String)> {
    let mut texts = vec![(field::AUTO_REINDEX, addition.auto_reindex.to_string())];
    if let MediaSource::Storage(uri) = &addition.source {
        texts.push((field::S3_URI, uri.clone()));
    }
    let counts = [
        (field::BATCH_N_VIDEOS, addition.batch_videos),
        (field::BATCH_N_IMAGES, addition.batch_images),
        (field::BATCH_N_OBJECTS, addition.batch_objects),
    ];
    texts.extend(counts.into_iter().filter_map(|(name, count)| Some((name, count?.to_string()))));
    texts.extend(addition.assume_role.iter().map(|role| (field::ASSUME_ROLE, role.clone())));
    texts.extend(addition.spot.map(|spot| (field::USE_SPOT, spot.to_string())));
    texts
}
