//! What `y` copies from the focused pane: id, link, file name, facts, or a command.
//!
//! The text goes to the clipboard through the terminal, so it works over SSH, too. A signed link is
//! copied only by the action for links, and no command contains a secret.

use serde_json::{Value, json};

use crate::command_lines::{ProfilerCommand, profiler_command_line};
use crate::{
    app::{App, Effect, Job, Level, Pane},
    input::Action,
    message::{Lane, ReadRequest, Request},
};
use tessera_model::{Cluster, Dataset, ExportTaskId, Link, Preview, SafeText, Status};
use tessera_wire::{
    dataset::write_dataset,
    explore::{write_cluster, write_preview},
};

/// Longest part of the copied text that the notification repeats.
const MAX_SHOWN_CHARS: usize = 60;

enum ClipboardContent {
    /// A text and its name.
    Text(&'static str, String),
    /// A link that expires.
    Link(Link),
    /// The `curl` command of a read, which only the client can write.
    Curl(ReadRequest),
}

/// Why `action` has nothing to copy here, if it is an action that copies.
pub(super) fn unavailable_reason(app: &App, action: Action) -> Option<String> {
    clipboard_content(app, action)?.err().map(str::to_owned)
}

impl App {
    /// Copies, or requests what is to be copied.
    pub(super) fn copy_to_clipboard(&mut self, action: Action) {
        match clipboard_content(self, action) {
            Some(Ok(ClipboardContent::Text(name, text))) => self.copy_text(name, text),
            Some(Ok(ClipboardContent::Link(link))) => {
                self.effects.push(Effect::Copy(link.expose().to_owned()));
                let text = format!(
                    "copied the link {link}: it expires soon, and anyone who has it can use it"
                );
                self.notify(Level::Warning, text);
            }
            Some(Ok(ClipboardContent::Curl(read))) => {
                self.send(Lane::Curl, Request::Curl(read));
            }
            // `availability` has already rejected it, with the reason.
            Some(Err(_)) | None => {}
        }
    }

    pub(super) fn copy_text(&mut self, name: &str, text: String) {
        let excerpt = SafeText::new(&text, MAX_SHOWN_CHARS);
        self.notify(Level::Success, format!("copied the {name}: {excerpt}"));
        self.effects.push(Effect::Copy(text));
    }
}

fn clipboard_content(app: &App, action: Action) -> Option<Result<ClipboardContent, &'static str>> {
    Some(match action {
        Action::CopyId => id(app).map(|id| ClipboardContent::Text("id", id)),
        Action::CopyLink => link(app).map(ClipboardContent::Link),
        Action::CopyName => name(app).map(|name| ClipboardContent::Text("name", name)),
        Action::CopyJson => {
            facts(app).map(|facts| ClipboardContent::Text("facts", format!("{facts:#}")))
        }
        Action::CopyCurl => equivalent_read(app).map(ClipboardContent::Curl),
        Action::CopyCommand => {
            Ok(ClipboardContent::Text("command", app.setup.reopen_command.clone()))
        }
        Action::CopyProfiler => {
            profiler_command(app).map(|line| ClipboardContent::Text("line", line))
        }
        _ => return None,
    })
}

const NO_DATASET: &str = "no dataset is selected";
const NO_CLUSTER: &str = "no cluster is selected";
const NO_PICTURE: &str = "no picture is selected";
const NO_JOB: &str = "no job is selected";

/// The dataset that the focused pane is about.
fn dataset(app: &App) -> Result<&Dataset, &'static str> {
    match app.focus {
        Pane::Datasets => app.selected_dataset(),
        _ => app.dataset(),
    }
    .ok_or(NO_DATASET)
}

fn cluster(app: &App) -> Result<&Cluster, &'static str> {
    app.cluster().ok_or(NO_CLUSTER)
}

fn preview(app: &App) -> Result<&Preview, &'static str> {
    app.preview().ok_or(NO_PICTURE)
}

fn job(app: &App) -> Result<&Job, &'static str> {
    app.jobs.selected().ok_or(NO_JOB)
}

fn task(job: &Job) -> Result<ExportTaskId, &'static str> {
    job.state().export_task().ok_or("this job has no id at the service")
}

fn file_name(job: &Job) -> Option<&str> {
    job.export().map(|export| export.spec.file_name.as_str())
}

fn id(app: &App) -> Result<String, &'static str> {
    match app.focus {
        Pane::Datasets | Pane::Query | Pane::Basket => {
            dataset(app).map(|dataset| dataset.id.to_string())
        }
        Pane::Results => cluster(app).map(|cluster| cluster.id.to_string()),
        Pane::Detail => preview(app).map(|preview| preview.media.to_string()),
        Pane::Jobs => task(job(app)?).map(|task| task.to_string()),
    }
}

fn link(app: &App) -> Result<Link, &'static str> {
    match app.focus {
        Pane::Results | Pane::Detail => {
            let preview = preview(app)?;
            let link = preview.original.as_ref().or(preview.thumbnail.as_ref());
            link.cloned().ok_or("the service provides no link to this picture")
        }
        Pane::Jobs => Err("the link of an archive is requested for the download; d starts it"),
        Pane::Datasets | Pane::Query | Pane::Basket => Err("only pictures have links"),
    }
}

fn name(app: &App) -> Result<String, &'static str> {
    match app.focus {
        Pane::Datasets | Pane::Query | Pane::Basket => {
            dataset(app).map(|dataset| dataset.name.to_string())
        }
        Pane::Results | Pane::Detail => preview(app).map(|preview| preview.file_name.to_string()),
        Pane::Jobs => {
            let name = file_name(job(app)?).map(ToOwned::to_owned);
            name.ok_or("this job has no file")
        }
    }
}

/// The facts on screen as JSON in the format of the service; links without signatures.
fn facts(app: &App) -> Result<Value, &'static str> {
    match app.focus {
        Pane::Datasets | Pane::Query | Pane::Basket => dataset(app).map(write_dataset),
        Pane::Results => cluster(app).map(|cluster| write_cluster(cluster, Link::to_string)),
        Pane::Detail => preview(app).map(|preview| write_preview(preview, Link::to_string)),
        Pane::Jobs => job(app).map(|job| {
            json!({
                "dataset_id": job.dataset,
                "export_task_id": task(job).ok(),
                "job": job.kind.label(),
                "file_name": file_name(job),
                "status": job.label(),
            })
        }),
    }
}

/// The request whose response is on screen.
fn equivalent_read(app: &App) -> Result<ReadRequest, &'static str> {
    match app.focus {
        Pane::Datasets | Pane::Basket => {
            dataset(app).map(|dataset| ReadRequest::Dataset(dataset.id))
        }
        Pane::Results | Pane::Detail | Pane::Query => {
            app.view().map(|view| ReadRequest::Page(view.search.clone())).ok_or(NO_DATASET)
        }
        Pane::Jobs => {
            let job = job(app)?;
            Ok(ReadRequest::Export(job.dataset, task(job)?))
        }
    }
}

/// The `run_profiler.sh` command for the machine of the deployment.
fn profiler_command(app: &App) -> Result<String, &'static str> {
    let dataset = dataset(app)?;
    if !app.setup.on_premises {
        return Err("run_profiler.sh is only available for on-premises deployments");
    }
    let operation = match dataset.status {
        Status::PartialIndex => ProfilerCommand::Reindex,
        _ => ProfilerCommand::AddMedia("/path/at/the/service", true),
    };
    Ok(profiler_command_line(dataset.id, operation))
}
