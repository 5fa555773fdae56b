//! Connects a command to a deployment, and finds the dataset that the command is about.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tessera_client::{Client, DryRun, DryRunRequest, RequestRecorder, Trace};
use tessera_model::{
    Coverage, FailureKind, Filter, JobRecord, Operation, Permission, RequestOutcome, Selection,
    SelectionEntry, Status, TagId, is_same_name, tag_name, text::format_wait,
};
use tessera_wire::preview::LinkForm;

use crate::cli::prelude::*;
use crate::{
    cli::{
        FolderOpening, LocalService, ServiceTarget, deployment,
        messages::write_message,
        values::{IdPrefix, is_path},
    },
    state::StateFolder,
    usecase::{
        dataset_summary::UnreadFiles,
        missing_media::{describe_missing, remove_missing},
        run_blocking,
    },
};

/// Clock differences of up to this many seconds are not reported.
const MAX_CLOCK_SKEW_SECS: u64 = 30;

pub struct Connection<'a> {
    pub context: &'a Context,
    pub client: Client,
    pub state: StateFolder,
    dry_run: Option<DryRun>,
    /// Whether something was omitted, so that the command is only partly done.
    is_incomplete: AtomicBool,
    /// The local deployment in this process, which lives as long as the command.
    pub(super) local: Option<LocalService>,
    /// The jobs of this command. The lock is never held across an await.
    pub(super) jobs: Mutex<Vec<JobRecord>>,
}

impl Context {
    /// Connects to the selected deployment. `purpose` lists the requests that the command exists for. `--print` and
    /// `--dry-run` print the first of these requests instead of sending it.
    pub async fn connect(&self, purpose: &'static [Endpoint]) -> CliResult<Connection<'_>> {
        self.connect_to(&self.target()?, purpose).await
    }

    pub async fn connect_to(
        &self,
        target: &ServiceTarget,
        purpose: &'static [Endpoint],
    ) -> CliResult<Connection<'_>> {
        if let (Some(_), Some((folder, _))) = (self.global.print, target.local_folder()) {
            let message = "--print needs a service that `curl` can reach, and the service of a folder is only for its \
                           command";
            let serve = ShellCommand::new("tessera serve").word(folder);
            return Err(CliError::usage(message).with_remedy(serve));
        }
        let manages = purpose.iter().any(|endpoint| endpoint.manages_local_dataset());
        let opening = if manages { FolderOpening::AsIndexed } else { FolderOpening::Update };
        let (mut client, local) =
            deployment::client_for(target, opening, self.messages, self.global.timeout).await?;
        if let Some(retries) = self.global.retries {
            client = client.with_retries(retries);
        }
        let dry_run = self.is_dry_run().then(|| DryRun::new(purpose));
        if let Some(dry_run) = &dry_run {
            client = client.with_dry_run(dry_run.clone());
        }
        Ok(Connection {
            context: self,
            client: self.with_listeners(client),
            state: target_state(target),
            dry_run,
            is_incomplete: AtomicBool::default(),
            local,
            jobs: Mutex::default(),
        })
    }

    /// Warns about unreadable fields, says in a terminal that the service does not respond or that a request is repeated
    /// later, and records the requests if the options ask for that.
    pub(super) fn with_listeners(&self, client: Client) -> Client {
        let messages = self.messages;
        let client = client.with_field_warnings(move |sentence| messages.warn(sentence.as_str()));
        let client = if messages.is_terminal() {
            client.with_slow_listener(move |sentence| messages.info(sentence))
        } else {
            client
        };
        if self.global.verbose || self.trace.is_enabled() {
            return client.with_recorder(request_recorder(self.global.verbose, self.trace.clone()));
        }
        client
    }

    /// Runs `work` against the selected deployment, and closes the connection afterwards.
    pub async fn with_connection<'a>(
        &'a self,
        purpose: &'static [Endpoint],
        work: impl AsyncFnOnce(&Connection<'a>) -> CliResult,
    ) -> CliResult {
        self.with_connection_to(&self.target()?, purpose, work).await
    }

    pub(super) async fn with_connection_to<'a>(
        &'a self,
        target: &ServiceTarget,
        purpose: &'static [Endpoint],
        work: impl AsyncFnOnce(&Connection<'a>) -> CliResult,
    ) -> CliResult {
        let connection = self.connect_to(target, purpose).await?;
        let outcome = work(&connection).await;
        connection.close(outcome).await
    }

    /// Runs `work` on the dataset of this name, as [`Context::with_connection`] does.
    pub async fn with_dataset<'a>(
        &'a self,
        name: Option<&str>,
        purpose: &'static [Endpoint],
        work: impl AsyncFnOnce(&Connection<'a>, Dataset) -> CliResult,
    ) -> CliResult {
        let work = async |connection: &Connection<'a>| {
            let dataset = connection.dataset(name).await?;
            work(connection, dataset).await
        };
        self.with_connection(purpose, work).await
    }

    /// Reads a value from the selected deployment, for a command whose purpose is not this request.
    pub(super) async fn read<'a, T>(
        &'a self,
        purpose: &'static [Endpoint],
        work: impl AsyncFnOnce(&Connection<'a>) -> CliResult<T>,
    ) -> CliResult<T> {
        let connection = self.connect(purpose).await?;
        let value = work(&connection).await;
        let closed = connection.close(Ok(Exit::Done)).await;
        let value = value?;
        closed.map(|_| value)
    }

    /// Returns the saved state of the selected deployment, which needs no connection.
    pub fn state(&self) -> CliResult<StateFolder> {
        self.target().map(|target| target_state(&target))
    }
}

impl Connection<'_> {
    /// Returns the form of the links in documents. The links of a local deployment end with the command, so documents
    /// name its files instead.
    pub fn link_form(&self) -> LinkForm {
        if self.local.is_some() { LinkForm::Files } else { LinkForm::Signed }
    }

    /// Closes the connection. This stops a local deployment and prints the request of a dry run.
    pub async fn close(self, outcome: CliResult) -> CliResult {
        let context = self.context;
        if let Err(failure) = self.merge_jobs() {
            context.messages.warn(failure.to_string());
        }
        if let Some(local) = self.local {
            local.stop().await?;
        }
        if let Some(skew) = clock_skew_warning(&self.client) {
            context.messages.info(format!("{skew}; tokens use the service's time"));
        }
        if self.client.has_replaced_secret() {
            context.messages.info("the stored secret was replaced meanwhile; the new one was used");
        }
        if let Err(error) = context.trace.finish() {
            context.messages.warn(format!("the trace is incomplete: {error}"));
        }
        match self.dry_run.and_then(|dry_run| dry_run.request()) {
            Some(request) => context.print_dry_run(Some(request)),
            None if self.is_incomplete.into_inner() => {
                outcome.map(|exit| if exit == Exit::Done { Exit::Incomplete } else { exit })
            }
            None => outcome,
        }
    }

    /// Warns about something that was omitted. A command that succeeds then exits with [`Exit::Incomplete`].
    pub(super) fn warn_incomplete(&self, sentence: &str) {
        self.context.messages.warn(sentence);
        self.is_incomplete.store(true, Ordering::Relaxed);
    }

    /// Removes from a saved selection what the local dataset no longer has, with a warning. Another warning says which
    /// clusters have new members.
    pub(super) async fn without_missing(
        &self,
        dataset: DatasetId,
        selection: Selection,
    ) -> CliResult<Selection> {
        let Some(local) = &self.local else { return Ok(selection) };
        let (finder, mut items) = (local.original_finder(), selection.items());
        let remove = move || remove_missing(&*finder, dataset, &mut items);
        let changes = run_blocking(remove).await?;
        if let Some(sentence) = changes.describe_new_members(&selection) {
            self.context.messages.warn(sentence);
        }
        let missing = changes.missing;
        if missing.is_empty() {
            return Ok(selection);
        }
        let is_missing = |entry: &&SelectionEntry| missing.contains(&entry.id());
        let (left_out, kept): (Vec<_>, Vec<_>) =
            selection.ordered_entries().into_iter().partition(is_missing);
        let names = left_out.iter().map(|entry| entry.name.as_str());
        self.warn_incomplete(&describe_missing(missing.len(), names));
        Ok(kept.into_iter().cloned().collect())
    }

    /// Returns the local deployment, which an option needs because it uses files of this machine.
    pub(super) fn local_service(&self, option: &str) -> CliResult<&LocalService> {
        self.local.as_ref().ok_or_else(|| {
            CliError::usage(format!(
                "{option} needs a local folder: --folder DIR, or a local profile; the files of this service may be on \
                 another machine"
            ))
        })
    }

    /// Whether the service runs in this process, so that its tasks end with the command.
    pub fn is_local(&self) -> bool {
        self.local.is_some()
    }

    /// Whether a command waits for the task that it has started. `wait` is its option.
    pub(super) fn waits(&self, wait: bool) -> bool {
        wait || self.is_local()
    }

    /// Warns if pictures of a local dataset have no imported embedding, for example because they are new.
    pub(super) async fn warn_about_missing_embeddings(&self, dataset: DatasetId) {
        if !self.is_local() {
            return;
        }
        // The warning only explains, so a failure is ignored.
        let Ok(enrichment) = self.client.enrichment(dataset).await else { return };
        let imported = enrichment.imported_embeddings();
        let is_incomplete = |coverage: Coverage| coverage.missing() > 0;
        if let Some(imported) = imported.filter(|it| it.coverage.is_some_and(is_incomplete)) {
            let text = imported.coverage_text().unwrap_or_default();
            self.context.messages.warn(format!(
                "{text}; the others are compared by the descriptor of tessera until you import their embeddings"
            ));
        }
    }

    /// Returns the folder of a dataset that this process reads.
    pub fn dataset_folder(&self, dataset: DatasetId) -> CliResult<Option<PathBuf>> {
        let folders = self.local.as_ref().map(LocalService::dataset_folders).transpose()?;
        Ok(folders.and_then(|mut folders| folders.remove(&dataset)))
    }

    /// Whether this command has opened the folder of a dataset, which reports that the folder is missing.
    pub fn has_opened(&self, dataset: DatasetId) -> bool {
        self.local.as_ref().is_some_and(|local| local.first_dataset() == Some(dataset))
    }

    /// Returns a command about a dataset to suggest. A folder that is given, or that the profile has, already refers to
    /// its dataset.
    pub(super) fn suggestion(&self, command: &'static str, dataset: DatasetId) -> ShellCommand {
        if self.has_opened(dataset) {
            self.context.suggestion(command)
        } else {
            self.context.dataset_suggestion(command, dataset)
        }
    }

    /// Returns the request that was not sent. The caller prints it.
    pub fn take_dry_run_request(&self) -> Option<DryRunRequest> {
        self.dry_run.as_ref()?.take_request()
    }
}

pub(super) fn target_state(target: &ServiceTarget) -> StateFolder {
    target.state_dir().map(StateFolder::in_dir).unwrap_or_default()
}

pub fn clock_skew_warning(client: &Client) -> Option<String> {
    let skew = client.clock_skew();
    let (seconds, side) = (skew.unsigned_abs(), if skew > 0 { "behind" } else { "ahead of" });
    (seconds > MAX_CLOCK_SKEW_SECS)
        .then(|| format!("this machine's clock is {seconds} s {side} the service's"))
}

fn request_recorder(verbose: bool, trace: Trace) -> RequestRecorder {
    RequestRecorder::new(move |exchange| {
        trace.write(|| RequestRecorder::exchange_json(&exchange));
        if !verbose {
            return;
        }
        let outcome = match &exchange.outcome {
            RequestOutcome::Succeeded { status, bytes } => format!("{status}, {bytes} bytes"),
            RequestOutcome::Rejected { status, message: Some(message) } => {
                format!("{status}: {message}")
            }
            RequestOutcome::Rejected { status, message: None } => status.to_string(),
            RequestOutcome::Failed(cause) => format!("no answer: {cause}"),
        };
        let (method, target) = (exchange.method, &exchange.target);
        let milliseconds = exchange.duration.as_millis();
        let again =
            exchange.retry_in.map(|pause| format!("; trying again in {}", format_wait(pause)));
        let again = again.unwrap_or_default();
        write_message(&format!("{method} {target} -> {outcome} ({milliseconds} ms){again}"));
    })
}

impl Connection<'_> {
    /// Returns the dataset that the argument or `--dataset` names, or else the dataset of the folder of a local
    /// deployment, or the only dataset of another deployment. A dataset is named by its ID, its name, or the beginning
    /// of its ID.
    pub async fn dataset(&self, name: Option<&str>) -> CliResult<Dataset> {
        let named = name.or(self.context.global.dataset.as_deref());
        if let Some(id) = named.and_then(|name| name.parse::<DatasetId>().ok()) {
            return Ok(self.client.dataset(id).await?);
        }
        let first_dataset = self.local.as_ref().and_then(LocalService::first_dataset);
        if let (None, Some(id)) = (named, first_dataset) {
            return Ok(self.client.dataset(id).await?);
        }
        let all = self.client.list_datasets().await?.datasets;
        let available = join_names(&all);
        let mut matching = find_datasets(all, named);
        // The folder that was given decides between datasets of the same name.
        if matching.len() > 1 && matching.iter().any(|each| Some(each.id) == first_dataset) {
            matching.retain(|each| Some(each.id) == first_dataset);
        }
        match (matching.len(), named) {
            (1, _) => {
                let dataset = matching.remove(0);
                if named.is_none() {
                    let messages = self.context.messages;
                    messages.info(format!("using the only dataset: {}", dataset.name));
                }
                Ok(dataset)
            }
            (0, Some(name)) => {
                let folder = if is_path(name) { " or a folder" } else { "" };
                Err(CliError::not_found(format!(
                    "cannot find a dataset{folder} `{name}`; available: {available}"
                )))
            }
            (0, None) => Err(CliError::not_found("the deployment has no datasets")),
            (_, Some(name)) => {
                let ids: Vec<String> = matching.iter().map(|each| each.id.to_string()).collect();
                Err(CliError::usage(format!(
                    "several datasets match `{name}`; give a whole ID: {}",
                    ids.join(", ")
                )))
            }
            (_, None) => Err(CliError::usage(format!(
                "give a dataset with --dataset; available: {available}"
            ))),
        }
    }
}

impl Connection<'_> {
    /// Returns the filter for media with all of these tags, which are names or IDs. The dataset is only asked for names.
    pub(super) async fn tag_filter(
        &self,
        dataset: DatasetId,
        tags: &[String],
    ) -> CliResult<Filter> {
        let known = match tags.iter().find(|tag| tag.parse::<TagId>().is_err()) {
            None => Vec::new(),
            Some(name) => {
                let listed =
                    self.client.tags(dataset).await.map_err(|failure| match failure.kind {
                        FailureKind::NotFound => CliError::usage(format!(
                            "this service finds no tags by name; give the ID of `{name}`"
                        )),
                        _ => failure.into(),
                    });
                listed?.tags
            }
        };
        let id = |tag: &String| {
            let name = tag_name(tag);
            let known = known.iter().find(|known| Some(known.name.received()) == name.as_deref());
            known
                .map(|known| known.id)
                .or_else(|| tag.parse().ok())
                .ok_or_else(|| self.context.unknown_tag(tag))
        };
        let ids: Vec<TagId> = tags.iter().map(id).collect::<CliResult<_>>()?;
        Filter::tags(ids).map_err(|invalid| CliError::new(Exit::Invalid, invalid.reason))
    }

    /// Returns what the last indexing of a local dataset could not read, after a warning about it.
    pub fn unread_files(&self, dataset: &Dataset) -> CliResult<UnreadFiles> {
        let skipped =
            self.local.as_ref().map(|local| local.skipped_files(dataset.id)).transpose()?;
        let unread = UnreadFiles::new(skipped.unwrap_or_default());
        let command = self.suggestion("tessera dataset show --json", dataset.id);
        if let Some(warning) = unread.warning(dataset, &command) {
            self.context.messages.warn(warning);
        }
        Ok(unread)
    }
}

impl Context {
    /// Returns the ID of the dataset. No request is needed if the user gave an ID.
    pub async fn dataset_id(&self, name: Option<&str>) -> CliResult<DatasetId> {
        let named = name.or(self.global.dataset.as_deref());
        match named.and_then(|name| name.parse().ok()) {
            Some(id) => Ok(id),
            None => self.fetch_dataset(name).await.map(|dataset| dataset.id),
        }
    }

    /// Fetches the dataset over a connection of its own, even in a dry run.
    pub(super) async fn fetch_dataset(&self, name: Option<&str>) -> CliResult<Dataset> {
        self.read(&[], async |connection: &Connection<'_>| connection.dataset(name).await).await
    }

    /// Rejects changes if the options or the profile are read-only.
    pub(super) fn require_writable(&self) -> CliResult<()> {
        let target = self.target();
        if !self.global.read_only && !target.is_ok_and(|target| target.profile.options.read_only) {
            return Ok(());
        }
        let message = "changes are disabled by --read-only or the profile's read_only";
        Err(CliError::new(Exit::Conflict, message).with_code("read_only"))
    }

    /// Checks whether the status of the dataset permits an operation. `force` skips the check.
    pub fn require_allowed(
        &self,
        dataset: &Dataset,
        operation: Operation,
        force: bool,
    ) -> CliResult<()> {
        if matches!(operation, Operation::AddMedia | Operation::Reindex) {
            self.require_writable()?;
        }
        let (id, name, status) = (dataset.id, &dataset.name, dataset.status.as_str());
        match dataset.status.allows(operation) {
            _ if force => Ok(()),
            Permission::Allowed | Permission::Unspecified => Ok(()),
            Permission::Confirm => {
                let question =
                    format!("{name} has the unknown status {status}; send the request anyway?");
                if self.confirm(&question, "--yes")? {
                    return Ok(());
                }
                Err(CliError::new(Exit::Conflict, format!("not sent: {name} is {status}")))
            }
            Permission::Denied(reason) => {
                let cause = dataset.error.as_ref().filter(|_| dataset.status == Status::Error);
                let cause = cause.map_or_else(String::new, |error| format!(" ({error})"));
                let label = operation.label();
                let message =
                    format!("{label} is not available: {name} is {status}{cause}: {reason}");
                let error = CliError::new(Exit::Conflict, message).with_code("refused_by_status");
                match dataset.status {
                    Status::PartialIndex => {
                        let reindex = self.dataset_suggestion("tessera reindex --wait", id);
                        Err(error.with_remedy(reindex.text(self.confirming_option())))
                    }
                    Status::ReadOnly | Status::Indexing => {
                        Err(error.with_remedy(self.dataset_suggestion("tessera dataset wait", id)))
                    }
                    _ => Err(error),
                }
            }
        }
    }
}

/// Returns the datasets with this name, or, if there are none, the datasets whose IDs start with
/// it.
fn find_datasets(all: Vec<Dataset>, named: Option<&str>) -> Vec<Dataset> {
    let Some(name) = named else { return all };
    let is_name = all.iter().any(|dataset| is_same_name(dataset.name.received(), name));
    let prefix: Option<IdPrefix> = if is_name { None } else { name.parse().ok() };
    let is_meant = |dataset: &Dataset| match &prefix {
        Some(prefix) => prefix.matches(dataset.id),
        None => is_same_name(dataset.name.received(), name),
    };
    all.into_iter().filter(is_meant).collect()
}

fn join_names(datasets: &[Dataset]) -> String {
    let names: Vec<&str> = datasets.iter().map(|each| each.name.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
