//! Runs an addition. Each part is sent once, and the next part only after the previous one was
//! added. However the addition ends, it reports what was accepted, and prints a command that sends
//! the rest.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use serde_json::json;
use tokio::time::timeout;

use super::plan::{AdditionPart, AdditionPlan, unreadable_json, warn_of_unreadable};
use crate::cli::media::MediaAddOptions;
use crate::{
    cli::{
        CliError, CliResult, Column, Connection, Context, Document, Exit, JobRecorder,
        context::INTERRUPT_CHECK_TIMEOUT, messages::format_bytes, polling::Poller, reindex,
        values::timestamp_now,
    },
    config,
};
use tessera_client::Client;
use tessera_model::{
    AdditionJob, Dataset, Failure, FailureKind, JobKind, MediaAddition, Operation, Preflight,
    SafeText, ShellCommand, Status, polling::PollTarget,
};

pub struct AdditionRun<'a> {
    context: &'a Context,
    connection: &'a Connection<'a>,
    /// The client that sends the media.
    client: Client,
    options: &'a MediaAddOptions,
    plan: &'a AdditionPlan,
    /// The dataset as it was last observed.
    dataset: Dataset,
    accepted_parts: usize,
    /// The job of the part that is being sent.
    current_job: Option<JobRecorder<'a>>,
    sent_bytes: AtomicU64,
    /// Files that became unreadable after the preflight.
    late_skips: Preflight,
    reindexed: bool,
}

const SUMMARY_COLUMNS: &[Column] = &[
    Column::new("id", "dataset_id"),
    Column::new("name", "display_name"),
    Column::new("status", "status_new"),
    Column::new("files", "files"),
    Column::new("parts", "parts_accepted"),
    Column::new("skipped", "n_skipped"),
];

impl<'a> AdditionRun<'a> {
    pub fn new(
        connection: &'a Connection<'a>,
        client: Client,
        (options, plan): (&'a MediaAddOptions, &'a AdditionPlan),
        dataset: Dataset,
    ) -> Self {
        Self {
            context: connection.context,
            connection,
            client,
            options,
            plan,
            dataset,
            accepted_parts: 0,
            current_job: None,
            sent_bytes: AtomicU64::new(0),
            late_skips: Preflight::default(),
            reindexed: false,
        }
    }

    pub async fn run(mut self) -> CliResult {
        if self.context.is_dry_run() {
            return self.dry_run().await;
        }
        let context = self.context;
        let outcome = match context.until_interrupted(self.send_all()).await {
            Some(outcome) => outcome,
            None => Err(self.handle_interrupt().await),
        };
        if self.accepted_parts > 0 {
            self.context.print(&self.summary())?;
        }
        outcome.map_err(|error| self.with_resume_command(error))?;
        Ok(if self.skipped_count() > 0 { Exit::Incomplete } else { Exit::Done })
    }

    async fn send_all(&mut self) -> CliResult<()> {
        self.wait_until_idle().await?;
        for part in &self.plan.parts {
            self.context.require_allowed(&self.dataset, Operation::AddMedia, self.options.force)?;
            self.send_part(part).await?;
        }
        if self.options.then_reindex { self.reindex().await } else { Ok(()) }
    }

    /// Waits until no task is running, if `--queue` is given.
    async fn wait_until_idle(&mut self) -> CliResult<()> {
        let busy = |status: &Status| matches!(status, Status::ReadOnly | Status::Indexing);
        if !self.options.queue
            || self.context.require_writable().is_err()
            || !busy(&self.dataset.status)
        {
            return Ok(());
        }
        let mut poller = Poller::new(self.context, None);
        let (id, status) = (self.dataset.id, self.dataset.status.as_str());
        let message = format!("{} is {status}; waiting until it is idle", self.dataset.name);
        poller.emit("queued", json!({ "dataset_id": id, "status_new": status }), &message)?;
        while busy(&self.dataset.status) {
            poller.wait(PollTarget::BusyDatasets).await?;
            self.dataset = poller.fetch_dataset(self.connection, id).await?;
        }
        Ok(())
    }

    /// Sends one part. Waits for the part if another step follows.
    async fn send_part(&mut self, part: &AdditionPart) -> CliResult<()> {
        let id = self.dataset.id;
        self.sent_bytes.store(0, Ordering::Relaxed);
        let recorder = JobRecorder::begin(self.connection, &self.dataset, self.job_kind());
        self.current_job = Some(recorder);
        let mut bar = self.context.messages.progress_bar(self.part_label());
        let sent = &self.sent_bytes;
        let mut report = |done, all| {
            sent.store(done, Ordering::Relaxed);
            bar.set_bytes(done, all);
        };
        let response = self.client.add_media(id, &part.addition, &mut report).await;
        drop(bar);
        // After an interrupt the recorder is gone, so this code does not run any more.
        let Some(mut recorder) = self.current_job.take() else {
            return Err(CliError::interrupted());
        };
        let (accepted, preflight) = response.inspect_err(|failure| recorder.set_failed(failure))?;
        self.record_accepted(part, preflight);
        recorder.apply(|job| job.operation_accepted(timestamp_now(), accepted));
        let last = self.accepted_parts == self.plan.parts.len();
        if last && !self.options.wait && !self.options.then_reindex {
            return Ok(());
        }
        self.follow(recorder).await
    }

    fn record_accepted(&mut self, part: &AdditionPart, preflight: Preflight) {
        let Preflight { unreadable, unreadable_files, .. } = preflight;
        let contents = match part.files {
            0 => self.plan.description.clone(),
            files => format!("{} files, {}", files - unreadable, format_bytes(part.bytes)),
        };
        self.context.messages.info(format!("{}: accepted ({contents})", self.part_label()));
        warn_of_unreadable(self.context, &unreadable_files);
        self.late_skips.unreadable += unreadable;
        self.late_skips.unreadable_files.extend(unreadable_files);
        self.accepted_parts += 1;
    }

    async fn follow(&mut self, mut recorder: JobRecorder<'_>) -> CliResult<()> {
        recorder.follow_operation().await?;
        self.dataset = self.connection.client.dataset(self.dataset.id).await?;
        Ok(())
    }

    async fn reindex(&mut self) -> CliResult<()> {
        if self.dataset.status == Status::Ready {
            self.context.messages.info("the dataset is READY; nothing to reindex");
            return Ok(());
        }
        self.context.require_allowed(&self.dataset, Operation::Reindex, self.options.force)?;
        let recorder = reindex::send_reindex(self.connection, &self.dataset).await?;
        self.reindexed = true;
        self.context.messages.info("reindex: accepted");
        if !self.options.wait {
            return Ok(());
        }
        self.follow(recorder).await
    }

    async fn dry_run(&self) -> CliResult {
        let Some(first) = self.plan.parts.first() else { return Ok(Exit::Done) };
        let permission =
            self.context.require_allowed(&self.dataset, Operation::AddMedia, self.options.force);
        // Only the status check matters here, because the request is recorded instead of sent.
        let forced = MediaAddition { force: true, ..first.addition.clone() };
        let id = self.dataset.id;
        let failure = self.client.add_media(id, &forced, &mut |_, _| {}).await.err();
        if self.context.global.print.is_some() {
            // Closing the connection prints the command.
            return permission.map(|()| Exit::Done);
        }
        let Some(request) = self.connection.take_dry_run_request() else {
            return Err(
                failure.map_or_else(|| CliError::failed("the request was sent"), CliError::from)
            );
        };
        self.context.messages.info(self.plan.summary(&self.dataset));
        self.context.messages.info(format!("{} {}", request.method, request.url));
        let refusal = permission.as_ref().err().map(|error| error.message.as_str());
        self.context.print(&self.plan.document(&self.dataset, &request, refusal))?;
        self.context.messages.info("nothing was sent");
        permission.map(|()| if self.skipped_count() > 0 { Exit::Incomplete } else { Exit::Done })
    }

    fn skipped_count(&self) -> u64 {
        self.plan.preflight.unreadable + self.late_skips.unreadable
    }

    fn job_kind(&self) -> JobKind {
        let source = match self.plan.parts.len() {
            1 => self.plan.description.clone(),
            _ => format!("{} ({})", self.plan.description, self.part_label()),
        };
        JobKind::AddMedia(AdditionJob {
            source: SafeText::file_name(&source),
            cli_options: SafeText::file_name(self.plan.option.as_str()),
            auto_reindex: self.options.reindex,
        })
    }

    fn part_label(&self) -> String {
        match self.plan.parts.len() {
            1 => "add media".to_owned(),
            all => format!("part {} of {all}", self.accepted_parts + 1),
        }
    }

    /// Describes what an interrupt means for the part that was being sent.
    async fn handle_interrupt(&mut self) -> CliError {
        let Some(mut recorder) = self.current_job.take() else {
            return CliError::interrupted();
        };
        let bytes = self.plan.parts.get(self.accepted_parts).map_or(0, |part| part.bytes);
        let sent = self.sent_bytes.load(Ordering::Relaxed);
        let check = self.connection.client.dataset(self.dataset.id);
        let status = match timeout(INTERRUPT_CHECK_TIMEOUT, check).await {
            Ok(Ok(now)) => format!("{} is {}", now.name, now.status.as_str()),
            Ok(Err(_)) | Err(_) => "the dataset could not be read in time".to_owned(),
        };
        let message = if sent < bytes {
            let (sent, bytes) = (format_bytes(sent), format_bytes(bytes));
            format!("interrupted after {sent} of {bytes}: nothing of this upload was added")
        } else {
            "interrupted when everything was sent: it may have been accepted".to_owned()
        };
        let kind = if sent < bytes { FailureKind::Local } else { FailureKind::NoResponse };
        recorder.set_failed(&Failure::new(kind, message.as_str()));
        CliError::new(Exit::Interrupted, format!("{message}; {status}"))
    }

    fn with_resume_command(&self, error: CliError) -> CliError {
        let all = self.plan.parts.len();
        let remaining = self.plan.parts.get(self.accepted_parts..).unwrap_or_default();
        // If no part was accepted yet, the same command can be repeated.
        if self.accepted_parts == 0 || remaining.is_empty() {
            return error;
        }
        let error = error.with_context(&format!(
            "{} of {all} parts were accepted; {} files remain",
            self.accepted_parts,
            AdditionPlan::file_count(remaining)
        ));
        match self.save_remaining(remaining) {
            Ok(list) => error.with_remedy(self.resume_command(&list)),
            Err(reason) => {
                let warning = format!("cannot save the list of remaining files: {reason}");
                self.context.messages.warn(warning);
                error
            }
        }
    }

    fn save_remaining(&self, remaining: &[AdditionPart]) -> Result<PathBuf, String> {
        let list = AdditionPlan::file_list(remaining).map_err(|error| error.to_string())?;
        let folder = config::state_dir(&self.connection.deployment_name);
        let folder = folder.ok_or_else(|| "the home folder is unknown".to_owned())?;
        let path = folder.join(format!("rest-{}.list", self.dataset.id));
        tessera_files::write_user_file(&path, &list)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    fn resume_command(&self, list: &Path) -> ShellCommand {
        let MediaAddOptions { split, wait, then_reindex, .. } = self.options;
        let command = ShellCommand::new("tessera media add").word(self.dataset.id.to_string());
        let mut command = command.option("--files-from", list);
        if let Some(split) = split {
            command = command.option("--split", split.to_string());
        }
        let then_reindex = if *then_reindex { "--then-reindex" } else { "" };
        let by_cookie = if self.options.by_cookie() { "--auth cookie" } else { "" };
        command.text(by_cookie).text(then_reindex).text(if *wait { "--wait" } else { "" })
    }

    fn summary(&self) -> Document {
        let accepted = self.plan.parts.get(..self.accepted_parts).unwrap_or_default();
        let unreadable = &self.plan.preflight.unreadable_files;
        let unreadable = unreadable.iter().chain(&self.late_skips.unreadable_files);
        let waited = self.options.wait || self.options.then_reindex;
        let summary = json!({
            "dataset_id": self.dataset.id,
            "display_name": self.dataset.name.as_str(),
            // Without a wait, the observed status is the one from before the addition.
            "status_new": waited.then(|| self.dataset.status.as_str()),
            "source": self.plan.description,
            "files": AdditionPlan::file_count(accepted) - self.late_skips.unreadable,
            "bytes": accepted.iter().map(|part| part.bytes).sum::<u64>(),
            "parts": self.plan.parts.len(),
            "parts_accepted": self.accepted_parts,
            "reindex_accepted": self.reindexed,
            "skipped": unreadable_json(unreadable),
            "n_skipped": self.skipped_count(),
        });
        Document::one("tessera.addition/1", summary, SUMMARY_COLUMNS)
    }
}
