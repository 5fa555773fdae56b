//! Runs an addition. Each part is sent once, and the next part only after the previous one was
//! added. However the addition ends, it reports what was accepted, and prints a command that sends
//! the rest.

use std::sync::atomic::{AtomicU64, Ordering};

use clap::ValueEnum;
use secrecy::SecretString;
use tessera_client::Client;
use tessera_model::{
    AdditionJob, FailureKind, JobKind, MediaAddition, MediaSource, Operation, Preflight, Status,
    polling::PollTarget,
};
use tokio::time::timeout;

use crate::cli::prelude::*;
use crate::cli::{
    JobRecorder,
    auth::import::read_session_cookie,
    context::INTERRUPT_CHECK_TIMEOUT,
    media::plan::{AdditionPart, AdditionPlan, SourceOptions, unreadable_json, warn_of_unreadable},
    messages::format_bytes,
    polling::Poller,
    reindex,
    values::timestamp_now,
};

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is independent")]
pub struct MediaAddOptions {
    /// ID or name of the dataset, or its folder.
    pub dataset: Option<String>,
    #[command(flatten)]
    pub source: SourceOptions,
    /// Cluster the dataset again as part of the addition; otherwise it stays in PARTIAL INDEX.
    #[arg(long, conflicts_with_all = ["then_reindex", "split"])]
    pub reindex: bool,
    /// Wait for the addition, then start a reindex.
    #[arg(long)]
    pub then_reindex: bool,
    /// Role to assume for storage of another account.
    #[arg(long, value_name = "ARN")]
    assume_role: Option<String>,
    /// Number of images to allocate for, instead of the computed number.
    #[arg(long, value_name = "N")]
    batch_images: Option<u64>,
    /// Number of videos to allocate for.
    #[arg(long, value_name = "N")]
    batch_videos: Option<u64>,
    /// Number of objects to allocate for.
    #[arg(long, value_name = "N")]
    batch_objects: Option<u64>,
    /// Whether to use spot instances; hosted deployments only.
    #[arg(long, value_name = "on|off", value_parser = parse_on_off)]
    spot: Option<bool>,
    /// Send at most this many files per request, each after the previous part was added.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub split: Option<u64>,
    /// Wait until the dataset is idle, then send.
    #[arg(long)]
    pub queue: bool,
    /// Send nothing if a file cannot be read.
    #[arg(long)]
    pub strict: bool,
    /// Wait until the addition has finished. With a local folder, the command always waits.
    #[arg(long)]
    pub wait: bool,
    /// How the upload logs in: with a token, or with the SESSION cookie of a signed-in browser, which
    /// is not stored. All other requests use the login of the profile.
    #[arg(long, value_name = "HOW", default_value = "token")]
    auth: UploadLogin,
    /// Read the SESSION cookie from standard input instead of prompting for it.
    #[arg(long)]
    cookie_stdin: bool,
    /// Print the `run_profiler.sh` command line for an on-premises deployment, and send nothing.
    #[arg(long, requires = "server_path")]
    pub print_script: bool,
    /// Send even if the status of the dataset forbids it.
    #[arg(long)]
    pub force: bool,
}

/// How an upload logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum UploadLogin {
    Token,
    Cookie,
}

fn parse_on_off(raw: &str) -> Result<bool, String> {
    match raw {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off".to_owned()),
    }
}

impl MediaAddOptions {
    pub fn addition(&self, media: &MediaSource) -> CliResult<MediaAddition> {
        let addition = MediaAddition {
            auto_reindex: self.reindex,
            assume_role: self.assume_role.clone(),
            batch_videos: self.batch_videos,
            batch_images: self.batch_images,
            batch_objects: self.batch_objects,
            spot: self.spot,
            force: self.force,
            ..MediaAddition::new(media.clone())
        };
        if self.split.is_some() && !matches!(media, MediaSource::Files(_)) {
            return Err(CliError::usage("--split is for files: --file, --dir, --files-from"));
        }
        if self.cookie_stdin && self.auth != UploadLogin::Cookie {
            return Err(CliError::usage("--cookie-stdin belongs to --auth cookie"));
        }
        if !self.print_script {
            addition.validate().map_err(|invalid| CliError::usage(invalid.to_string()))?;
        }
        Ok(addition)
    }

    pub fn by_cookie(&self) -> bool {
        self.auth == UploadLogin::Cookie
    }

    /// Returns the client that uploads. It uses a browser session if the options ask for one.
    pub fn upload_client(&self, connection: &Connection<'_>) -> CliResult<Client> {
        let client = connection.client.clone();
        if !self.by_cookie() {
            return Ok(client);
        }
        let context = connection.context;
        let session = if context.is_dry_run() {
            SecretString::from("unknown")
        } else {
            read_session_cookie(self.cookie_stdin, context.global.no_input)?
        };
        Ok(client.with_upload_session(&session)?)
    }

    pub fn check_deployment(
        &self,
        connection: &Connection<'_>,
        media: &MediaSource,
    ) -> CliResult<()> {
        let service = connection.client.service();
        let hosted = !service.is_on_premises();
        let by_path = matches!(media, MediaSource::ServerPath(_));
        let message = match (hosted, by_path) {
            (true, true) => {
                "--server-path is for on-premises deployments; a hosted service cannot read your \
                 folders, so use --dir or --s3"
            }
            (false, _) if self.spot.is_some() => "--spot is for hosted deployments only",
            (false, _) if self.by_cookie() => "--auth cookie: this deployment needs no login",
            (false, true) if service.pipeline_url().is_none() && !self.print_script => {
                "--server-path needs the address of the pipeline: pipeline_url in the profile, or \
                 --pipeline-url"
            }
            (true | false, _) => return Ok(()),
        };
        Err(CliError::usage(message))
    }
}

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
    /// Whether the service could not read everything that was sent.
    is_incomplete: bool,
    /// Whether the service may have accepted the part after the accepted ones.
    may_have_accepted_next: bool,
    reindexed: bool,
}

impl<'a> AdditionRun<'a> {
    pub fn new(
        connection: &'a Connection<'a>,
        client: Client,
        options: &'a MediaAddOptions,
        plan: &'a AdditionPlan,
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
            is_incomplete: false,
            may_have_accepted_next: false,
            reindexed: false,
        }
    }

    pub async fn run(mut self) -> CliResult {
        if self.context.is_dry_run() {
            return self.dry_run().await;
        }
        let context = self.context;
        // The future is large. It is boxed so that it does not enlarge the futures of all callers.
        let outcome = match context.until_interrupted(Box::pin(self.send_all())).await {
            Some(outcome) => outcome,
            None => Err(self.handle_interrupt().await),
        };
        if self.accepted_parts > 0 {
            self.context.print(&self.summary())?;
        }
        outcome.map_err(|error| self.with_resume_command(error))?;
        let is_incomplete = self.is_incomplete || self.skipped_count() > 0;
        Ok(if is_incomplete { Exit::Incomplete } else { Exit::Done })
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
        let added = response.inspect_err(|failure| {
            let is_sent = self.sent_bytes.load(Ordering::Relaxed) >= part.bytes;
            self.may_have_accepted_next = is_sent && failure.may_have_taken_effect();
            recorder.set_failed(failure);
        })?;
        self.record_accepted(part, added.preflight);
        recorder.apply(|job| job.operation_accepted(timestamp_now(), added.accepted));
        let last = self.accepted_parts == self.plan.parts.len();
        if last && !self.waits() && !self.options.then_reindex {
            return Ok(());
        }
        self.follow(recorder).await
    }

    fn record_accepted(&mut self, part: &AdditionPart, preflight: Preflight) {
        // The members of an archive are counted once, before the archive is sent.
        let late = if part.files == 0 { Preflight::default() } else { preflight };
        let Preflight { unreadable, unreadable_files, .. } = late;
        let contents = match part.files {
            0 => self.plan.description.clone(),
            files => {
                let files = count_with_noun(files - unreadable, "file", "files");
                format!("{files}, {}", format_bytes(part.bytes))
            }
        };
        self.context.messages.info(format!("{}: accepted ({contents})", self.part_label()));
        warn_of_unreadable(self.context, &unreadable_files);
        self.late_skips.unreadable += unreadable;
        self.late_skips.unreadable_files.extend(unreadable_files);
        self.accepted_parts += 1;
    }

    async fn follow(&mut self, mut recorder: JobRecorder<'_>) -> CliResult<()> {
        recorder.follow_operation(&mut self.dataset).await?;
        if let Some(unread) = &self.dataset.error {
            self.context.messages.warn(unread);
            self.is_incomplete = true;
        }
        self.connection.warn_about_missing_embeddings(self.dataset.id).await;
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
        if !self.waits() {
            return Ok(());
        }
        self.follow(recorder).await
    }

    fn waits(&self) -> bool {
        self.connection.waits(self.options.wait)
    }

    async fn dry_run(&self) -> CliResult {
        let Some(first) = self.plan.parts.first() else { return self.print_empty_plan() };
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
        self.context.print(&self.plan.document(&self.dataset, Some(&request), refusal))?;
        self.context.messages.info("nothing was sent");
        permission.map(|()| if self.skipped_count() > 0 { Exit::Incomplete } else { Exit::Done })
    }

    fn print_empty_plan(&self) -> CliResult {
        let refused = self.plan.check(self.options.strict);
        let refusal = refused.as_ref().err().map(|error| error.message.as_str());
        self.context.print(&self.plan.document(&self.dataset, None, refusal))?;
        refused.map(|()| Exit::Done)
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
        self.may_have_accepted_next = sent >= bytes;
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
            "{} of {all} parts were accepted; {} files remain{}",
            self.accepted_parts,
            AdditionPlan::file_count(remaining),
            self.uncertainty(remaining)
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

    /// Says how many of the remaining files the service may already have, and what shows this.
    fn uncertainty(&self, remaining: &[AdditionPart]) -> String {
        let next = remaining.first().filter(|_| self.may_have_accepted_next);
        next.map_or_else(String::new, |part| {
            let files = count_with_noun(part.files, "file", "files");
            let command = self.connection.suggestion("tessera dataset show", self.dataset.id);
            format!(
                ", and {files} at the start of the list may already have been added, which the counts of \
                 `{command}` show"
            )
        })
    }

    fn save_remaining(&self, remaining: &[AdditionPart]) -> Result<PathBuf, String> {
        let list = AdditionPlan::file_list(remaining).map_err(|error| error.to_string())?;
        let folder = self.connection.state.folder();
        let folder = folder.ok_or(tessera_config::UNKNOWN_HOME)?;
        // The list of an earlier addition stays, because its command may not have been run yet.
        let number = timestamp_now().as_micros();
        let path = folder.join(format!("rest-{}-{number}.list", self.dataset.id));
        tessera_files::write_user_file(&path, &list)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    fn resume_command(&self, list: &Path) -> ShellCommand {
        let MediaAddOptions { split, wait, then_reindex, queue, strict, force, .. } = self.options;
        let (context, id) = (self.connection.context, self.dataset.id);
        let command = context.dataset_suggestion("tessera media add", id);
        let mut command = command.option("--files-from", list);
        if let Some(split) = split {
            command = command.option("--split", split.to_string());
        }
        let spot = self.options.spot.map(|spot| if spot { "on" } else { "off" });
        for (name, value) in
            [("--assume-role", self.options.assume_role.as_deref()), ("--spot", spot)]
        {
            if let Some(value) = value {
                command = command.option(name, value);
            }
        }
        // The numbers of images, videos and objects were those of the whole addition.
        for (flag, is_given) in [
            ("--auth cookie", self.options.by_cookie()),
            ("--then-reindex", *then_reindex),
            ("--queue", *queue),
            ("--strict", *strict),
            ("--force", *force),
            ("--wait", *wait),
        ] {
            command = command.text(if is_given { flag } else { "" });
        }
        command
    }

    fn summary(&self) -> Document {
        let accepted = self.plan.parts.get(..self.accepted_parts).unwrap_or_default();
        let unreadable = &self.plan.preflight.unreadable_files;
        let unreadable = unreadable.iter().chain(&self.late_skips.unreadable_files);
        let waited = self.waits() || self.options.then_reindex;
        let summary = json!({
            "dataset_id": self.dataset.id,
            "display_name": self.dataset.name.received(),
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
        Document::new("tessera.addition/1", summary)
    }
}
