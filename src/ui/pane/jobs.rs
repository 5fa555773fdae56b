//! The jobs: one line each, newest first.

use ratatui::{layout::Rect, style::Style};

use crate::{
    app::{App, Job, JobState, Pane, pane::jobs_scroll_top},
    input::Action,
    ui::{
        DrawContext, Theme,
        widget::{MIN_FRAMED_ROWS, format_age, format_bytes, format_duration, gauge, truncate},
    },
};
use tessera_model::{ExportTaskId, JobKind, SafeText, operation_tracker::OperationTracker};

pub(in crate::ui) fn jobs(ctx: &mut DrawContext, area: Rect) {
    let app = ctx.app;
    let count = app.jobs.len();
    let summary = if count == 0 { String::new() } else { count.to_string() };
    if area.height < MIN_FRAMED_ROWS {
        return draw_line(ctx, area);
    }
    let inside = ctx.pane_frame(area, Pane::Jobs, &summary);
    if count == 0 {
        let text = "No jobs. e exports the open dataset.";
        return ctx.centered_message(inside, ctx.theme.dim, &[text]);
    }
    let top = jobs_scroll_top(app, area);
    ctx.scroll_mark(area, top, usize::from(inside.height), count);
    let focused = app.focus == Pane::Jobs;
    let jobs = app.jobs.iter().rev().enumerate().skip(top);
    for (row, (index, job)) in (0..inside.height).zip(jobs) {
        draw_row(ctx, inside, row, job);
        ctx.select_row(inside, row, focused && index == app.jobs.cursor());
    }
}

/// How many jobs there are, and the newest one.
fn draw_line(ctx: &mut DrawContext, area: Rect) {
    let Some(newest) = ctx.app.jobs.iter().next_back() else {
        let key = ctx.first_key(Action::Export).unwrap_or_default();
        return ctx.pane_line(area, Pane::Jobs, &format!("none · {key} exports the open dataset"));
    };
    let count = ctx.app.jobs.len();
    let (kind, name) = (newest.kind.label(), &newest.dataset_name);
    let (state, summary) = (state_text(newest), job_summary(newest));
    ctx.pane_line(area, Pane::Jobs, &format!("{count} · {kind} {name}: {state} · {summary}"));
}

/// Draws a job; its id and next poll only in a wide pane.
fn draw_row(ctx: &mut DrawContext, inside: Rect, row: u16, job: &Job) {
    let (app, theme) = (ctx.app, ctx.theme);
    let waits = app.waits_for_login(job);
    let (mark, style) = if waits { ("✖", theme.failure) } else { state_glyph(theme, job) };
    let state = if waits { "needs login".to_owned() } else { state_text(job) };
    let wide = inside.width >= 100;
    let id = job.state().export_task().map_or_else(String::new, ExportTaskId::short);
    let id = if wide { format!("{id:<8} ") } else { String::new() };
    let bar = job.fraction_done().map_or_else(|| " ".repeat(9), |part| gauge(part, 8) + " ");
    let next = if wide { format!("{:<11} ", when_text(app, job)) } else { String::new() };
    let parts = [
        (format!(" {mark}"), style),
        (format!(" {:<9} ", job.kind.label()), theme.text),
        (format!("{:<16} ", truncate(job.dataset_name.as_str(), 16)), theme.text),
        (id, theme.dim),
        (format!("{:<16} ", truncate(&state, 16)), style),
        (bar, theme.gauge),
        (format!("{:<6} ", format_duration(job.elapsed(app.clock()))), theme.dim),
        (next, theme.dim),
        (if waits { waiting_for_login(job) } else { job_summary(job) }, theme.dim),
    ];
    ctx.put(inside, row, &parts);
}

fn state_glyph(theme: &Theme, job: &Job) -> (&'static str, Style) {
    match job.state() {
        JobState::Queued(_) => ("…", theme.dim),
        JobState::Starting
        | JobState::Uploading(..)
        | JobState::DatasetRunning
        | JobState::ExportRunning(..)
        | JobState::Downloading(..) => ("▶", theme.moving),
        JobState::DatasetDone(_) | JobState::ExportReady(_) | JobState::Downloaded(..) => {
            ("✔", theme.success)
        }
        JobState::Failed(..) => ("✖", theme.failure),
        JobState::Uncertain(_) => ("?", theme.moving),
        JobState::Unwatched(_) | JobState::OtherInstance(_) => ("○", theme.dim),
    }
}

fn state_text(job: &Job) -> String {
    match (job.state(), job.progress()) {
        (JobState::ExportRunning(..) | JobState::DatasetRunning, Some((percent, 100))) => {
            format!("{} {percent}%", job.label())
        }
        _ => job.label().to_owned(),
    }
}

/// What is known of a job that cannot be followed without login.
fn waiting_for_login(job: &Job) -> String {
    format!("last {} · L opens the login", state_text(job))
}

/// The next poll of a job; when it ended.
fn when_text(app: &App, job: &Job) -> String {
    if let Some(ended) = job.ended_at() {
        return format_age(app.clock().saturating_sub(ended));
    }
    let due = job.next_poll(app.clock(), app.setup.cadence);
    match due.map(|due| due.saturating_sub(app.now).as_secs()) {
        None => String::new(),
        Some(0) => "polling".to_owned(),
        Some(seconds) => format!("next {seconds}s"),
    }
}

pub(in crate::ui) fn job_summary(job: &Job) -> String {
    let state = match job.state() {
        JobState::ExportRunning(_, task) => match task.failure() {
            Some(failure) => format!("last known state; {failure}"),
            None => describe_work(job),
        },
        JobState::Starting => describe_work(job),
        JobState::Queued(_) => {
            format!("waiting until the dataset is free · {}", describe_work(job))
        }
        JobState::DatasetRunning | JobState::DatasetDone(_) => {
            format!("{}{}", added_text(job), last_states(job))
        }
        JobState::ExportReady(_) => format!("{} · d downloads it", describe_work(job)),
        JobState::Uploading(done, Some(total)) | JobState::Downloading(_, done, Some(total)) => {
            format!("{} of {}", format_bytes(*done), format_bytes(*total))
        }
        JobState::Uploading(done, None) | JobState::Downloading(_, done, None) => {
            format_bytes(*done)
        }
        JobState::Downloaded(archive, _) => {
            let path = SafeText::file_name(&archive.path.to_string_lossy());
            format!("{path} · {} verified", format_bytes(archive.bytes))
        }
        JobState::Failed(failure, _) | JobState::Uncertain(failure) => failure.to_string(),
        JobState::OtherInstance(_) => {
            format!("followed by another instance · {}", describe_work(job))
        }
        JobState::Unwatched(_) => "continues on the service; r resumes watching".to_owned(),
    };
    let left = job.history().time_left().map(|left| format!("{} left", format_duration(left)));
    let is_transfer = matches!(job.state(), JobState::Uploading(..) | JobState::Downloading(..));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes a second")]
    let rate = job.history().rate().map(|rate| format!("{}/s", format_bytes(rate as u64)));
    let parts = [left, rate.filter(|_| is_transfer), Some(state)].into_iter().flatten();
    parts.collect::<Vec<_>>().join(" · ")
}

fn added_text(job: &Job) -> String {
    let added =
        job.tracker().and_then(OperationTracker::added_media_count).filter(|added| *added > 0);
    added.map_or_else(String::new, |added| format!("+{added} media · "))
}

/// The last two states; the detail of the job shows all.
fn last_states(job: &Job) -> String {
    let states: Vec<&str> =
        job.history().transitions().iter().map(|step| step.state.as_str()).collect();
    states[states.len().saturating_sub(2)..].join(" → ")
}

fn describe_work(job: &Job) -> String {
    match &job.kind {
        JobKind::Export(export) => {
            let images = if export.spec.include_images { " + images" } else { "" };
            let selection = export.selection.as_ref().map_or("", SafeText::as_str);
            let gap = if selection.is_empty() { "" } else { " · " };
            let (name, format) = (export.spec.file_name.as_str(), export.spec.format.as_str());
            format!("{name} · {selection}{gap}{format}{images}")
        }
        JobKind::AddMedia(addition) => addition.source.to_string(),
        JobKind::Reindex => "all clusters are computed again".to_owned(),
    }
}
