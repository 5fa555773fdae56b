//! Downloads an archive into its part file. An interrupted download is resumed, and an expired link is requested again.
//! The part file is renamed only after the archive was verified.
//!
//! A download is resumed even if the service does not identify the version of the archive, because the checksums are
//! verified at the end. A damaged archive that was assembled from several responses is downloaded once more from the
//! start.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use crate::{
    bounded_unpack::{self, BodyDecoder, VerifiedArchive, content_encoding},
    client::Client,
    errors::AttemptError,
    part_file::{ExistingFile, PartFile},
    recorder::Attempt,
    request::{ApiRequest, MAX_ERROR_BODY_BYTES},
    retry::RetryState,
    transport::BodyReader,
};
use reqwest::{
    Response, StatusCode, Url,
    header::{
        ACCEPT_ENCODING, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, IF_RANGE, LAST_MODIFIED,
        RANGE,
    },
};
use tessera_model::{
    Archive, DatasetId, ExportState, ExportTask, ExportTaskId, Failure, FailureKind, Link,
};
use tessera_wire::{endpoints::Endpoint, error_body::read_error_message};

/// The maximum number of new links in a row without a byte of progress.
const MAX_LINK_REFRESHES: u32 = 3;

/// Called after each chunk with the number of bytes so far and, if known, the total.
pub type ProgressCallback<'a> = &'a mut (dyn FnMut(u64, Option<u64>) + Send);

struct DownloadTransfer<'a> {
    client: &'a Client,
    dataset: DatasetId,
    task: ExportTaskId,
    part: PartFile,
    version: ArchiveVersion,
    /// Whether the part file was assembled from more than one response.
    resumed: bool,
}

enum DownloadStep {
    Complete,
    /// The part file does not match the archive, so the download starts over.
    Restart,
    /// The link may have expired, so a new link is requested.
    RefreshLink,
    Retry(Duration),
    GiveUp,
}

impl DownloadStep {
    fn pause(&self) -> Option<Duration> {
        match self {
            Self::Complete | Self::GiveUp => None,
            Self::Restart | Self::RefreshLink => Some(Duration::ZERO),
            Self::Retry(pause) => Some(*pause),
        }
    }
}

impl Client {
    /// Downloads the archive of a finished export to `target`, and verifies it.
    ///
    /// # Errors
    /// [`FailureKind::Local`] before any request if the target exists and is kept, or later if the disk fails.
    /// [`FailureKind::Conflict`] if the export is not finished. [`FailureKind::Unexpected`] if the archive is damaged.
    /// After an error, the part file stays unless it is empty, and the next call resumes the download.
    pub async fn download(
        &self,
        dataset: DatasetId,
        task: ExportTaskId,
        target: &Path,
        existing: ExistingFile,
        report: ProgressCallback<'_>,
    ) -> Result<Archive, Failure> {
        let mut transfer = DownloadTransfer {
            client: self,
            dataset,
            task,
            part: PartFile::open(target, existing, task).await?,
            version: ArchiveVersion::default(),
            resumed: false,
        };
        let VerifiedArchive { entries, images } = match transfer.run_verified(report).await {
            Ok(Ok(contents)) => contents,
            Ok(Err(failure)) => return Err(transfer.part.discard().err().unwrap_or(failure)),
            Err(failure) => {
                if transfer.part.bytes_written == 0 {
                    transfer.part.discard().ok();
                }
                return Err(failure);
            }
        };
        let (path, bytes) = transfer.part.publish()?;
        Ok(Archive { path, bytes, entries, images })
    }

    /// Returns a valid link. A finished export may have no link for a while.
    async fn wait_for_link(&self, dataset: DatasetId, task: ExportTaskId) -> Result<Url, Failure> {
        let policy = self.transport.retry_engine.policy();
        let requested = Instant::now();
        loop {
            let export = self.export_status(dataset, task).await?;
            if let Some(link) = download_link(export)? {
                return self.transport.resolve(&link);
            }
            if requested.elapsed() >= policy.link_timeout {
                return Err(ExportTask::missing_link());
            }
            tokio::time::sleep(policy.link_poll_interval).await;
        }
    }
}

fn download_link(export: ExportTask) -> Result<Option<Link>, Failure> {
    let word = export.state.as_str();
    match &export.state {
        ExportState::Completed => Ok(export.download),
        ExportState::Running(_) => {
            let sentence = format!("the export is not finished: {word}");
            Err(Failure::new(FailureKind::Conflict, sentence)
                .with_remedy("Wait until it is finished"))
        }
        ExportState::Failed(_) => {
            let sentence = format!("the export has no archive: its final state is {word}");
            let failure = Failure::new(FailureKind::NotFound, sentence);
            Err(failure.with_detail(export.message).with_remedy("Start the export again"))
        }
    }
}

impl DownloadTransfer<'_> {
    /// Downloads and verifies the archive. The inner error says why it is not an archive.
    async fn run_verified(
        &mut self,
        report: ProgressCallback<'_>,
    ) -> Result<Result<VerifiedArchive, Failure>, Failure> {
        self.run(report).await?;
        let verified = self.verify().await?;
        if verified.is_ok() || !self.resumed {
            return Ok(verified);
        }
        self.restart().await?;
        self.resumed = false;
        self.run(report).await?;
        self.verify().await
    }

    async fn run(&mut self, report: ProgressCallback<'_>) -> Result<(), Failure> {
        let transport = &self.client.transport;
        let mut request = ApiRequest::get(
            Endpoint::Download,
            self.client.wait_for_link(self.dataset, self.task).await?,
        );
        let mut attempts = RetryState::new(request.endpoint, request.origin());
        let (mut furthest, mut links) = (self.part.bytes_written, 0);
        loop {
            request.headers = self.range_headers();
            let attempt = Attempt::new(&request, attempts.number());
            let error = match self.fetch(&request, report).await {
                Ok(status) => {
                    transport
                        .recorder
                        .notify(|| attempt.succeeded(status, self.part.bytes_written));
                    return Ok(());
                }
                Err(error) => error,
            };
            if self.part.bytes_written > furthest {
                furthest = self.part.bytes_written;
                links = 0;
                transport.retry_engine.succeeded(&mut attempts);
            }
            let step = self.next_step(&mut attempts, &error, links);
            transport.recorder.notify(|| attempt.failed(&error, step.pause()));
            match step {
                DownloadStep::Complete => return Ok(()),
                DownloadStep::Restart => self.restart().await?,
                DownloadStep::RefreshLink => {
                    links += 1;
                    request.url = self.client.wait_for_link(self.dataset, self.task).await?;
                }
                DownloadStep::Retry(pause) => transport.pause(&error, pause).await,
                DownloadStep::GiveUp => return Err(transport.explain(&request, error)),
            }
        }
    }

    /// Decides what to do after a failed attempt. `links` counts the new links without progress.
    fn next_step(
        &self,
        attempts: &mut RetryState,
        error: &AttemptError,
        links: u32,
    ) -> DownloadStep {
        if let AttemptError::Rejected(rejection) = error {
            let status = rejection.status;
            if status == StatusCode::RANGE_NOT_SATISFIABLE && self.part.bytes_written > 0 {
                let total =
                    ContentRange::from_headers(&rejection.headers).and_then(|range| range.total);
                let complete = total == Some(self.part.bytes_written);
                return if complete { DownloadStep::Complete } else { DownloadStep::Restart };
            }
            if matches!(status.as_u16(), 400 | 401 | 403 | 404 | 410) && links < MAX_LINK_REFRESHES
            {
                return DownloadStep::RefreshLink;
            }
        }
        let pause = self.client.transport.retry_engine.next_pause(attempts, error);
        pause.map_or(DownloadStep::GiveUp, DownloadStep::Retry)
    }

    async fn fetch(
        &mut self,
        request: &ApiRequest,
        report: ProgressCallback<'_>,
    ) -> Result<StatusCode, AttemptError> {
        let response = self.client.transport.open_response(request).await?;
        let status = response.status();
        self.match_range(&response).await?;
        let missing = self.version.total.map(|total| total.saturating_sub(self.part.bytes_written));
        self.part.check_room(missing.unwrap_or_default()).map_err(AttemptError::Fatal)?;
        let idle = self.client.transport.retry_engine.policy().idle_timeout;
        let mut decoder = BodyDecoder::new(response.headers(), self.part.bytes_written);
        let mut body = BodyReader::transfer(response, idle);
        while let Some(chunk) = body.next_chunk().await? {
            let bytes = decoder.decode(chunk)?;
            if decoder.is_gzip() {
                // The length is of the encoded bytes.
                self.version.total = None;
                self.version.is_encoded = true;
            }
            if self.version.total.is_none() {
                // The size is unknown, so the reserve is kept as the archive grows.
                self.part.check_room(bytes.len() as u64).map_err(AttemptError::Fatal)?;
            }
            self.part.append(&bytes).await.map_err(AttemptError::Fatal)?;
            report(self.part.bytes_written, self.version.total);
        }
        let rest = decoder.end()?;
        if !rest.is_empty() {
            self.part.append(&rest).await.map_err(AttemptError::Fatal)?;
            report(self.part.bytes_written, self.version.total);
        }
        match self.version.total {
            Some(total) if self.part.bytes_written < total => {
                Err(AttemptError::NoResponse("the transfer was interrupted".into()))
            }
            _ => Ok(status),
        }
    }

    /// Ensures that the coming bytes belong at the end of the part file.
    async fn match_range(&mut self, response: &Response) -> Result<(), AttemptError> {
        let headers = response.headers();
        let validator = validator(headers);
        if response.status() != StatusCode::PARTIAL_CONTENT {
            // The response is the whole archive, because no range was requested, the archive has changed, or the
            // service ignores ranges.
            self.restart().await.map_err(AttemptError::Fatal)?;
            let is_encoded = content_encoding(headers).is_some();
            let total = response.content_length().filter(|_| !is_encoded);
            self.version = ArchiveVersion { validator, total, is_encoded };
            return Ok(());
        }
        if content_encoding(headers).is_some() {
            // The range is of the encoded bytes, which cannot be decoded from the middle.
            self.restart().await.map_err(AttemptError::Fatal)?;
            let cause = "the service sent a range of an encoded archive";
            return Err(AttemptError::NoResponse(cause.into()));
        }
        let range = ContentRange::from_headers(headers).filter(|range| {
            let same_version = self.version.validator.is_none()
                || validator.is_none()
                || self.version.validator == validator;
            let same_total = self.version.total.is_none() || self.version.total == range.total;
            range.start == Some(self.part.bytes_written) && same_total && same_version
        });
        let Some(range) = range else {
            self.restart().await.map_err(AttemptError::Fatal)?;
            let cause = "the service sent a different byte range than requested";
            return Err(AttemptError::NoResponse(cause.into()));
        };
        self.resumed = true;
        self.version.total = range.total;
        self.version.validator = validator.or(self.version.validator.take());
        Ok(())
    }

    fn range_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        // An encoded archive starts over, because ranges refer to the encoded bytes.
        if self.part.bytes_written > 0 && !self.version.is_encoded {
            let range = format!("bytes={}-", self.part.bytes_written);
            headers.extend(HeaderValue::try_from(range).ok().map(|range| (RANGE, range)));
            headers.extend(self.version.validator.clone().map(|known| (IF_RANGE, known)));
        }
        headers
    }

    async fn restart(&mut self) -> Result<(), Failure> {
        self.version = ArchiveVersion::default();
        self.part.restart().await
    }

    /// Verifies the archive on a blocking thread. The inner error says why it is not an archive.
    async fn verify(&mut self) -> Result<Result<VerifiedArchive, Failure>, Failure> {
        let file = self.part.sync().await?;
        if let Ok(Some(text)) = bounded_unpack::text_of(&file, MAX_ERROR_BODY_BYTES) {
            let failure = text_instead_of_archive(&text);
            let mask = self.client.transport.login_mask(None);
            let message = read_error_message(&text, None).map(|message| mask.apply(&message));
            return Ok(Err(failure.with_detail(message)));
        }
        let verified = tokio::task::spawn_blocking(|| bounded_unpack::verify(file)).await;
        let verified = verified.unwrap_or_else(|_| Err("it cannot be read".into()));
        Ok(verified.map_err(|damage| {
            let sentence = format!("the downloaded archive is damaged: {damage}");
            Failure::new(FailureKind::Unexpected, sentence).with_remedy("Download it again")
        }))
    }
}

/// Describes a successful response that has a text instead of the archive.
fn text_instead_of_archive(text: &[u8]) -> Failure {
    let text = text.trim_ascii_start().to_ascii_lowercase();
    let is_page = [&b"<!doctype html"[..], b"<html"].iter().any(|start| text.starts_with(start));
    let (kind, found, remedy) = if text.is_empty() {
        (FailureKind::Unexpected, "an empty response", "Try again later, or start the export again")
    } else if is_page {
        let remedy = "Open the link in a browser, which shows what a proxy or a login wants";
        (FailureKind::Unexpected, "a web page", remedy)
    } else {
        (FailureKind::Rejected, "an error", "Try again later, or start the export again")
    };
    Failure::new(kind, format!("the link of the archive returned {found}")).with_remedy(remedy)
}

/// What is known about the archive at the service.
#[derive(Default)]
pub(super) struct ArchiveVersion {
    /// A strong `ETag`, or `Last-Modified`.
    pub validator: Option<HeaderValue>,
    pub total: Option<u64>,
    /// Whether the service sends the archive in an encoding, although it was not requested.
    pub is_encoded: bool,
}

/// Returns the value for `If-Range`. A weak `ETag` is not used, because it does not guarantee equal bytes.
pub(super) fn validator(headers: &HeaderMap) -> Option<HeaderValue> {
    let strong = headers.get(ETAG).filter(|tag| !tag.as_bytes().starts_with(b"W/"));
    strong.or_else(|| headers.get(LAST_MODIFIED)).cloned()
}

/// The header `Content-Range`: `bytes 5-9/10`, or `bytes */10` with a 416.
pub(super) struct ContentRange {
    pub start: Option<u64>,
    pub total: Option<u64>,
}

impl ContentRange {
    pub(super) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let value = headers.get(CONTENT_RANGE)?.to_str().ok()?;
        let (range, total) = value.trim().strip_prefix("bytes ")?.split_once('/')?;
        Some(Self {
            start: range.split_once('-').and_then(|(start, _)| start.trim().parse().ok()),
            total: total.trim().parse().ok(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges() {
        let read = |value: &str| {
            let headers = [(CONTENT_RANGE, value.parse().unwrap())].into_iter().collect();
            ContentRange::from_headers(&headers).map(|range| (range.start, range.total))
        };
        assert_eq!(read("bytes 5-9/10"), Some((Some(5), Some(10))));
        assert_eq!(read("bytes 5-9/*"), Some((Some(5), None)));
        assert_eq!(read("bytes */10"), Some((None, Some(10))));
        for bad in ["bytes", "items 0-1/2", "bytes 5-9", ""] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn weak_etags_are_not_validators() {
        let of = |pairs: &[(reqwest::header::HeaderName, &str)]| {
            let pairs = pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
            validator(&pairs.collect())
        };
        let date = "Sat, 01 Aug 2026 00:00:00 GMT";
        assert_eq!(of(&[(ETAG, "\"v1\""), (LAST_MODIFIED, date)]).unwrap(), "\"v1\"");
        assert_eq!(of(&[(ETAG, "W/\"v1\""), (LAST_MODIFIED, date)]).unwrap(), date);
        assert_eq!(of(&[(ETAG, "W/\"v1\"")]), None);
    }
}
