//! The jobs: one line each, newest first.

use ratatui::{layout::Rect, style::Style};

use super::select_row;
use crate::{
    app::{Job, Pane, Stage, pane::jobs_top},
    ui::{
        Screen, Theme,
        widget::{bytes, clip, clock, frame, gauge, message, put},
    },
};

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

fn line(screen: &mut Screen, inside: Rect, row: u16, job: &Job) {
    let theme = screen.theme;
    let (mark, style) = mark(theme, job);
    let end = job.ended.unwrap_or(screen.app.now);
    let name = format!(" export {:<18} ", clip(job.dataset_name.as_str(), 18));
    let state = format!("{:<15} ", job.word());
    let bar = job.part().map_or_else(|| " ".repeat(13), |part| gauge(part, 12) + " ");
    let time = format!("{}  ", clock(end.saturating_sub(job.started)));
    put(
        screen,
        inside,
        row,
        &[
            (" ", style),
            (mark, style),
            (&name, theme.text),
            (&state, style),
            (&bar, theme.gauge),
            (&time, theme.dim),
            (&note(job), theme.dim),
        ],
    );
}

fn mark(theme: &Theme, job: &Job) -> (&'static str, Style) {
    match job.stage {
        Stage::Starting | Stage::Running(..) | Stage::Downloading(..) => ("▶", theme.moving),
        Stage::Completed(_) | Stage::Downloaded(_) => ("✔", theme.success),
        Stage::Failed(_) => ("✖", theme.failure),
        Stage::Uncertain(_) => ("?", theme.moving),
        Stage::Unwatched => ("○", theme.dim),
    }
}

/// What else is to be said about a job.
fn note(job: &Job) -> String {
    let spec = &job.spec;
    match &job.stage {
        Stage::Running(_, task) => match task.failure() {
            Some(failure) => format!("last seen so; {failure}"),
            None => format!("{} · {}", spec.file_name.as_str(), contents(job)),
        },
        Stage::Starting => format!("{} · {}", spec.file_name.as_str(), contents(job)),
        Stage::Completed(_) => format!("{} · d downloads it", spec.file_name.as_str()),
        Stage::Downloading(_, done, Some(total)) => {
            format!("{} of {}", bytes(*done), bytes(*total))
        }
        Stage::Downloading(_, done, None) => bytes(*done),
        Stage::Downloaded(archive) => {
            format!("{} · {} verified", archive.path.display(), bytes(archive.bytes))
        }
        Stage::Failed(failure) | Stage::Uncertain(failure) => failure.to_string(),
        Stage::Unwatched => "the service goes on with it".to_owned(),
    }
}

fn contents(job: &Job) -> String {
    let images = if job.spec.include_images { " + images" } else { "" };
    format!("{}{images}", job.spec.format.word())
}
