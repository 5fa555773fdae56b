//! `tessera media move`, `copy`, `link` and `trash` act on original files, `undo` reverts the last action, and `resume`
//! continues one that a crash interrupted. Every action is previewed first, and the index follows afterwards.

use std::{
    collections::{HashMap, HashSet},
    io, path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use tessera_curation::{
    ActionId, FileAction, FileActionPreview, FoundOriginals, LinkKind, Outcome, Progress, Skipped,
    Step, TargetLayout, check_target_folder, first_skipped,
};

use super::plan::split_file_list;
use crate::cli::prelude::*;
use crate::{
    cli::{
        deployment::wait_until_indexed, export::ExportContentOptions, values::read_bytes_or_stdin,
    },
    usecase::{file_actions, run_blocking},
};

#[derive(Debug, Subcommand)]
pub enum FileCommand {
    /// Move original files and their sidecars to another folder.
    ///
    /// Local folders only.
    Move {
        #[command(flatten)]
        files: Box<ActionFiles>,
        #[command(flatten)]
        target: TargetOptions,
        #[command(flatten)]
        annotations: AnnotationOptions,
    },
    /// Copy original files and their sidecars to another folder.
    ///
    /// Local folders only.
    Copy {
        #[command(flatten)]
        files: Box<ActionFiles>,
        #[command(flatten)]
        target: TargetOptions,
    },
    /// Create links to original files and their sidecars in another folder.
    ///
    /// Local folders only.
    Link {
        #[command(flatten)]
        files: Box<ActionFiles>,
        #[command(flatten)]
        target: TargetOptions,
        /// hard (the same file under another name), symbolic, or reflink (a file of its own that shares its space).
        #[arg(id = "link_kind", long = "as", value_name = "KIND", default_value = "hard",
              value_parser = link_kind_parser())]
        kind: LinkKind,
    },
    /// Put original files and their sidecars into the trash of the desktop.
    ///
    /// Local folders only.
    Trash {
        #[command(flatten)]
        files: Box<ActionFiles>,
        #[command(flatten)]
        annotations: AnnotationOptions,
    },
    /// Revert the last action on original files.
    Undo,
    /// Continue an action on original files that was interrupted by a crash.
    Resume,
}

/// The files of an action.
#[derive(Debug, Args)]
pub struct ActionFiles {
    /// ID or name of the dataset, or its folder.
    dataset: Option<String>,
    #[command(flatten)]
    content: ExportContentOptions,
    /// Act on the files of the dataset that a list names, separated by NUL bytes or lines; - for standard input.
    #[arg(long, value_name = "LIST")]
    files_from: Option<PathBuf>,
    /// Include the files with the same name and another extension, such as the raw file of a JPEG.
    #[arg(long)]
    with_pairs: bool,
}

/// What happens to annotation files when files move or go to the trash.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct AnnotationOptions {
    /// Rename or remove the files that move or go in the annotation files that name them, too; each old annotation file
    /// stays as NAME.orig.
    #[arg(long)]
    rewrite_annotations: bool,
}

impl AnnotationOptions {
    pub fn apply(self, preview: &mut FileActionPreview) {
        if self.rewrite_annotations {
            preview.rewrite_annotations();
        }
    }
}

#[derive(Debug, Args)]
pub struct TargetOptions {
    /// Folder for the files; created if missing. An existing file is never replaced.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Keep the path of each file below the folder of the dataset.
    #[arg(long)]
    keep_folders: bool,
}

impl TargetOptions {
    fn layout(&self) -> CliResult<TargetLayout> {
        target_layout(&self.to, self.keep_folders)
    }
}

/// Reads the kind of a link.
pub fn link_kind_parser() -> impl TypedValueParser<Value = LinkKind> {
    PossibleValuesParser::new(["hard", "symbolic", "reflink"])
        .try_map(|kind| serde_json::from_value(kind.into()))
}

/// Returns where the files of an action go.
pub fn target_layout(to: &Path, keeps_folders: bool) -> CliResult<TargetLayout> {
    let folder = path::absolute(to)
        .map_err(|error| CliError::usage(format!("--to {}: {error}", to.display())))?;
    check_target_folder(&folder)
        .map_err(|reason| CliError::usage(format!("--to {}: {reason}", to.display())))?;
    Ok(TargetLayout { folder, keeps_folders })
}

pub(super) async fn run(context: &Context, command: FileCommand) -> CliResult {
    let untouched = AnnotationOptions::default();
    let (files, action, annotations) = match command {
        FileCommand::Move { files, target, annotations } => {
            (files, FileAction::Move(target.layout()?), annotations)
        }
        FileCommand::Copy { files, target } => {
            (files, FileAction::Copy(target.layout()?), untouched)
        }
        FileCommand::Link { files, target, kind } => {
            (files, FileAction::Link(kind, target.layout()?), untouched)
        }
        FileCommand::Trash { files, annotations } => (files, FileAction::Trash, annotations),
        FileCommand::Undo => return undo(context).await,
        FileCommand::Resume => return resume(context).await,
    };
    context.require_writable()?;
    let work = async |connection: &Connection<'_>| {
        let (dataset, found) = files.find(connection).await?;
        let mut preview = FileActionPreview::new(action, found, files.with_pairs);
        annotations.apply(&mut preview);
        carry_out_and_report(connection, &dataset, preview).await
    };
    context.with_connection(&[], work).await
}

impl ActionFiles {
    /// Finds the originals of the chosen media.
    async fn find(&self, connection: &Connection<'_>) -> CliResult<(Dataset, FoundOriginals)> {
        let finder = connection.local_service("acting on files")?.original_finder();
        let dataset = connection.dataset(self.dataset.as_deref()).await?;
        let id = dataset.id;
        let found = if let Some(list) = &self.files_from {
            self.content.require_unused_with("--files-from")?;
            let files = listed_files(connection, id, list)?.into_iter();
            let files = files.map(|file| absolute_file(&file).unwrap_or(file)).collect();
            run_blocking(move || finder.listed(id, files)).await?
        } else {
            let chosen = self.content.found_or_selected(connection, &dataset).await?;
            let chosen = chosen.ok_or_else(|| {
                CliError::usage(
                    "name the files: --selection, --media, --cluster, a search, or --files-from",
                )
            })?;
            run_blocking(move || finder.selected(id, &chosen.items())).await?
        };
        Ok((dataset, found))
    }
}

/// Reads a list of files of a dataset. Relative paths lead from the current folder or from the folder of the dataset.
/// The paths of files that exist on this machine become absolute.
pub fn listed_files(
    connection: &Connection<'_>,
    dataset: DatasetId,
    list: &Path,
) -> CliResult<Vec<PathBuf>> {
    let wrong =
        |reason: String| CliError::usage(format!("--files-from {}: {reason}", list.display()));
    let bytes = read_bytes_or_stdin(list)?;
    let files = split_file_list(&bytes).map_err(wrong)?;
    if files.is_empty() {
        return Err(wrong("no file is listed".to_owned()));
    }
    let folder = connection.dataset_folder(dataset)?;
    let located = files.into_iter().map(|file| located_file(file, folder.as_deref()));
    located.collect::<Result<_, String>>().map_err(wrong)
}

fn located_file(file: PathBuf, folder: Option<&Path>) -> Result<PathBuf, String> {
    let absolute = |file: &Path| absolute_file(file).map_err(|error| error.to_string());
    let here = file.symlink_metadata().is_ok().then(|| absolute(&file)).transpose()?;
    let there = folder.map(|folder| folder.join(&file)).filter(|it| it.symlink_metadata().is_ok());
    let there = there.map(|it| absolute(&it)).transpose()?;
    match (here, there) {
        (Some(here), Some(there)) if here != there => Err(format!(
            "{} is in the current folder and in the folder of the dataset; write its whole path",
            file.display()
        )),
        (Some(found), _) | (None, Some(found)) => Ok(found),
        // A file that cannot be reached may be one of the dataset, whose paths lead from its folder.
        (None, None) => match folder {
            Some(folder) => absolute(&folder.join(&file)),
            None => Ok(file),
        },
    }
}

/// Returns the absolute path of a file, with the links on the way to its folder resolved as the index has them.
fn absolute_file(file: &Path) -> io::Result<PathBuf> {
    let absolute = path::absolute(file)?;
    let (Some(folder), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        return Ok(absolute);
    };
    Ok(folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).join(name))
}

fn warn_of_plan(context: &Context, preview: &FileActionPreview) {
    for warning in preview.warnings() {
        context.messages.warn(warning);
    }
    if preview.can_rewrite_annotations() {
        context.messages.info("--rewrite-annotations changes the annotation files, too");
    }
    for skipped in first_skipped(&preview.plan.skipped) {
        context.messages.warn(format!("left alone: {skipped}"));
    }
}

/// Previews a plan, asks, carries it out, prints what happened, and lets the index follow.
pub async fn carry_out_and_report(
    connection: &Connection<'_>,
    dataset: &Dataset,
    preview: FileActionPreview,
) -> CliResult {
    let context = connection.context;
    let summary = preview.summary();
    warn_of_plan(context, &preview);
    let first_files = preview.first_files();
    let FileActionPreview { plan, .. } = preview;
    if context.is_dry_run() {
        context.messages.info(format!("would {summary}; nothing was changed"));
        let rows = plan.steps.iter().map(|step| row(step, "planned", None));
        print_rows(context, plan.action.name(), rows.chain(plan.skipped.iter().map(skipped_row)))?;
        return Ok(exit_of(&plan.skipped));
    }
    if plan.steps.is_empty() {
        return Err(CliError::new(Exit::Incomplete, "no file can be acted on"));
    }
    context.messages.info(&summary);
    for file in first_files.iter().filter(|_| !context.global.yes) {
        context.messages.info(file);
    }
    let files = count_with_noun(plan.steps.len(), "file", "files");
    if !context.confirm(&format!("{} {files}?", plan.action.name()), "--yes")? {
        return Err(CliError::failed("nothing was changed"));
    }
    let carried_out = plan.clone();
    let work = move |progress: Progress<'_>| file_actions::carry_out(&carried_out, progress);
    let outcome = run_with_progress(context, plan.action.name(), work).await?;
    report(context, &outcome);
    if outcome.done > 0 {
        let undo = context.suggestion("tessera media undo").text(context.confirming_option());
        context.messages.info(format!("`{undo}` reverts this action"));
    }
    let rows = rows_of(&plan.steps, &outcome);
    print_rows(context, plan.action.name(), rows.chain(plan.skipped.iter().map(skipped_row)))?;
    follow_in_index(connection, dataset).await;
    Ok(if outcome.is_whole() { exit_of(&plan.skipped) } else { Exit::Incomplete })
}

fn exit_of(skipped: &[Skipped]) -> Exit {
    if skipped.is_empty() { Exit::Done } else { Exit::Incomplete }
}

/// Compares the folder with the index, and waits until the index has followed.
async fn follow_in_index(connection: &Connection<'_>, dataset: &Dataset) {
    let Connection { client, context, .. } = connection;
    let compared = client.rescan(dataset.id, None).await;
    let followed = match (&connection.local, compared) {
        (_, Err(failure)) => Err(failure.to_string()),
        (Some(local), Ok(_)) => {
            let limit = context.global.timeout;
            let waited = wait_until_indexed(local, client, context.messages, limit).await;
            waited.map_err(|error| error.message)
        }
        (None, Ok(_)) => Ok(()),
    };
    if let Err(reason) = followed {
        let messages = context.messages;
        messages.warn(format!("the index will follow when the folder is opened again: {reason}"));
    }
}

async fn undo(context: &Context) -> CliResult {
    run_from_journal(context, "undo", file_actions::steps_to_undo, file_actions::undo).await
}

async fn resume(context: &Context) -> CliResult {
    let work = |_, progress: Progress<'_>| file_actions::resume(progress);
    run_from_journal(context, "resume", file_actions::steps_to_resume, work).await
}

async fn run_from_journal(
    context: &Context,
    name: &'static str,
    preview: fn() -> Result<Vec<Step>, Failure>,
    work: fn(ActionId, Progress<'_>) -> Result<Outcome, Failure>,
) -> CliResult {
    context.require_writable()?;
    let last = file_actions::last_action()?;
    let steps = preview()?;
    if let Ok(target) = context.target()
        && let Some((folder, _)) = target.local_folder().filter(|_| !target.is_saved)
    {
        require_in_folder(folder, &steps, name, &last.text)?;
    }
    context.messages.info(format!("{name}: {}", last.text));
    let files = count_with_noun(steps.len(), "file", "files");
    if context.is_dry_run() {
        context.messages.info(format!("would {name} the action for {files}; nothing was changed"));
        return print_rows(context, name, steps.iter().map(|step| row(step, "planned", None)));
    }
    if !context.confirm(&format!("{name} the action for {files}?"), "--yes")? {
        return Err(CliError::failed("nothing was changed"));
    }
    let work = move |progress: Progress<'_>| work(last.id, progress);
    let outcome = run_with_progress(context, name, work).await?;
    report(context, &outcome);
    print_rows(context, name, rows_of(&steps, &outcome))?;
    // Opening the folder compares it with its index.
    if context.target().is_ok_and(|target| target.local_folder().is_some()) {
        let connection = context.connect(&[]).await?;
        connection.close(Ok(Exit::Done)).await?;
    }
    Ok(if outcome.is_whole() { Exit::Done } else { Exit::Incomplete })
}

/// Fails if the user names a folder in which the last action did not happen. Actions are always reverted in their
/// order, even if they happened in different folders.
fn require_in_folder(folder: &Path, steps: &[Step], name: &str, last: &SafeText) -> CliResult<()> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let is_inside = |path: &PathBuf| path.starts_with(&folder);
    if steps.is_empty() || steps.iter().any(|it| is_inside(&it.source) || is_inside(&it.target)) {
        return Ok(());
    }
    let message = format!(
        "the last action was not in {}: {last}; to {name} it, omit --folder",
        folder.display()
    );
    Err(CliError::new(Exit::Conflict, message))
}

/// Runs blocking work with a progress bar. An interrupt stops it after the current file.
async fn run_with_progress(
    context: &Context,
    label: &str,
    work: impl FnOnce(Progress<'_>) -> Result<Outcome, Failure> + Send + 'static,
) -> CliResult<Outcome> {
    const REFRESH: Duration = Duration::from_millis(200);
    let stop = Arc::new(AtomicBool::new(false));
    let (done, all) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (stopped, counted, total) = (Arc::clone(&stop), Arc::clone(&done), Arc::clone(&all));
    let mut task = tokio::task::spawn_blocking(move || {
        work(&mut |done, all| {
            counted.store(done, Ordering::Relaxed);
            total.store(all, Ordering::Relaxed);
            !stopped.load(Ordering::Relaxed)
        })
    });
    let mut bar = context.messages.progress_bar(label);
    let finished = context.until_interrupted(async {
        loop {
            tokio::select! {
                outcome = &mut task => break outcome,
                () = tokio::time::sleep(REFRESH) => {
                    let (done, all) = (done.load(Ordering::Relaxed), all.load(Ordering::Relaxed));
                    bar.set_count(done as u64, all as u64, &format!("{done} of {all} files"));
                }
            }
        }
    });
    let outcome = if let Some(outcome) = finished.await {
        outcome
    } else {
        stop.store(true, Ordering::Relaxed);
        (&mut task).await
    };
    let outcome = outcome.unwrap_or_else(|_| Err(Failure::internal_error()))?;
    Ok(outcome)
}

fn report(context: &Context, outcome: &Outcome) {
    for failed in first_skipped(&outcome.failed) {
        context.messages.warn(format!("left alone: {failed}"));
    }
    if !outcome.not_tried.is_empty() {
        let files = count_with_noun(outcome.not_tried.len(), "file was", "files were");
        context.messages.warn(format!("stopped; {files} not tried"));
    }
    context.messages.info(count_with_noun(outcome.done, "file done", "files done"));
}

/// Returns what became of each step. The undo of a move names a file that it leaves alone by the path at which it is.
fn rows_of<'a>(steps: &'a [Step], outcome: &'a Outcome) -> impl Iterator<Item = Value> + use<'a> {
    let failed = outcome.failed.iter().map(|it| (it.path.as_path(), it.reason.as_str()));
    let failed: HashMap<&Path, &str> = failed.collect();
    let not_tried: HashSet<&Path> = outcome.not_tried.iter().map(PathBuf::as_path).collect();
    steps.iter().map(move |step| {
        let reason =
            failed.get(step.source.as_path()).or_else(|| failed.get(step.target.as_path()));
        match reason {
            Some(reason) => row(step, "failed", Some(reason)),
            None if not_tried.contains(step.source.as_path()) => row(step, "not tried", None),
            None => row(step, "done", None),
        }
    })
}

fn row(step: &Step, state: &str, reason: Option<&str>) -> Value {
    let has_target = !step.target.as_os_str().is_empty();
    json!({
        "state": state,
        "source": step.source.to_string_lossy(),
        "target": has_target.then(|| step.target.to_string_lossy()),
        "bytes": step.content.size,
        "sidecar": step.is_companion,
        "reason": reason,
    })
}

fn skipped_row(skipped: &Skipped) -> Value {
    json!({
        "state": "left alone", "source": skipped.path.to_string_lossy(), "target": null, "bytes": null,
        "sidecar": false, "reason": skipped.reason,
    })
}

fn print_rows(context: &Context, action: &str, rows: impl Iterator<Item = Value>) -> CliResult {
    let fields = json!({ "action": action, "files": rows.collect::<Vec<_>>() });
    context.print(&Document::new("tessera.file_actions/1", fields))
}
