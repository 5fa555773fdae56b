//! `tessera jobs`: lists and follows the jobs that were started from this machine, at every
//! deployment. A job that a running process follows stays with that process.

use futures_util::future::join_all;
use tessera_config::Profile;
use tessera_interface::command_lines::{CommandTarget, job_command_line};
use tessera_interface::job::{Job, JobId};
use tessera_model::{JobRecord, SavedJobState, Timestamp};
use tokio::time::timeout;

use crate::cli::prelude::*;
use crate::{
    cli::{
        FolderOpening, LocalService, ServiceTarget,
        deployment::LOCAL_NAME,
        local_settings,
        polling::Poller,
        values::{format_timestamp, timestamp_now},
    },
    state::{StateFolder, StoredJob},
};

#[derive(Debug, Subcommand)]
pub enum JobsCommand {
    /// List the jobs of the last week, and all unfinished jobs.
    ///
    /// The services of unfinished jobs are asked for their state.
    List {
        /// Include older jobs.
        #[arg(long)]
        all: bool,
        /// Only running jobs.
        #[arg(long)]
        running: bool,
    },
    /// Wait for a job to finish.
    Watch {
        /// ID of the job, a prefix of it, or the ID of its export [default: the newest running job].
        job: Option<String>,
    },
    /// Cancel a running export of a local service.
    ///
    /// Its archive is then not written.
    Cancel {
        /// ID of the job, a prefix of it, or the ID of its export.
        job: String,
    },
    /// Show everything known about a job, with the command to repeat it if it is known where the dataset is.
    Show {
        /// ID of the job, a prefix of it, or the ID of its export.
        job: String,
    },
    /// Remove jobs from the list.
    ///
    /// Nothing else is deleted.
    Forget {
        /// IDs of the jobs.
        #[arg(required_unless_present = "ended", value_name = "JOB")]
        jobs: Vec<String>,
        /// All finished jobs.
        #[arg(long)]
        ended: bool,
    },
}

/// The age from which ended jobs are listed only with `--all`.
const RECENT_AGE: Timestamp = Timestamp::from_hours(7 * 24);

pub(super) struct DeploymentJobs {
    deployment_name: String,
    /// The deployment that the command line names.
    named: Option<ServiceTarget>,
    /// A profile of the deployment. The profile of a local folder also reaches the datasets of all others.
    profile: Option<Profile>,
    is_local: bool,
    state: StateFolder,
    pub(super) jobs: Vec<StoredJob>,
}

pub async fn run(context: &Context, command: JobsCommand) -> CliResult {
    let mut deployments = load_deployment_jobs(context)?;
    match command {
        JobsCommand::List { all, running } => {
            let refreshed = deployments.iter_mut().map(|deployment| deployment.refresh(context));
            join_all(refreshed).await;
            list(context, &deployments, all, running)
        }
        JobsCommand::Watch { job } => watch(context, &deployments, job.as_deref()).await,
        JobsCommand::Cancel { job } => cancel(context, &deployments, &job).await,
        JobsCommand::Show { job } => {
            let (deployment, stored) = find_job(&deployments, &job)?;
            let facts = job_json(context, deployment, stored);
            context.print(&Document::new("tessera.job/1", facts))
        }
        JobsCommand::Forget { jobs, ended } => forget(context, &deployments, &jobs, ended),
    }
}

/// Loads the jobs of the deployment that the command line names, or of all deployments.
pub(super) fn load_deployment_jobs(context: &Context) -> CliResult<Vec<DeploymentJobs>> {
    let named = context.named_target()?;
    let folders: Vec<PathBuf> = match &named {
        Some(target) => target.state_dir().into_iter().collect(),
        None => tessera_config::state_dirs()
            .map_err(|error| CliError::io("list the state folders", &error))?,
    };
    let profiles = context.settings.profiles.iter().cloned();
    let profiles: Vec<_> = profiles.map(ServiceTarget::saved).collect();
    let load = |folder: PathBuf| -> CliResult<DeploymentJobs> {
        let is_local = tessera_config::local_state_dir().as_ref() == Some(&folder);
        let mut known = named.iter().chain(&profiles);
        let known = known.find(|it| it.state_dir().as_ref() == Some(&folder)).cloned();
        let folder_name = || folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let deployment_name = if is_local {
            LOCAL_NAME.to_owned()
        } else {
            known.as_ref().map_or_else(folder_name, |it| it.profile.name.clone())
        };
        let state = StateFolder::in_dir(folder);
        let profile = known.and_then(ServiceTarget::into_saved);
        let (named, jobs) = (named.clone(), state.jobs()?);
        Ok(DeploymentJobs { deployment_name, named, profile, is_local, state, jobs })
    };
    folders.into_iter().map(load).collect()
}

fn newest_first(deployments: &[DeploymentJobs]) -> Vec<(&DeploymentJobs, &StoredJob)> {
    let mut jobs: Vec<_> = deployments
        .iter()
        .flat_map(|deployment| deployment.jobs.iter().map(move |stored| (deployment, stored)))
        .collect();
    jobs.sort_by_key(|(_, stored)| std::cmp::Reverse(stored.job.started_at));
    jobs
}

fn list(context: &Context, deployments: &[DeploymentJobs], all: bool, running: bool) -> CliResult {
    let recent = |stored: &StoredJob| {
        let ended = stored.job.ended_at.filter(|_| stored.job.state.is_over());
        ended.is_none_or(|ended| timestamp_now().saturating_sub(ended) < RECENT_AGE)
    };
    let mut jobs = newest_first(deployments);
    jobs.retain(|(_, stored)| !running || stored.job.state.is_running());
    let rows: Vec<Value> = jobs
        .iter()
        .filter(|(_, stored)| all || recent(stored))
        .map(|(deployment, stored)| job_json(context, deployment, stored))
        .collect();
    let older = jobs.len() - rows.len();
    if older > 0 {
        context.messages.info(format!("{older} older jobs are not listed; use --all"));
    }
    let answer = json!({ "jobs": rows, "truncated": older > 0 });
    context.print(&Document::new("tessera.jobs/1", answer))
}

fn find_job<'a>(
    deployments: &'a [DeploymentJobs],
    name: &str,
) -> CliResult<(&'a DeploymentJobs, &'a StoredJob)> {
    let all = newest_first(deployments);
    let is_of = |stored: &StoredJob| {
        let task = stored.job.state.export().map(|task| task.to_string());
        !name.is_empty() && (job_id(stored).starts_with(name) || task.as_deref() == Some(name))
    };
    let mut matching = all.iter().filter(|(_, stored)| is_of(stored));
    match (matching.next(), matching.next()) {
        (Some(only), None) => Ok(*only),
        (Some(_), Some(_)) => {
            Err(CliError::usage(format!("several jobs start with `{name}`; give a longer prefix")))
        }
        (None, _) => Err(CliError::not_found(format!("unknown job `{name}`"))
            .with_remedy("tessera jobs list --all")),
    }
}

/// Returns the ID of a job. It is the job's start time, which is unique.
fn job_id(stored: &StoredJob) -> String {
    format!("{:x}", stored.job.started_at.as_millis())
}

fn job_json(context: &Context, deployment: &DeploymentJobs, stored: &StoredJob) -> Value {
    let job = &stored.job;
    let mut facts = json!({ "id": job_id(stored), "deployment": deployment.deployment_name });
    if let (Some(all), Value::Object(known)) = (facts.as_object_mut(), json!(job)) {
        all.extend(known);
    }
    let target = deployment.command_target(context, job);
    let command = target.map(|target| job_command_line(&job.kind, &target));
    facts["started_at"] = format_timestamp(job.started_at).into();
    facts["ended_at"] = job.ended_at.and_then(format_timestamp).into();
    facts["duration_s"] =
        job.ended_at.map(|ended| ended.saturating_sub(job.started_at).as_secs()).into();
    facts["followed"] = stored.is_followed.into();
    facts["command"] = command.as_ref().map(ShellCommand::as_str).into();
    facts
}

async fn watch(context: &Context, deployments: &[DeploymentJobs], name: Option<&str>) -> CliResult {
    let (deployment, stored) = match name {
        Some(name) => find_job(deployments, name)?,
        None => newest_first(deployments)
            .into_iter()
            .find(|(_, stored)| stored.job.state.is_running())
            .ok_or_else(|| {
                CliError::not_found("no job is running").with_remedy("tessera jobs list")
            })?,
    };
    let work = async |connection: &Connection<'_>| {
        let (status, exit) = follow(connection, &stored.job).await?;
        print_state(context, deployment, stored, status.as_str())?;
        Ok(exit)
    };
    let target = deployment.target(context, &stored.job).await?;
    let requests = &[Endpoint::Dataset, Endpoint::ExportStatus];
    context.with_connection_to(&target, requests, work).await
}

async fn cancel(context: &Context, deployments: &[DeploymentJobs], name: &str) -> CliResult {
    let (deployment, stored) = find_job(deployments, name)?;
    let SavedJobState::Running { export_task_id } = stored.job.state else {
        let message = format!("the job {} is not a running export", job_id(stored));
        return Err(CliError::new(Exit::Conflict, message).with_remedy("tessera jobs list"));
    };
    let work = async |connection: &Connection<'_>| {
        let export = connection.client.cancel_export(stored.job.dataset, export_task_id).await?;
        connection.record_end(&export);
        print_state(context, deployment, stored, export.state.as_str())
    };
    let target = deployment.target(context, &stored.job).await?;
    context.with_connection_to(&target, &[Endpoint::CancelExport], work).await
}

/// Prints a job with the state that the service has reported.
fn print_state(
    context: &Context,
    deployment: &DeploymentJobs,
    stored: &StoredJob,
    state: &str,
) -> CliResult {
    let mut facts = job_json(context, deployment, stored);
    facts["state"] = state.into();
    context.print(&Document::new("tessera.job/1", facts).with_table("state of a job"))
}

/// How long the list waits for each service.
const REFRESH_TIME: Duration = Duration::from_secs(5);

/// Whether a service works on the job and no running process follows it.
fn is_unfollowed(stored: &StoredJob) -> bool {
    let is_at_service =
        matches!(stored.job.state, SavedJobState::Running { .. } | SavedJobState::Accepted);
    is_at_service && !stored.is_followed
}

impl DeploymentJobs {
    /// Asks the service for the current state of unfinished jobs. If it cannot be asked, the last known state stays.
    async fn refresh(&mut self, context: &Context) {
        if !self.jobs.iter().any(is_unfollowed) {
            return;
        }
        let time = humantime::format_duration(REFRESH_TIME);
        let late = |_| Err(CliError::new(Exit::TimedOut, format!("no response within {time}")));
        // The future is large. It is boxed so that it does not enlarge the futures of all callers.
        let asked = timeout(REFRESH_TIME, Box::pin(self.ask_service(context))).await;
        if let Err(error) = asked.unwrap_or_else(late) {
            let (name, reason) = (&self.deployment_name, error.message);
            let message =
                format!("unfinished jobs at {name} have their last known state: {reason}");
            context.messages.warn(message);
        }
    }

    async fn ask_service(&mut self, context: &Context) -> CliResult<()> {
        let Some(first) = self.jobs.iter().find(|stored| is_unfollowed(stored)) else {
            return Ok(());
        };
        if self.is_local {
            return Err(CliError::failed(
                "its folder is not open, and they go on when it is opened",
            ));
        }
        let target = self.target(context, &first.job).await?;
        let connection = context.connect_to(&target, &[]).await?;
        let mut outcome = Ok(Exit::Done);
        for stored in self.jobs.iter_mut().filter(|stored| is_unfollowed(stored)) {
            match current_record(&connection, &stored.job).await {
                Ok(current) => stored.job = current,
                Err(failure) => outcome = Err(failure.into()),
            }
        }
        connection.close(outcome).await.map(drop)
    }

    /// Returns how a command reaches the dataset of a job. There is none for a job without a profile, unless
    /// this command was given the deployment.
    fn command_target(&self, context: &Context, job: &JobRecord) -> Option<CommandTarget> {
        let tessera = ShellCommand::new("tessera");
        let tessera = match (&self.named, &self.profile) {
            (Some(_), _) => context.suggestion(tessera),
            (None, Some(profile)) => tessera.option("--profile", &profile.name),
            (None, None) => return None,
        };
        Some(CommandTarget { tessera, dataset: job.dataset.to_string() })
    }

    /// Returns the deployment of a job.
    pub(super) async fn target(
        &self,
        context: &Context,
        job: &JobRecord,
    ) -> CliResult<ServiceTarget> {
        match (&self.named, &self.profile) {
            (Some(named), _) => Ok(named.clone()),
            (None, _) if self.is_local => indexed_target(context, job).await,
            (None, Some(profile)) => Ok(ServiceTarget::saved(profile.clone())),
            (None, None) => Err(CliError::usage(format!(
                "{} is not a profile; give the deployment of the job with --base-url and --kind",
                self.deployment_name
            ))),
        }
    }
}

/// Returns the deployment of a local job by the folder that the index has for its dataset.
async fn indexed_target(context: &Context, job: &JobRecord) -> CliResult<ServiceTarget> {
    // Looking at a job must not change the model of its dataset.
    let settings = local_settings(None, None)?;
    let local = LocalService::open_folders(&[], FolderOpening::AsIndexed, None, settings).await?;
    let folder = local.dataset_folders().map(|mut folders| folders.remove(&job.dataset));
    local.stop().await?;
    let Some(folder) = folder? else {
        let message = format!("the dataset {} of the job is not in the index", job.dataset_name);
        return Err(CliError::not_found(message));
    };
    Ok(ServiceTarget::of_folder(folder, None, &context.global, &context.settings))
}

/// Asks the service what became of a job, and records its end.
async fn current_record(
    connection: &Connection<'_>,
    record: &JobRecord,
) -> Result<JobRecord, Failure> {
    let mut job = Job::resume(JobId::default(), record.clone());
    if let Some(task) = record.state.export() {
        let export = connection.client.export_status(job.dataset, task).await?;
        job.export_reported(Duration::ZERO, export)?;
    } else {
        let dataset = connection.client.dataset(job.dataset).await?;
        job.dataset_observed(timestamp_now(), &dataset);
    }
    job.record_state(timestamp_now());
    let current = job.record().unwrap_or_else(|| record.clone());
    if current.ended_at.is_some() {
        connection.record_outcome(&current);
    }
    Ok(current)
}

/// Follows a job and returns its final status. Only the end of an export is saved, because the job may belong to
/// another process.
async fn follow(connection: &Connection<'_>, job: &JobRecord) -> CliResult<(SafeText, Exit)> {
    match &job.state {
        SavedJobState::Failed { reason, .. } => Err(CliError::new(Exit::Remote, reason.as_str())),
        SavedJobState::Uncertain { reason } => Err(CliError::new(Exit::Network, reason.as_str())),
        SavedJobState::Done { status_new } => Ok((status_new.clone(), Exit::Done)),
        SavedJobState::Downloaded { .. } => Ok((SafeText::name("downloaded"), Exit::Done)),
        SavedJobState::Accepted | SavedJobState::Unwatched { export_task_id: None } => {
            let mut job = Job::resume(JobId::default(), job.clone());
            job.watch_again();
            Ok((connection.follow_operation(&mut job, None).await?, Exit::Done))
        }
        state => {
            // The saved state may be old, so the service is asked what became of the export.
            let running = |export_task_id| SavedJobState::Running { export_task_id };
            let state = state.export().map_or(SavedJobState::Sent, running);
            let mut job = Job::resume(JobId::default(), JobRecord { state, ..job.clone() });
            let export =
                connection.follow_export(&mut job, Poller::new(connection.context, None)).await?;
            connection.record_end(&export);
            if let Some(failure) = export.failure() {
                return Err(failure.into());
            }
            let exit = connection.context.warn_of_shortfall(&export);
            Ok((SafeText::name(export.state.as_str()), exit))
        }
    }
}

fn forget(
    context: &Context,
    deployments: &[DeploymentJobs],
    names: &[String],
    ended: bool,
) -> CliResult {
    let chosen: Vec<(&DeploymentJobs, &StoredJob)> =
        names.iter().map(|name| find_job(deployments, name)).collect::<Result<_, _>>()?;
    if let Some((_, stored)) = chosen.iter().find(|(_, stored)| stored.is_followed) {
        let message = format!(
            "the job {} is followed by a running tessera process; exit that process first",
            job_id(stored)
        );
        return Err(CliError::new(Exit::Conflict, message));
    }
    let which = if ended { "all finished jobs".to_owned() } else { names.join(", ") };
    context.only_plans(&format!("forget {which}"), None)?;
    let mut forgotten = 0;
    for deployment in deployments {
        let is_named = |job: &JobRecord| {
            chosen.iter().any(|(of, stored)| {
                std::ptr::eq(*of, deployment) && stored.job.started_at == job.started_at
            })
        };
        let forgets = |job: &JobRecord| (ended && job.state.is_over()) || is_named(job);
        forgotten += deployment.state.forget_jobs(forgets)?;
    }
    let fields = json!({ "forgotten": forgotten });
    context.print(&Document::new("tessera.removal/1", fields))
}
