//! Downloads: fetch an archive into its part file, go on where it stopped, ask for a fresh link
//! when the old one has expired, verify, and only then give it its name.
//!
//! A part is continued even when the service names no version of the archive: the checksums at the
//! end tell, and a damaged archive that was put together from pieces is fetched once more whole.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use reqwest::{
    Response, StatusCode, Url,
    header::{ACCEPT_ENCODING, HeaderMap, HeaderValue, IF_RANGE, RANGE},
};

use crate::{
    archive::{self, Contents},
    call::Call,
    client::Client,
    http::Body,
    operation::Operation,
    part::{Existing, Part},
    range::{ContentRange, Version, validator},
    retry::Attempts,
    setback::Setback,
    witness::Attempt,
};
use tessera_model::{
    Archive, DatasetId, ExportState, ExportTask, ExportTaskId, Failure, FailureKind, Link,
};

/// Fresh links in a row that may bring no byte.
const FRESH_LINKS: u32 = 3;

/// Told after each piece: bytes so far, and bytes in all when known.
pub type Report<'a> = &'a mut (dyn FnMut(u64, Option<u64>) + Send);

/// One archive on its way.
struct Transfer<'a> {
    client: &'a Client,
    export: (DatasetId, ExportTaskId),
    part: Part,
    version: Version,
    /// Whether the part was put together from more than one answer.
    pieced: bool,
}

/// What follows a setback.
enum Step {
    /// Nothing: the part was whole already.
    Whole,
    /// What is there fits to nothing: from the beginning.
    Restart,
    /// The link has expired, perhaps.
    FreshLink,
    /// The same again.
    Again(Duration),
    GiveUp,
}

impl Step {
    fn pause(&self) -> Option<Duration> {
        match self {
            Self::Whole | Self::GiveUp => None,
            Self::Restart | Self::FreshLink => Some(Duration::ZERO),
            Self::Again(pause) => Some(*pause),
        }
    }
}

impl Client {
    /// Fetches the archive of a finished export to `target`, verified.
    ///
    /// # Errors
    /// [`FailureKind::Local`] before any request when the target exists and is to be kept, and for whatever the disk
    /// refuses; [`FailureKind::Conflict`] when the export is not finished;
    /// [`FailureKind::Unexpected`] when the archive is damaged; else whatever keeps it away. The
    /// part file stays, and the next call goes on from there.
    pub async fn download(
        &self,
        export: (DatasetId, ExportTaskId),
        (target, existing): (&Path, Existing),
        report: Report<'_>,
    ) -> Result<Archive, Failure> {
        let mut transfer = Transfer {
            client: self,
            export,
            part: Part::open(target, existing, export.1).await?,
            version: Version::default(),
            pieced: false,
        };
        transfer.run(report).await?;
        let mut verified = transfer.verify().await?;
        if verified.is_err() && transfer.pieced {
            transfer.restart().await?;
            transfer.pieced = false;
            transfer.run(report).await?;
            verified = transfer.verify().await?;
        }
        let Contents { entries, images } = match verified {
            Ok(contents) => contents,
            Err(damage) => return Err(transfer.condemn(&damage)),
        };
        let (path, bytes) = transfer.part.publish()?;
        Ok(Archive { path, bytes, entries, images })
    }

    /// A link that is good now. A finished export may be without one for a while (D21).
    async fn fresh_link(&self, (dataset, task): (DatasetId, ExportTaskId)) -> Result<Url, Failure> {
        let policy = self.transport.engine.policy();
        let asked = Instant::now();
        loop {
            let export = self.export_status(dataset, task).await?;
            if let Some(link) = link_of(export)? {
                return self.transport.resolve(&link);
            }
            if asked.elapsed() >= policy.link {
                let sentence = "the export is complete, but the service gives no link to it";
                let failure = Failure::new(FailureKind::Unexpected, sentence);
                return Err(failure.remedy("Try again later, or start the export again"));
            }
            tokio::time::sleep(policy.link_pause).await;
        }
    }
}

/// The link to a finished export, if it is there already.
fn link_of(export: ExportTask) -> Result<Option<Link>, Failure> {
    let word = export.state.word();
    match &export.state {
        ExportState::Completed => Ok(export.download),
        ExportState::Running(_) => {
            let sentence = format!("the export is not finished: {word}");
            Err(Failure::new(FailureKind::Conflict, sentence).remedy("Wait until it is"))
        }
        ExportState::Failed(_) => {
            let sentence = format!("there is no archive: the export ended as {word}");
            let failure = Failure::new(FailureKind::NotFound, sentence);
            Err(failure.detail(export.message).remedy("Start the export again"))
        }
    }
}

impl Transfer<'_> {
    /// Fetches until the part is whole.
    async fn run(&mut self, report: Report<'_>) -> Result<(), Failure> {
        let transport = &self.client.transport;
        let mut call = Call::get(Operation::Download, self.client.fresh_link(self.export).await?);
        let mut attempts = Attempts::new(call.operation, call.origin());
        let (mut furthest, mut links) = (self.part.have(), 0);
        loop {
            call.headers = self.headers();
            let attempt = Attempt::new(&call, attempts.number());
            let setback = match self.fetch(&call, report).await {
                Ok(status) => {
                    transport.witness.tell(|| attempt.answered(status, self.part.have()));
                    return Ok(());
                }
                Err(setback) => setback,
            };
            if self.part.have() > furthest {
                furthest = self.part.have();
                links = 0;
                transport.engine.succeeded(&mut attempts);
            }
            let step = self.after(&mut attempts, &setback, links);
            transport.witness.tell(|| attempt.failed(&setback, step.pause()));
            match step {
                Step::Whole => return Ok(()),
                Step::Restart => self.restart().await?,
                Step::FreshLink => {
                    links += 1;
                    call.url = self.client.fresh_link(self.export).await?;
                }
                Step::Again(pause) => tokio::time::sleep(pause).await,
                Step::GiveUp => return Err(transport.explain(&call, setback)),
            }
        }
    }

    /// What follows a setback, after so many fresh links that brought no byte.
    fn after(&self, attempts: &mut Attempts, setback: &Setback, links: u32) -> Step {
        if let Setback::Refused(refusal) = setback {
            let status = refusal.status;
            if status == StatusCode::RANGE_NOT_SATISFIABLE && self.part.have() > 0 {
                let total = ContentRange::of(&refusal.headers).and_then(|range| range.total);
                return if total == Some(self.part.have()) { Step::Whole } else { Step::Restart };
            }
            if matches!(status.as_u16(), 400 | 401 | 403 | 404 | 410) && links < FRESH_LINKS {
                return Step::FreshLink;
            }
        }
        let pause = self.client.transport.engine.after(attempts, setback);
        pause.map_or(Step::GiveUp, Step::Again)
    }

    /// One request, from where the part ends.
    async fn fetch(&mut self, call: &Call, report: Report<'_>) -> Result<StatusCode, Setback> {
        let response = self.client.transport.head(call).await?;
        let status = response.status();
        self.line_up(&response).await?;
        let missing = self.version.total.map(|total| total.saturating_sub(self.part.have()));
        self.part.check_room(missing.unwrap_or_default()).map_err(Setback::Final)?;
        let idle = self.client.transport.engine.policy().idle;
        let mut body = Body::transfer(response, idle);
        while let Some(piece) = body.next().await? {
            self.part.append(&piece).await.map_err(Setback::Final)?;
            report(self.part.have(), self.version.total);
        }
        match self.version.total {
            Some(total) if self.part.have() < total => {
                Err(Setback::NoAnswer("the transfer was cut off".to_owned()))
            }
            _ => Ok(status),
        }
    }

    /// Makes sure that the coming bytes belong at the end of the part.
    async fn line_up(&mut self, response: &Response) -> Result<(), Setback> {
        let headers = response.headers();
        let validator = validator(headers);
        if response.status() != StatusCode::PARTIAL_CONTENT {
            // The whole archive: no range was asked for, or it has changed, or ranges are ignored.
            self.restart().await.map_err(Setback::Final)?;
            self.version = Version { validator, total: response.content_length() };
            return Ok(());
        }
        let range = ContentRange::of(headers).filter(|range| {
            let same_version = self.version.validator.is_none()
                || validator.is_none()
                || self.version.validator == validator;
            let same_total = self.version.total.is_none() || self.version.total == range.total;
            range.start == Some(self.part.have()) && same_total && same_version
        });
        let Some(range) = range else {
            self.restart().await.map_err(Setback::Final)?;
            let cause = "another part of the archive came than was asked for";
            return Err(Setback::NoAnswer(cause.to_owned()));
        };
        self.pieced = true;
        self.version.total = range.total;
        self.version.validator = validator.or(self.version.validator.take());
        Ok(())
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if self.part.have() > 0 {
            let range = format!("bytes={}-", self.part.have());
            headers.extend(HeaderValue::try_from(range).ok().map(|range| (RANGE, range)));
            headers.extend(self.version.validator.clone().map(|known| (IF_RANGE, known)));
        }
        headers
    }

    async fn restart(&mut self) -> Result<(), Failure> {
        self.version = Version::default();
        self.part.restart().await
    }

    /// Reads the archive on a thread of its own; the inner error says what is wrong with it.
    async fn verify(&mut self) -> Result<Result<Contents, String>, Failure> {
        let file = self.part.settle().await?;
        let verified = tokio::task::spawn_blocking(|| archive::verify(file)).await;
        Ok(verified.unwrap_or_else(|_| Err("it cannot be read".to_owned())))
    }

    /// Removes a damaged archive and says what is wrong with it.
    fn condemn(self, damage: &str) -> Failure {
        let failure =
            Failure::new(FailureKind::Unexpected, format!("the archive arrived damaged: {damage}"));
        match self.part.discard() {
            Ok(()) => failure.remedy("Download it again"),
            Err(disk) => disk,
        }
    }
}
