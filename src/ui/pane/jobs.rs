//! The jobs: one line each, newest first.

use ratatui::{layout::Rect, style::Style};

use super::select_row;
use crate::{
    app::{App, Course, Job, Pane, Stage, pane::jobs_top},
    ui::{
        Screen, Theme,
        widget::{bytes, clip, clock, frame, gauge, message, put},
    },
};
use tessera_model::{ExportTaskId, SafeText, Work};

/// The pane.
pub(in crate::ui) fn jobs(screen: &mut Screen, area: Rect) {
    let app = screen.app;
    let count = app.store.jobs.len();
    let words = if count == 0 { String::new() } else { count.to_string() };
    let inside = frame(screen, area, Pane::Jobs, &words);
    if count == 0 {
        return message(
            screen,
            inside,
            screen.theme.dim,
            &["no jobs yet: e exports the open dataset"],
        );
    }
    let top = jobs_top(app, area);
    for (row, job) in app.store.jobs.values().rev().skip(top).enumerate() {
        let Ok(row) = u16::try_from(row) else { break };
        if row >= inside.height {
            break;
        }
        line(screen, inside, row, job);
        select_row(
            screen,
            inside,
            row,
            app.focus == Pane::Jobs && top + usize::from(row) == app.jobs.cursor,
        );
    }
}

/// Columns of a row: the id, the bar and the time of the next question only where there is room.
fn line(screen: &mut Screen, inside: Rect, row: u16, job: &Job) {
    let (app, theme) = (screen.app, screen.theme);
    let (mark, style) = mark(theme, job);
    let wide = inside.width >= 100;
    let kind = format!(" {:<9} ", job.work.word());
    let name = format!("{:<16} ", clip(job.dataset_name.as_str(), 16));
    let id = job.task().map_or_else(String::new, ExportTaskId::short);
    let id = if wide { format!("{id:<8} ") } else { String::new() };
    let state = format!("{:<16} ", clip(&state(job), 16));
    let bar = job.part().map_or_else(|| " ".repeat(9), |part| gauge(part, 8) + " ");
    let time = format!("{:<6} ", clock(job.elapsed(app.clock())));
    let next = if wide { format!("{:<8} ", next_poll(app, job)) } else { String::new() };
    let note = job_note(job);
    let parts = [
        (" ", style),
        (mark, style),
        (kind.as_str(), theme.text),
        (&name, theme.text),
        (&id, theme.dim),
        (&state, style),
        (&bar, theme.gauge),
        (&time, theme.dim),
        (&next, theme.dim),
        (&note, theme.dim),
    ];
    put(screen, inside, row, &parts);
}

fn mark(theme: &Theme, job: &Job) -> (&'static str, Style) {
    match job.stage {
        Stage::Queued(_) => ("…", theme.dim),
        Stage::Starting
        | Stage::Sending(..)
        | Stage::Following
        | Stage::Running(..)
        | Stage::Downloading(..) => ("▶", theme.moving),
        Stage::Done(_) | Stage::Completed(_) | Stage::Downloaded(_) => ("✔", theme.success),
        Stage::Failed(_) => ("✖", theme.failure),
        Stage::Uncertain(_) => ("?", theme.moving),
        Stage::Unwatched(_) | Stage::Elsewhere(_) => ("○", theme.dim),
    }
}

/// The word of the state with its percentage, so that a bar is never alone (3.10).
fn state(job: &Job) -> String {
    match (&job.stage, job.measure()) {
        (Stage::Running(..) | Stage::Following, Some((percent, 100))) => {
            format!("{} {percent}%", job.word())
        }
        _ => job.word().to_owned(),
    }
}

/// When the service is asked again.
fn next_poll(app: &App, job: &Job) -> String {
    let due = job.due(app.clock(), app.setup.cadence);
    let seconds = due.map(|due| due.saturating_sub(app.now).as_secs());
    match seconds {
        None => String::new(),
        Some(0) => "asking".to_owned(),
        Some(seconds) => format!("next {seconds}s"),
    }
}

/// What else is to be said about a job.
pub(in crate::ui) fn job_note(job: &Job) -> String {
    let words = match &job.stage {
        Stage::Running(_, task) => match task.failure() {
            Some(failure) => format!("last seen so; {failure}"),
            None => contents(job),
        },
        Stage::Starting => contents(job),
        Stage::Queued(_) => format!("waits here until the dataset is free · {}", contents(job)),
        Stage::Following | Stage::Done(_) => format!("{}{}", added(job), way(job)),
        Stage::Completed(_) => format!("{} · d downloads it", contents(job)),
        Stage::Sending(done, Some(total)) | Stage::Downloading(_, done, Some(total)) => {
            format!("{} of {}", bytes(*done), bytes(*total))
        }
        Stage::Sending(done, None) | Stage::Downloading(_, done, None) => bytes(*done),
        Stage::Downloaded(archive) => {
            let path = SafeText::file(&archive.path.to_string_lossy());
            format!("{path} · {} verified", bytes(archive.bytes))
        }
        Stage::Failed(failure) | Stage::Uncertain(failure) => failure.to_string(),
        Stage::Elsewhere(_) => {
            format!("another running copy follows it · {}", contents(job))
        }
        Stage::Unwatched(_) => "the service goes on with it; r looks again".to_owned(),
    };
    let left = job.timeline.left().map(|left| format!("{} left", clock(left)));
    let rate = job
        .timeline
        .rate()
        .filter(|_| matches!(job.stage, Stage::Sending(..) | Stage::Downloading(..)));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes a second")]
    let rate = rate.map(|rate| format!("{}/s", bytes(rate as u64)));
    let parts = [left, rate, Some(words)].into_iter().flatten();
    parts.collect::<Vec<_>>().join(" · ")
}

/// Media that came so far.
fn added(job: &Job) -> String {
    let added = job.course.as_ref().and_then(Course::added).filter(|added| *added > 0);
    added.map_or_else(String::new, |added| format!("+{added} media · "))
}

/// The last step of its dataset; all of them are told when the row is opened.
fn way(job: &Job) -> String {
    let words: Vec<&str> = job.timeline.steps().iter().map(|step| step.word.as_str()).collect();
    words[words.len().saturating_sub(2)..].join(" → ")
}

/// What the job is about, in a few words.
fn contents(job: &Job) -> String {
    match &job.work {
        Work::Export(export) => {
            let images = if export.spec.include_images { " + images" } else { "" };
            let selection = export.selection.as_ref().map_or("", SafeText::as_str);
            let gap = if selection.is_empty() { "" } else { " · " };
            let (name, format) = (export.spec.file_name.as_str(), export.spec.format.word());
            format!("{name} · {selection}{gap}{format}{images}")
        }
        Work::AddMedia(addition) => addition.source.to_string(),
        Work::Reindex => "full re-clustering".to_owned(),
    }
}
