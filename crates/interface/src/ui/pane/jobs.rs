//! Draws the jobs, newest first.

use tessera_model::{
    ExportTaskId,
    text::{format_age, format_duration},
};

use crate::ui::prelude::*;
use crate::{
    app::{
        Job, JobState,
        jobs::rows::{self, JobColumns, JobRows, job_state_text, job_summary},
    },
    drawing::{Theme, gauge},
    ui::pane::MIN_FRAMED_ROWS,
};

pub(in crate::ui) fn jobs(ctx: &mut DrawContext, area: Rect) {
    let app = ctx.app;
    let count = app.jobs().len();
    let summary = if count == 0 { String::new() } else { count.to_string() };
    if area.height < MIN_FRAMED_ROWS {
        return draw_line(ctx, area);
    }
    let inside = ctx.pane_frame(area, Pane::Jobs, &summary);
    if count == 0 {
        let text = "No jobs. e exports the open dataset.";
        return ctx.centered_message(inside, ctx.theme.dim, &[text]);
    }
    let rows = JobRows::new(app, area);
    ctx.scroll_mark(area, rows.top, usize::from(inside.height), count);
    let focused = app.panes().focus == Pane::Jobs;
    for (index, area) in rows.areas {
        let Some(job) = app.jobs().iter().rev().nth(index) else { continue };
        draw_row(ctx, area, rows.columns, job);
        for row in 0..area.height {
            ctx.select_row(area, row, focused && index == app.jobs().cursor());
        }
    }
}

/// Draws a single line with the number of jobs and the newest job that runs, or the newest job if none runs.
fn draw_line(ctx: &mut DrawContext, area: Rect) {
    let running = ctx.app.jobs().iter().rfind(|job| job.is_active());
    let Some(newest) = running.or_else(|| ctx.app.jobs().iter().next_back()) else {
        let key = ctx.first_key(Action::Export).unwrap_or_default();
        return ctx.collapsed_pane(
            area,
            Pane::Jobs,
            &format!("none · {key} exports the open dataset"),
        );
    };
    let count = ctx.app.jobs().len();
    let (kind, name) = (newest.kind.label(), &newest.dataset_name);
    let (state, summary) = (job_state_text(newest), job_summary(newest));
    ctx.collapsed_pane(area, Pane::Jobs, &format!("{count} · {kind} {name}: {state} · {summary}"));
}

/// Draws a job and its summary, which may take further rows. The job's id and next poll are drawn only in a wide pane.
fn draw_row(ctx: &mut DrawContext, area: Rect, columns: JobColumns, job: &Job) {
    let (app, theme) = (ctx.app, ctx.theme);
    let waits = app.login().waits_for_login(job);
    let (mark, style) = if waits { ("✖", theme.failure) } else { state_glyph(theme, job) };
    let state = if waits { "needs login".to_owned() } else { job_state_text(job) };
    let padded = |text: &str, columns: u16| {
        let columns = usize::from(columns);
        format!("{:<columns$} ", truncate(text, columns))
    };
    let mut parts = vec![
        (format!(" {mark}"), style),
        (format!(" {:<9} ", job.kind.label()), theme.text),
        (padded(job.dataset_name.as_str(), columns.name), theme.text),
    ];
    if columns.shows_id() {
        let id = job.state().export_task().map_or_else(String::new, ExportTaskId::short);
        parts.push((format!("{id:<8} "), theme.dim));
    }
    parts.push((padded(&state, columns.state), style));
    if columns.shows_progress() {
        let bar = job.fraction_done().map_or_else(|| " ".repeat(9), |part| gauge(part, 8) + " ");
        parts.push((bar, theme.gauge));
        parts.push((format!("{:<6} ", format_duration(job.elapsed(app.clock()))), theme.dim));
    }
    if columns.shows_id() {
        parts.push((format!("{:<11} ", when_text(app, job)), theme.dim));
    }
    let text = rows::summary(app.login(), job);
    let (first, column) = columns.summary_place();
    if area.height <= first {
        parts.push((text.clone(), theme.dim));
    }
    ctx.put(area, 0, &parts);
    let cells = area.width.saturating_sub(column);
    let place = Rect { x: area.x + column, width: cells, ..area };
    let lines = usize::from(area.height.saturating_sub(first));
    let (kind, name) = (job.kind.label(), &job.dataset_name);
    let mut is_cut = lines == 0
        || [(name.as_str(), columns.name), (&state, columns.state)]
            .iter()
            .any(|(text, cells)| display_width(text) > usize::from(*cells));
    for (row, line) in (first..).zip(wrap_words(&text, usize::from(cells), lines)) {
        is_cut |= line.ends_with('…');
        ctx.put(place, row, &[(line, theme.dim)]);
    }
    if is_cut {
        ctx.explain(area, format!("{kind} {name}: {state} · {text}"));
    }
}

fn state_glyph(theme: &Theme, job: &Job) -> (&'static str, Style) {
    match job.state().or_end_elsewhere() {
        JobState::Queued(_) => ("…", theme.dim),
        JobState::Starting
        | JobState::Uploading(..)
        | JobState::GettingModel(..)
        | JobState::Encoding(..)
        | JobState::DatasetRunning
        | JobState::ExportRunning(..)
        | JobState::Downloading(..) => ("▶", theme.attention),
        JobState::DatasetDone(_) | JobState::ExportReady(_) | JobState::Downloaded(..) => {
            ("✔", theme.success)
        }
        JobState::Failed(..) => ("✖", theme.failure),
        JobState::Uncertain(_) => ("?", theme.attention),
        JobState::Unwatched(_) | JobState::OtherInstance(_) => ("○", theme.dim),
    }
}

/// Returns when the next poll of a job is due, or when the job ended.
fn when_text(app: &App, job: &Job) -> String {
    if let Some(ended) = job.ended_at() {
        return format_age(app.clock().saturating_sub(ended));
    }
    let due = job.next_poll(app.clock(), app.setup().settings.poll);
    match due.map(|due| due.saturating_sub(app.now()).as_secs()) {
        None => String::new(),
        Some(0) => "polling".to_owned(),
        Some(seconds) => format!("next {seconds}s"),
    }
}
