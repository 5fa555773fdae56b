//! Copies from the focused pane what `y` and a second key choose: id, link, file name, facts, or a
//! command.
//!
//! The runtime copies the text, and then reports where the text is. A signed link is copied only by the action for
//! links, and no command contains a secret.

use serde_json::{Value, json};
use tessera_model::{Dataset, ExportTaskId, Link, ShellCommand, Status, text::format_bytes};
use tessera_wire::{
    dataset::DatasetBody,
    explore::ClusterBody,
    preview::{LinkForm, PreviewBody, file_uri},
    selection,
};

use crate::app::prelude::*;
use crate::{
    app::{Job, ReopenCommand, full_size_link},
    command_lines::{ProfilerCommand, profiler_command_line, search_subcommand},
    message::CopyableRead,
    printable_text::PrintableText,
};

/// The longest part of the copied text that the notification repeats.
const MAX_SHOWN_CHARS: usize = 60;
/// The maximum size of a copied text, because terminals drop longer texts or freeze.
const MAX_COPIED_BYTES: usize = 64 << 10;

enum ClipboardContent {
    /// A text, with a name for the notification.
    Text(&'static str, PrintableText),
    /// The whole link, and its printed form.
    Link(Link, PrintableText),
    /// The `curl` command of a read. Only the client can write this command.
    Curl(CopyableRead),
}

/// Returns why `action` has nothing to copy, if it is an action that copies.
pub(super) fn unavailable_reason(app: &App, action: Action) -> Option<String> {
    clipboard_content(app, action)?.err().map(str::to_owned)
}

pub(in crate::app) fn copy_to_clipboard(app: &mut App, action: Action) {
    match clipboard_content(app, action) {
        Some(Ok(ClipboardContent::Text(name, text))) => app.outbox.copy_text(name, &text),
        Some(Ok(ClipboardContent::Link(link, text))) => {
            let excerpt = format!("{link}; it expires soon, and anyone who has it can use it");
            app.outbox.copy(Level::Warning, "link", excerpt, text);
        }
        Some(Ok(ClipboardContent::Curl(read))) => {
            app.outbox.send(Lane::Curl, Request::Curl(read));
        }
        // `availability` has already rejected this action with the reason.
        Some(Err(_)) | None => {}
    }
}

impl Outbox {
    pub(in crate::app) fn copy_text(&mut self, name: &str, text: &PrintableText) {
        let bytes = text.as_str().len();
        if bytes > MAX_COPIED_BYTES {
            let (size, limit) = (format_bytes(bytes as u64), format_bytes(MAX_COPIED_BYTES as u64));
            self.notify(
                Level::Warning,
                format!("the {name} is too long to copy: {size}, but at most {limit}"),
            );
            return;
        }
        let excerpt = SafeText::new(text.as_str(), MAX_SHOWN_CHARS);
        self.copy(Level::Success, name, excerpt.to_string(), text.clone());
    }
}

fn clipboard_content(app: &App, action: Action) -> Option<Result<ClipboardContent, &'static str>> {
    let text = |name, text: Result<PrintableText, &'static str>| {
        text.map(|text| ClipboardContent::Text(name, text))
    };
    let line = |line: String| PrintableText::lines(&line);
    Some(match action {
        Action::CopyId => text("id", subject(app).and_then(id).map(line)),
        Action::CopyLink => link(app),
        Action::CopyName => text("name", name(app).map(PrintableText::from)),
        Action::CopyJson => json_text(app),
        Action::CopyCurl if app.setup.deployment == DeploymentKind::Local => Err(
            "only this program reaches the service of a folder; `tessera serve` starts one for others",
        ),
        Action::CopyCurl => equivalent_read(app).map(ClipboardContent::Curl),
        Action::CopyCommand => text("command", Ok(command(app).into())),
        Action::CopyProfiler => text("line", profiler_command(app).map(PrintableText::from)),
        _ => return None,
    })
}

/// Returns what the pane shows as JSON: the filters as they are sent, the body of the export of a selection, or facts.
fn json_text(app: &App) -> Result<ClipboardContent, &'static str> {
    let (name, json) = match app.panes.focus {
        Pane::Query => {
            let query = app.query.query_json(&app.results).ok_or("no complete filter is on")?;
            ("query", PrintableText::lines(&query))
        }
        Pane::Basket => {
            let selection =
                app.baskets.selection(&app.results).filter(|selection| !selection.is_empty());
            let items = selection.ok_or("nothing is selected")?.items();
            ("selection", PrintableText::pretty_json(&selection::write(&items)))
        }
        _ => ("details", PrintableText::pretty_json(&facts(subject(app)?, link_form(app)))),
    };
    Ok(ClipboardContent::Text(name, json))
}

/// Returns the command that opens or prints what the pane shows. The command is as specific as the way in which the
/// deployment can be reached allows.
fn command(app: &App) -> ShellCommand {
    let tessera = match app.setup.reopen_command.clone() {
        ReopenCommand::Whole(command) => return command,
        ReopenCommand::Prefix(command) => command,
    };
    let dataset = app.target_dataset().map(|dataset| dataset.id.to_string());
    match (app.panes.focus, dataset) {
        (Pane::Results | Pane::Detail | Pane::Query, _) => match app.results.view() {
            Some(view) => tessera.followed_by(&search_subcommand(&view.search)),
            None => tessera,
        },
        (Pane::Jobs, _) => match app.jobs.selected().and_then(|job| task(job).ok()) {
            Some(task) => tessera.text("jobs show").word(task.to_string()),
            None => tessera.text("jobs list"),
        },
        (Pane::Basket, Some(dataset)) => tessera.text("selection show").word(dataset),
        (Pane::Datasets, Some(dataset)) => tessera.text("tui").word(dataset),
        (Pane::Basket | Pane::Datasets, None) => tessera,
    }
}

const NO_DATASET: &str = "no dataset is selected";
const NO_PICTURE: &str = "no picture is selected";

#[derive(Clone, Copy)]
enum Subject<'a> {
    Dataset(&'a Dataset),
    Cluster(&'a Cluster),
    Preview(&'a Preview),
    Job(&'a Job),
}

fn subject(app: &App) -> Result<Subject<'_>, &'static str> {
    match app.panes.focus {
        Pane::Datasets | Pane::Query | Pane::Basket => {
            app.target_dataset().map(Subject::Dataset).ok_or_else(|| app.no_target_reason())
        }
        Pane::Results => {
            app.results.cluster().map(Subject::Cluster).ok_or("no cluster is selected")
        }
        Pane::Detail => app.results.preview().map(Subject::Preview).ok_or(NO_PICTURE),
        Pane::Jobs => app.jobs.selected().map(Subject::Job).ok_or("no job is selected"),
    }
}

fn id(subject: Subject) -> Result<String, &'static str> {
    match subject {
        Subject::Dataset(dataset) => Ok(dataset.id.to_string()),
        Subject::Cluster(cluster) => Ok(cluster.id.to_string()),
        Subject::Preview(preview) => Ok(preview.media.to_string()),
        Subject::Job(job) => task(job).map(|task| task.to_string()),
    }
}

fn task(job: &Job) -> Result<ExportTaskId, &'static str> {
    job.state().export_task().ok_or("this job has no id at the service")
}

/// Returns the form of the links in JSON. The links of a local deployment end with the program, so its files are named
/// instead.
fn link_form(app: &App) -> LinkForm {
    match app.setup.deployment {
        DeploymentKind::Local => LinkForm::Files,
        DeploymentKind::Hosted | DeploymentKind::Onprem => LinkForm::Unsigned,
    }
}

fn link(app: &App) -> Result<ClipboardContent, &'static str> {
    match app.panes.focus {
        Pane::Results | Pane::Detail => {
            let preview = app.results.preview().ok_or(NO_PICTURE)?;
            if let (LinkForm::Files, Some(file)) = (link_form(app), preview.original_file()) {
                let uri = PrintableText::lines(&file_uri(file));
                return Ok(ClipboardContent::Text("link", uri));
            }
            let link =
                full_size_link(preview).ok_or("the service provides no link to this picture")?;
            let text = PrintableText::exposed_link(&link)
                .ok_or("the service provides an invalid link to this picture")?;
            Ok(ClipboardContent::Link(link, text))
        }
        Pane::Jobs => Err("the link of an archive is requested for the download; d starts it"),
        Pane::Datasets | Pane::Query | Pane::Basket => Err("only pictures have links"),
    }
}

fn name(app: &App) -> Result<SafeText, &'static str> {
    match (app.panes.focus, subject(app)) {
        (Pane::Results | Pane::Detail, _) => {
            app.results.preview().map(|preview| preview.file_name.clone()).ok_or(NO_PICTURE)
        }
        (_, Ok(Subject::Dataset(dataset))) => Ok(dataset.name.clone()),
        (_, Ok(Subject::Job(job))) => {
            file_name(job).map(SafeText::file_name).ok_or("this job has no file")
        }
        (_, subject) => Err(subject.err().unwrap_or(NO_DATASET)),
    }
}

fn file_name(job: &Job) -> Option<&str> {
    job.export().map(|export| export.spec.file_name.as_str())
}

/// Returns the facts on screen as JSON in the format of the service.
fn facts(subject: Subject, links: LinkForm) -> Value {
    match subject {
        Subject::Dataset(dataset) => json!(DatasetBody::new(dataset)),
        Subject::Cluster(cluster) => json!(ClusterBody::new(cluster, links)),
        Subject::Preview(preview) => json!(PreviewBody::new(preview, links)),
        Subject::Job(job) => json!({
            "dataset_id": job.dataset,
            "export_task_id": task(job).ok(),
            "job": job.kind.label(),
            "file_name": file_name(job),
            "status": job.label(),
        }),
    }
}

/// Returns the request whose response is on screen.
fn equivalent_read(app: &App) -> Result<CopyableRead, &'static str> {
    match (app.panes.focus, subject(app)) {
        (Pane::Results | Pane::Detail | Pane::Query, _) => {
            app.results.view().map(|view| CopyableRead::Page(view.search.clone())).ok_or(NO_DATASET)
        }
        (_, Ok(Subject::Dataset(dataset))) => Ok(CopyableRead::Dataset(dataset.id)),
        (_, Ok(Subject::Job(job))) => Ok(CopyableRead::Export(job.dataset, task(job)?)),
        (_, subject) => Err(subject.err().unwrap_or(NO_DATASET)),
    }
}

fn profiler_command(app: &App) -> Result<ShellCommand, &'static str> {
    let dataset = app.target_dataset().ok_or_else(|| app.no_target_reason())?;
    if app.setup.deployment != DeploymentKind::Onprem {
        return Err("run_profiler.sh is only available for on-premises deployments");
    }
    let operation = match dataset.status {
        Status::PartialIndex => ProfilerCommand::Reindex,
        _ => ProfilerCommand::AddMedia("/path/at/the/service", true),
    };
    Ok(profiler_command_line(dataset.id, operation))
}
