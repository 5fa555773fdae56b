//! `tessera jobs`: the jobs started from this machine, at every deployment. A job that a running
//! process follows stays with that process.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};

use crate::{
    cli::{
        CliError, Column, Connection, Context, Document, Exit, ServiceTarget, deployment,
        polling::{format_timestamp, timestamp_now},
    },
    config::{self, Profile},
    state::{StateStore, StoredJob, job_facts},
};
use tessera_client::ApiOperation as Request;
use tessera_model::{
    JobKind, JobRecord, SafeText, SavedJobState, Timestamp, operation_tracker::OperationTracker,
    shell::quote,
};

#[derive(Debug, Subcommand)]
pub enum JobsCommand {
    /// List the jobs of the last week, and all unfinished jobs.
    List {
        /// Include older jobs.
        #[arg(long)]
        all: bool,
        /// Only running jobs.
        #[arg(long)]
        running: bool,
    },
    /// Wait for a job to finish [default: the newest running job].
    Watch {
        /// ID of the job, a prefix of it, or the ID of its export.
        job: Option<String>,
    },
    /// Show everything known about a job, with the command to repeat it.
    Show {
        /// ID of the job, a prefix of it, or the ID of its export.
        job: String,
    },
    /// Remove jobs from the list. Nothing else is deleted.
    Forget {
        /// IDs of the jobs.
        #[arg(required_unless_present = "ended", value_name = "JOB")]
        jobs: Vec<String>,
        /// All finished jobs.
        #[arg(long)]
        ended: bool,
    },
}

const LIST_COLUMNS: &[Column] = &[
    Column::new("ID", "id"),
    Column::new("JOB", "job"),
    Column::new("DATASET", "dataset_name"),
    Column::new("AT", "place"),
    Column::new("STARTED", "started"),
    Column::new("STANDING", "standing"),
];

const JOB_COLUMNS: &[Column] = &[
    Column::new("id", "id"),
    Column::new("job", "job"),
    Column::new("dataset", "dataset_name"),
    Column::new("dataset id", "dataset_id"),
    Column::new("at", "place"),
    Column::new("started", "started"),
    Column::new("ended", "ended"),
    Column::new("took (s)", "took_s"),
    Column::new("standing", "standing"),
    Column::new("words", "words"),
    Column::new("export", "export_task_id"),
    Column::new("archive", "archive.path"),
    Column::new("followed", "followed"),
    Column::new("again", "command"),
];

const FORGOTTEN_COLUMNS: &[Column] = &[Column::new("forgotten", "forgotten")];

/// Jobs that ended longer ago are listed with `--all` only.
const RECENT_AGE: Timestamp = Timestamp::from_hours(7 * 24);

/// The jobs of one deployment.
struct DeploymentJobs {
    deployment_name: String,
    profile: Option<Profile>,
    journal: StateStore,
    jobs: Vec<StoredJob>,
}

pub async fn run(context: &Context, command: JobsCommand) -> Result<Exit, CliError> {
    let shelves = load_deployments(context)?;
    match command {
        JobsCommand::List { all, running } => list(context, &shelves, all, running),
        JobsCommand::Watch { job } => watch(context, &shelves, job.as_deref()).await,
        JobsCommand::Show { job } => {
            let (shelf, noted) = find_job(&shelves, &job)?;
            context.print(&Document::one(
                "tessera.job/1",
                job_document(shelf, noted),
                JOB_COLUMNS,
            ))?;
            Ok(Exit::Done)
        }
        JobsCommand::Forget { jobs, ended } => forget(context, &shelves, &jobs, ended),
    }
}

/// The jobs of the selected deployment, or of all.
fn load_deployments(context: &Context) -> Result<Vec<DeploymentJobs>, CliError> {
    let (global, settings) = (&context.global, &context.settings);
    let named = global.profile.is_some() || global.base_url.is_some();
    let target = if named { deployment::select_target(global, settings)? } else { None };
    let folders: Vec<PathBuf> = match &target {
        Some(target) => config::state_dir(&target.name()).into_iter().collect(),
        None => config::state_dirs()?,
    };
    let shelf = |folder: PathBuf| -> Result<DeploymentJobs, CliError> {
        let of_profile =
            |profile: &&Profile| config::state_dir(&profile.name).as_ref() == Some(&folder);
        let profile = settings.profiles.iter().find(of_profile).cloned();
        let known = profile.as_ref().map(|profile| profile.name.clone());
        let place = target.as_ref().map(ServiceTarget::name).or(known);
        let place = place.unwrap_or_else(|| folder_name(&folder));
        let journal = StateStore::in_dir(folder);
        let jobs = journal.jobs()?;
        Ok(DeploymentJobs { deployment_name: place, profile, journal, jobs })
    };
    folders.into_iter().map(shelf).collect()
}

fn folder_name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn newest_first(shelves: &[DeploymentJobs]) -> Vec<(&DeploymentJobs, &StoredJob)> {
    let jobs = shelves.iter().flat_map(|shelf| shelf.jobs.iter().map(move |noted| (shelf, noted)));
    let mut jobs: Vec<_> = jobs.collect();
    jobs.sort_by_key(|(_, noted)| std::cmp::Reverse(noted.job.started_at));
    jobs
}

fn list(
    context: &Context,
    shelves: &[DeploymentJobs],
    all: bool,
    running: bool,
) -> Result<Exit, CliError> {
    let recent = |noted: &StoredJob| {
        let ended = noted.job.ended_at.filter(|_| noted.job.state.is_over());
        ended.is_none_or(|ended| timestamp_now().saturating_sub(ended) < RECENT_AGE)
    };
    let wanted: Vec<_> = newest_first(shelves)
        .into_iter()
        .filter(|(_, noted)| !running || noted.job.state.is_running())
        .collect();
    let shown: Vec<Value> = wanted
        .iter()
        .filter(|(_, noted)| all || recent(noted))
        .map(|(shelf, noted)| job_document(shelf, noted))
        .collect();
    let older = wanted.len() - shown.len();
    if older > 0 {
        context.messages.info(format!("{older} older jobs are not listed; use --all"));
    }
    let answer = json!({ "jobs": shown, "truncated": older > 0 });
    context.print(&Document::list("tessera.job_list/1", answer, "jobs", LIST_COLUMNS))?;
    Ok(Exit::Done)
}

fn find_job<'a>(
    shelves: &'a [DeploymentJobs],
    name: &str,
) -> Result<(&'a DeploymentJobs, &'a StoredJob), CliError> {
    let all = newest_first(shelves);
    let is_of = |noted: &StoredJob| {
        let task = noted.job.state.export().map(|task| task.to_string());
        !name.is_empty() && (job_id(noted).starts_with(name) || task.as_deref() == Some(name))
    };
    let mut found = all.iter().filter(|(_, noted)| is_of(noted));
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(*only),
        (Some(_), Some(_)) => Err(CliError::new(
            Exit::Usage,
            format!("several jobs start with `{name}`; give a longer prefix"),
        )),
        (None, _) => {
            let sentence = format!("there is no job `{name}`");
            Err(CliError::new(Exit::NotFound, sentence).with_remedy("tessera jobs list --all"))
        }
    }
}

/// The ID of a job: its start time, which is unique.
fn job_id(noted: &StoredJob) -> String {
    format!("{:x}", noted.job.started_at.as_millis())
}

/// A job record with its deployment and the command to repeat it.
fn job_document(shelf: &DeploymentJobs, noted: &StoredJob) -> Value {
    let job = &noted.job;
    let mut facts = json!({ "id": job_id(noted), "place": shelf.deployment_name });
    if let (Some(all), Value::Object(known)) = (facts.as_object_mut(), job_facts(job)) {
        all.extend(known);
    }
    let profile =
        shelf.profile.as_ref().map(|profile| format!(" --profile {}", quote(&profile.name)));
    facts["started"] = format_timestamp(job.started_at).into();
    facts["ended"] = job.ended_at.and_then(format_timestamp).into();
    facts["took_s"] =
        job.ended_at.map(|ended| ended.saturating_sub(job.started_at).as_secs()).into();
    facts["followed"] = noted.is_followed.into();
    facts["command"] =
        format!("{}{}", job.kind.command_line(job.dataset), profile.unwrap_or_default()).into();
    facts
}

async fn watch(
    context: &Context,
    shelves: &[DeploymentJobs],
    name: Option<&str>,
) -> Result<Exit, CliError> {
    let (shelf, noted) = match name {
        Some(name) => find_job(shelves, name)?,
        None => newest_first(shelves)
            .into_iter()
            .find(|(_, noted)| noted.job.state.is_running())
            .ok_or_else(|| {
            CliError::new(Exit::NotFound, "no job is running").with_remedy("tessera jobs list")
        })?,
    };
    let target = match &shelf.profile {
        Some(profile) => ServiceTarget::Profile(profile.clone()),
        None => deployment::select_target(&context.global, &context.settings)?
            .filter(|target| target.name() == shelf.deployment_name)
            .ok_or_else(|| {
                let sentence = format!(
                    "{} is not a profile; give the deployment of the job with --base-url and --kind",
                    shelf.deployment_name
                );
                CliError::new(Exit::Usage, sentence)
            })?,
    };
    let connection =
        context.connect_to(&target, &[Request::Dataset, Request::ExportStatus]).await?;
    let outcome = follow(context, &connection, &noted.job).await;
    let outcome = outcome.and_then(|words| {
        let mut facts = job_document(shelf, noted);
        facts["standing"] = words.as_str().into();
        context.print(&Document::one("tessera.job/1", facts, LIST_COLUMNS))?;
        Ok(Exit::Done)
    });
    connection.close(context, outcome).await
}

/// Waits for a job to finish, and returns its final status. Saves nothing: the job stays with the
/// process that follows it.
async fn follow(
    context: &Context,
    connection: &Connection,
    job: &JobRecord,
) -> Result<SafeText, CliError> {
    match (&job.state, &job.kind) {
        (SavedJobState::Failed(words), _) => Err(CliError::new(Exit::Remote, words.as_str())),
        (SavedJobState::Uncertain(words), _) => Err(CliError::new(Exit::Network, words.as_str())),
        (SavedJobState::Done(words), _) => Ok(words.clone()),
        (SavedJobState::Downloaded(_), _) => Ok(SafeText::name("downloaded")),
        (SavedJobState::Accepted, JobKind::AddMedia(_) | JobKind::Reindex) => {
            let course = OperationTracker::resume(job.started_at);
            context.follow_operation(connection, job.dataset, &job.kind, course).await
        }
        (standing, _) => match standing.export() {
            Some(task) => {
                let export = context.follow_export(connection, job.dataset, task, None).await?;
                Ok(SafeText::name(export.state.word()))
            }
            None => Err(CliError::new(Exit::Failed, "the service has not accepted the job yet")),
        },
    }
}

fn forget(
    context: &Context,
    shelves: &[DeploymentJobs],
    names: &[String],
    ended: bool,
) -> Result<Exit, CliError> {
    let chosen: Vec<(&DeploymentJobs, &StoredJob)> =
        names.iter().map(|name| find_job(shelves, name)).collect::<Result<_, _>>()?;
    if let Some((_, noted)) = chosen.iter().find(|(_, noted)| noted.is_followed) {
        let sentence = format!(
            "the job {} is followed by a running tessera process; exit that process first",
            job_id(noted)
        );
        return Err(CliError::new(Exit::Conflict, sentence));
    }
    let mut forgotten = 0;
    for shelf in shelves {
        let is_named = |started| {
            let here = chosen.iter().filter(|(of, _)| std::ptr::eq(*of, shelf));
            here.into_iter().any(|(_, noted)| noted.job.started_at == started)
        };
        forgotten += shelf
            .journal
            .forget_jobs(|job| (ended && job.state.is_over()) || is_named(job.started_at))?;
    }
    let answer = json!({ "forgotten": forgotten });
    context.print(&Document::one("tessera.forgotten/1", answer, FORGOTTEN_COLUMNS))?;
    Ok(Exit::Done)
}
