//! `tessera jobs`: what was started from this machine, at every deployment, read from the journal. A job
//! that a running copy of the program follows stays with that copy.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};

use crate::{
    cli::{
        Column, Connection, Context, Document, Ended, Exit, Target, compose,
        follow::{clock, moment},
    },
    config::{self, Profile},
    journal::{Journal, Noted, job_facts},
};
use tessera_client::Operation as Request;
use tessera_model::{JobRecord, SafeText, Stamp, Standing, Work, course::Course, shell::quote};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Jobs {
    /// List the jobs of the last week, and every job that is not over.
    List {
        /// Older ones, too.
        #[arg(long)]
        all: bool,
        /// Only those that are still at work.
        #[arg(long)]
        running: bool,
    },
    /// Follow a job to its end; without a name the newest one that is at work.
    Watch {
        /// Its id, the beginning of it, or the id of its export.
        job: Option<String>,
    },
    /// Show all that is known of a job, with the command that does the same again.
    Show {
        /// Its id, the beginning of it, or the id of its export.
        job: String,
    },
    /// Forget jobs. Nothing is deleted but the note that they were.
    Forget {
        /// Their ids.
        #[arg(required_unless_present = "ended", value_name = "JOB")]
        jobs: Vec<String>,
        /// All that are over.
        #[arg(long)]
        ended: bool,
    },
}

const LIST: &[Column] = &[
    Column::new("ID", "id"),
    Column::new("JOB", "job"),
    Column::new("DATASET", "dataset_name"),
    Column::new("AT", "place"),
    Column::new("STARTED", "started"),
    Column::new("STANDING", "standing"),
];

const JOB: &[Column] = &[
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

const FORGOTTEN: &[Column] = &[Column::new("forgotten", "forgotten")];

/// A job that ended longer ago is listed with `--all` only.
const RECENT: Stamp = Stamp::from_hours(7 * 24);

/// A deployment with jobs.
struct Shelf {
    /// Its name: that of its profile where it has one.
    place: String,
    profile: Option<Profile>,
    journal: Journal,
    jobs: Vec<Noted>,
}

/// Runs one of them.
///
/// # Errors
/// The journal cannot be read, there is no such job, or what keeps its state away.
pub async fn run(context: &Context, command: Jobs) -> Result<Exit, Ended> {
    let shelves = shelves(context)?;
    match command {
        Jobs::List { all, running } => list(context, &shelves, all, running),
        Jobs::Watch { job } => watch(context, &shelves, job.as_deref()).await,
        Jobs::Show { job } => {
            let (shelf, noted) = find(&shelves, &job)?;
            context.answer(&Document::one("tessera.job/1", facts(shelf, noted), JOB))?;
            Ok(Exit::Done)
        }
        Jobs::Forget { jobs, ended } => forget(context, &shelves, &jobs, ended),
    }
}

/// The journals of the deployment that is named, else of all.
fn shelves(context: &Context) -> Result<Vec<Shelf>, Ended> {
    let (global, settings) = (&context.global, &context.settings);
    let named = global.profile.is_some() || global.base_url.is_some();
    let target = if named { compose::chosen(global, settings)? } else { None };
    let folders: Vec<PathBuf> = match &target {
        Some(target) => config::state_folder(&target.place()).into_iter().collect(),
        None => config::state_folders()?,
    };
    let shelf = |folder: PathBuf| -> Result<Shelf, Ended> {
        let of_profile =
            |profile: &&Profile| config::state_folder(&profile.name).as_ref() == Some(&folder);
        let profile = settings.profiles.iter().find(of_profile).cloned();
        let known = profile.as_ref().map(|profile| profile.name.clone());
        let place = target.as_ref().map(Target::place).or(known);
        let place = place.unwrap_or_else(|| name_of(&folder));
        let journal = Journal::in_folder(folder);
        let jobs = journal.jobs()?;
        Ok(Shelf { place, profile, journal, jobs })
    };
    folders.into_iter().map(shelf).collect()
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// All jobs, the newest first.
fn newest_first(shelves: &[Shelf]) -> Vec<(&Shelf, &Noted)> {
    let jobs = shelves.iter().flat_map(|shelf| shelf.jobs.iter().map(move |noted| (shelf, noted)));
    let mut jobs: Vec<_> = jobs.collect();
    jobs.sort_by_key(|(_, noted)| std::cmp::Reverse(noted.job.started));
    jobs
}

fn list(context: &Context, shelves: &[Shelf], all: bool, running: bool) -> Result<Exit, Ended> {
    let recent = |noted: &Noted| {
        let ended = noted.job.ended.filter(|_| noted.job.standing.is_over());
        ended.is_none_or(|ended| clock().saturating_sub(ended) < RECENT)
    };
    let wanted: Vec<_> = newest_first(shelves)
        .into_iter()
        .filter(|(_, noted)| !running || noted.job.standing.is_running())
        .collect();
    let shown: Vec<Value> = wanted
        .iter()
        .filter(|(_, noted)| all || recent(noted))
        .map(|(shelf, noted)| facts(shelf, noted))
        .collect();
    let older = wanted.len() - shown.len();
    if older > 0 {
        context.note.say(format!("{older} older jobs are left out: --all lists them"));
    }
    let answer = json!({ "jobs": shown, "truncated": older > 0 });
    context.answer(&Document::list("tessera.job_list/1", answer, "jobs", LIST))?;
    Ok(Exit::Done)
}

/// The one job of this name.
fn find<'a>(shelves: &'a [Shelf], name: &str) -> Result<(&'a Shelf, &'a Noted), Ended> {
    let all = newest_first(shelves);
    let is_of = |noted: &Noted| {
        let task = noted.job.standing.export().map(|task| task.to_string());
        !name.is_empty() && (id_of(noted).starts_with(name) || task.as_deref() == Some(name))
    };
    let mut found = all.iter().filter(|(_, noted)| is_of(noted));
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(*only),
        (Some(_), Some(_)) => Err(Ended::new(
            Exit::Usage,
            format!("several jobs begin with `{name}`; give more of it"),
        )),
        (None, _) => {
            let sentence = format!("there is no job `{name}` in the journal");
            Err(Ended::new(Exit::NotFound, sentence).remedy("tessera jobs list --all"))
        }
    }
}

/// The name of a job: when it was started, which no two jobs share.
fn id_of(noted: &Noted) -> String {
    format!("{:x}", noted.job.started.as_millis())
}

/// A job as it was written down, with where, whose it is, and how it is done again.
fn facts(shelf: &Shelf, noted: &Noted) -> Value {
    let job = &noted.job;
    let mut facts = json!({ "id": id_of(noted), "place": shelf.place });
    if let (Some(all), Value::Object(known)) = (facts.as_object_mut(), job_facts(job)) {
        all.extend(known);
    }
    let profile =
        shelf.profile.as_ref().map(|profile| format!(" --profile {}", quote(&profile.name)));
    facts["started"] = moment(job.started).into();
    facts["ended"] = job.ended.and_then(moment).into();
    facts["took_s"] = job.ended.map(|ended| ended.saturating_sub(job.started).as_secs()).into();
    facts["followed"] = noted.followed.into();
    facts["command"] =
        format!("{}{}", job.work.command(job.dataset), profile.unwrap_or_default()).into();
    facts
}

async fn watch(context: &Context, shelves: &[Shelf], name: Option<&str>) -> Result<Exit, Ended> {
    let (shelf, noted) = match name {
        Some(name) => find(shelves, name)?,
        None => newest_first(shelves)
            .into_iter()
            .find(|(_, noted)| noted.job.standing.is_running())
            .ok_or_else(|| {
                Ended::new(Exit::NotFound, "no job is at work").remedy("tessera jobs list")
            })?,
    };
    let target = match &shelf.profile {
        Some(profile) => Target::Profile(profile.clone()),
        None => compose::chosen(&context.global, &context.settings)?
            .filter(|target| target.place() == shelf.place)
            .ok_or_else(|| {
                let sentence = format!(
                    "{} is no profile: name the deployment of the job with --base-url and --kind",
                    shelf.place
                );
                Ended::new(Exit::Usage, sentence)
            })?,
    };
    let connection =
        context.connect_to(&target, &[Request::Dataset, Request::ExportStatus]).await?;
    let outcome = follow(context, &connection, &noted.job).await;
    let outcome = outcome.and_then(|words| {
        let mut facts = facts(shelf, noted);
        facts["standing"] = words.as_str().into();
        context.answer(&Document::one("tessera.job/1", facts, LIST))?;
        Ok(Exit::Done)
    });
    connection.close(context, outcome).await
}

/// Follows what the service does for a job, in the words in which it ended. Nothing is written down:
/// the job stays with the copy that has it.
async fn follow(
    context: &Context,
    connection: &Connection,
    job: &JobRecord,
) -> Result<SafeText, Ended> {
    match (&job.standing, &job.work) {
        (Standing::Failed(words), _) => Err(Ended::new(Exit::Remote, words.as_str())),
        (Standing::Uncertain(words), _) => Err(Ended::new(Exit::Network, words.as_str())),
        (Standing::Done(words), _) => Ok(words.clone()),
        (Standing::Downloaded(_), _) => Ok(SafeText::name("downloaded")),
        (Standing::Accepted, Work::AddMedia(_) | Work::Reindex) => {
            let course = Course::resumed(job.started);
            context.follow_operation(connection, job.dataset, &job.work, course).await
        }
        (standing, _) => match standing.export() {
            Some(task) => {
                let export = context.follow_export(connection, job.dataset, task, None).await?;
                Ok(SafeText::name(export.state.word()))
            }
            None => Err(Ended::new(
                Exit::Failed,
                "the service has not answered yet whether it took the job on; nothing can be followed",
            )),
        },
    }
}

fn forget(
    context: &Context,
    shelves: &[Shelf],
    names: &[String],
    ended: bool,
) -> Result<Exit, Ended> {
    let chosen: Vec<(&Shelf, &Noted)> =
        names.iter().map(|name| find(shelves, name)).collect::<Result<_, _>>()?;
    if let Some((_, noted)) = chosen.iter().find(|(_, noted)| noted.followed) {
        let sentence = format!(
            "the job {} is followed by a copy of the program that is running: end that one first",
            id_of(noted)
        );
        return Err(Ended::new(Exit::Conflict, sentence));
    }
    let mut forgotten = 0;
    for shelf in shelves {
        let is_named = |started| {
            let here = chosen.iter().filter(|(of, _)| std::ptr::eq(*of, shelf));
            here.into_iter().any(|(_, noted)| noted.job.started == started)
        };
        forgotten += shelf
            .journal
            .forget_jobs(|job| (ended && job.standing.is_over()) || is_named(job.started))?;
    }
    let answer = json!({ "forgotten": forgotten });
    context.answer(&Document::one("tessera.forgotten/1", answer, FORGOTTEN))?;
    Ok(Exit::Done)
}
