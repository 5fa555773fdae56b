//! Shows the detail of a job: facts, its progress over time, the states it went through, and the command that does the
//! same.

use ratatui::{
    buffer::{Buffer, Cell},
    widgets::{Sparkline, Widget},
};
use tessera_model::{
    Timestamp,
    text::{format_age, format_duration},
};
use time::OffsetDateTime;

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        Job, Jobs,
        jobs::rows::{job_summary, rate_text},
    },
    command_lines::job_command_line,
    message::JobId,
};

#[derive(Clone, Copy, Debug)]
pub struct JobDetail {
    pub job: JobId,
    pub scroll: ScrollState,
    /// The rows of the dialog with its frame when it was opened.
    rows: u16,
}

impl Dialog for JobDetail {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        self.scroll.handle_key(chord)
    }

    fn preferred_size(&self, _: (u16, u16)) -> (u16, u16) {
        (86, self.rows)
    }

    fn hints(&self) -> &'static str {
        "j k scroll   Esc close"
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let Some(job) = ctx.app.jobs.get(self.job) else { return };
        let title = format!("{} of {}", job.kind.label(), job.dataset_name);
        let inside = ctx.dialog(area, &title);
        let mut lines = facts(ctx, job);
        lines.push(Line::default());
        lines.extend(states(ctx, job));
        lines.push(Line::default());
        lines.push(Line::styled(" the same job as a command", ctx.theme.dim));
        let command = job_command_line(&job.kind, &ctx.app.setup().command_target(job.dataset));
        let (first, options) = split_options(command.as_str());
        let break_mark = if options.is_empty() { "" } else { " \\" };
        lines.push(Line::from(format!("   {first}{break_mark}")));
        lines.extend((!options.is_empty()).then(|| Line::from(format!("     {options}"))));
        ctx.scrolled_lines(inside, &lines, self.scroll);
    }
}

/// Divides a command before its first option, which may follow a quoted text that looks like one.
fn split_options(command: &str) -> (&str, &str) {
    let mut options = command.match_indices(" --").map(|(at, _)| command.split_at(at));
    let first = options.find(|(before, _)| shell_words::split(before).is_ok());
    first.map_or((command, ""), |(before, options)| (before, options.trim_start()))
}

impl JobDetail {
    pub(in crate::app) fn open(overlays: &mut Overlays, jobs: &Jobs) {
        let Some(job) = jobs.selected() else { return };
        let states = u16::try_from(job.history().transitions().len()).unwrap_or(u16::MAX);
        let (scroll, rows) = (ScrollState::default(), states.saturating_add(19));
        overlays.open(JobDetail { job: job.id, scroll, rows });
    }
}

fn facts(ctx: &DrawContext, job: &Job) -> Vec<Line<'static>> {
    let dim = ctx.theme.dim;
    let fact = |name: &str, value: String| {
        Line::from(vec![Span::styled(format!(" {name:<12}"), dim), Span::raw(value)])
    };
    let mut lines = vec![fact("dataset", job.dataset.to_string())];
    lines.extend(job.state().export_task().map(|task| fact("export", task.to_string())));
    if let Some(export) = job.export() {
        let file = SafeText::file_name(&export.target().to_string_lossy());
        lines.push(fact("file", file.to_string()));
    }
    let clock = ctx.app.clock();
    let age = |at: Timestamp| format_age(clock.saturating_sub(at));
    lines.push(fact("started", time_text(job.started_at, &age(job.started_at))));
    lines.extend(job.ended_at().map(|ended| fact("ended", time_text(ended, &age(ended)))));
    lines.push(fact("took", format_duration(job.elapsed(clock))));
    lines.extend(speed_text(job).map(|rate| fact("rate", rate)));
    let progress = sparkline(job, clock);
    if !progress.is_empty() {
        lines.push(Line::from(vec![
            Span::styled(format!(" {:<12}", "progress"), dim),
            Span::styled(progress, ctx.theme.gauge),
        ]));
    }
    lines.push(fact("last status", job_summary(job)));
    lines
}

/// Returns a date and time in UTC with its age.
fn time_text(at: Timestamp, age: &str) -> String {
    let seconds = i64::try_from(at.as_secs()).ok();
    let time = seconds.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    let (Some(date), Some(time)) = (time.map(OffsetDateTime::date), time) else {
        return age.to_owned();
    };
    format!("{date} {:02}:{:02} UTC, {age}", time.hour(), time.minute())
}

/// Returns how fast the job progresses in its present state, in bytes or pictures a second, or percent a minute.
fn speed_text(job: &Job) -> Option<String> {
    let percent = || Some(format!("{:.1} % a minute", job.history().rate()? * 60.0));
    rate_text(job).or_else(percent)
}

/// Returns the progress over time as one row of bars.
fn sparkline(job: &Job, clock: Timestamp) -> String {
    const COLUMNS: u16 = 60;
    let last = job.history().transitions().last().filter(|_| !job.is_active());
    let end = last.map_or(clock, |last| last.entered_at);
    let percents = job.history().progress_over_time(end, usize::from(COLUMNS));
    if percents.is_empty() {
        return String::new();
    }
    let area = Rect::new(0, 0, COLUMNS, 1);
    let mut row = Buffer::empty(area);
    Sparkline::default().data(percents).max(100).render(area, &mut row);
    row.content.iter().map(Cell::symbol).collect()
}

fn states(ctx: &DrawContext, job: &Job) -> Vec<Line<'static>> {
    let theme = ctx.theme;
    let now = ctx.app.clock();
    let steps = job.history().transitions();
    let mut lines = vec![Line::styled(" after     state              for", theme.dim)];
    for (index, step) in steps.iter().enumerate() {
        let last = index + 1 == steps.len();
        let lasted = if last && !job.is_active() {
            String::new()
        } else {
            format_duration(job.history().duration_of(index, now))
        };
        let after = format_duration(step.entered_at.saturating_sub(job.started_at));
        let style = if last { theme.accent } else { theme.text };
        lines.push(Line::from(vec![
            Span::styled(format!(" {after:<9} "), theme.dim),
            Span::styled(format!("{:<18} ", step.state), style),
            Span::styled(lasted, theme.dim),
        ]));
    }
    lines
}
