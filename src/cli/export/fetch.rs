//! Archives on this machine: fetched with a part file, verified, counted, and taken apart.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{
    inspect::{look, sentence, shortcomings},
    report::document,
    which::{Found, Which},
};
use crate::cli::{
    Connection, Context, Ended, Exit,
    note::{Note, amount},
    record,
};
use tessera_client::Existing;
use tessera_model::{Archive, ArchiveName, ExportTaskId, Extraction, Failure, Inspection};

/// Where an archive goes.
#[derive(Debug, Args)]
pub struct Place {
    /// The file it becomes.
    #[arg(long, short, value_name = "FILE", conflicts_with = "dir")]
    output: Option<PathBuf>,
    /// The folder it goes to; else this one.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// What happens to it then.
    #[command(flatten)]
    after: After,
}

/// What happens to an archive.
#[derive(Debug, Args)]
#[command(next_help_heading = "What happens then")]
pub struct After {
    /// Replace files that are there: the archive only when the new one is verified.
    #[arg(long)]
    pub force: bool,
    /// Take it apart into this folder.
    #[arg(long, value_name = "DIR")]
    pub extract: Option<PathBuf>,
    /// Write rows.jsonl there: each row of the metadata, with the path of its picture as _path.
    #[arg(long, requires = "extract")]
    pub join: bool,
}

/// An archive as it is wanted.
pub(super) struct Wanted<'a> {
    /// The file it becomes.
    pub target: PathBuf,
    /// What happens to it then.
    pub after: &'a After,
}

/// An archive that is here.
pub(super) struct Fetched {
    /// The archive, verified.
    pub archive: Archive,
    /// What is in it.
    pub inside: Result<Inspection, Failure>,
    /// What came out of it, if it was taken apart.
    pub extraction: Option<Extraction>,
}

impl After {
    fn existing(&self) -> Existing {
        if self.force { Existing::Replaced } else { Existing::Kept }
    }
}

impl Wanted<'_> {
    /// Looks whether the archive can be put where it is wanted.
    ///
    /// # Errors
    /// There is no such folder, or something is there already.
    pub(super) fn check(&self) -> Result<(), Ended> {
        tessera_client::check_target(&self.target, self.after.existing()).map_err(|failure| {
            let replaceable = self.target.is_file() && !self.after.force;
            let ended = Ended::from(failure);
            if replaceable { ended.remedy("the same with --force") } else { ended }
        })
    }
}

impl Fetched {
    /// The exit code, after everything that is wrong with the archive is told (D14).
    pub(super) fn exit(&self, context: &Context, found: &Found) -> Exit {
        let mut wrong = match &self.inside {
            Ok(inside) => {
                shortcomings(inside, found.export().map(|export| export.spec.include_images))
            }
            Err(failure) => vec![failure.to_string()],
        };
        let refused = self.extraction.iter().map(|extraction| &extraction.refused);
        wrong.extend(
            refused
                .filter(|named| named.count > 0)
                .map(|named| sentence("entries were refused", named)),
        );
        for words in &wrong {
            context.note.warn(words);
        }
        if wrong.is_empty() { Exit::Done } else { Exit::Partly }
    }
}

/// Fetches the archive of a finished export.
///
/// # Errors
/// It is not finished, or what keeps the archive away.
pub(super) async fn download(
    context: &Context,
    connection: &Connection,
    which: &Which,
    place: &Place,
) -> Result<Exit, Ended> {
    let found = which.find(context, connection).await?;
    let wanted = Wanted { target: target(connection, &found, place).await?, after: &place.after };
    wanted.check()?;
    let task = connection.client.export_status(found.dataset, found.task).await?;
    let fetched = deliver(context, connection, &found, &wanted).await?;
    record::downloaded(context, connection, found.task, &fetched.archive);
    context.answer(&document(&found, &task, Some(&fetched)))?;
    Ok(fetched.exit(context, &found))
}

/// The file: as it is named, else as it was asked for, else after the dataset.
async fn target(connection: &Connection, found: &Found, place: &Place) -> Result<PathBuf, Failure> {
    if let Some(file) = &place.output {
        return Ok(file.clone());
    }
    let folder = place.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let name = if let Some(export) = found.export() {
        export.spec.file_name.clone()
    } else {
        let dataset = connection.client.dataset(found.dataset).await?;
        ArchiveName::new(dataset.name.as_str())
    };
    Ok(folder.join(name.as_str()))
}

/// Fetches an archive, and looks into it.
///
/// # Errors
/// As [`tessera_client::Client::download`].
pub(super) async fn deliver(
    context: &Context,
    connection: &Connection,
    found: &Found,
    wanted: &Wanted<'_>,
) -> Result<Fetched, Ended> {
    let Wanted { target, after } = wanted;
    let archive = {
        let mut going_on = GoingOn { note: context.note, task: found.task, target, over: false };
        let mut bar = context.note.progress(name(target));
        let report = &mut |done, all| bar.bytes(done, all);
        let export = (found.dataset, found.task);
        let outcome = connection.client.download(export, (target, after.existing()), report).await;
        going_on.over = true;
        outcome?
    };
    context.note.say(format!(
        "{}: {} entries verified, {} of them images",
        archive.path.display(),
        archive.entries,
        archive.images
    ));
    let inside = look(archive.path.clone()).await;
    let extraction = match &after.extract {
        Some(folder) => Some(take_apart(context, &archive.path, folder, after).await?),
        None => None,
    };
    Ok(Fetched { archive, inside, extraction })
}

/// Takes an archive apart, on a thread of its own.
async fn take_apart(
    context: &Context,
    archive: &Path,
    folder: &Path,
    after: &After,
) -> Result<Extraction, Ended> {
    let (from, to) = (archive.to_owned(), folder.to_owned());
    let (existing, join) = (after.existing(), after.join);
    let work =
        tokio::task::spawn_blocking(move || tessera_client::extract(&from, &to, existing, join));
    let extraction = work.await.unwrap_or_else(|_| Err(Failure::fault()))?;
    let (files, bytes) = (extraction.files, amount(extraction.bytes));
    context.note.say(format!("{}: {files} files, {bytes}", folder.display()));
    Ok(extraction)
}

/// Says, when a person stops a download, that it can go on.
struct GoingOn<'a> {
    note: Note,
    task: ExportTaskId,
    target: &'a Path,
    over: bool,
}

impl Drop for GoingOn<'_> {
    fn drop(&mut self) {
        if !self.over {
            self.note.say(format!(
                "what has come of {} is kept; `tessera export download {}` goes on with it",
                name(self.target),
                self.task
            ));
        }
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
