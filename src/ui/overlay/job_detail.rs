//! One job opened: what it is, every state it went through, and how to do it again.

use ratatui::{
    layout::Rect,
    text::{Line, Span},
};

use crate::{
    app::{Job, overlay::JobDetail},
    ui::{
        DrawContext,
        overlay::help,
        pane::job_summary,
        widget::{bordered, format_duration},
    },
};
use tessera_model::SafeText;

/// Draws the job, scrolled.
pub(super) fn draw(screen: &mut DrawContext, area: Rect, view: JobDetail) {
    let Some(job) = screen.app.jobs.get(view.job) else { return };
    let title = format!(" {} of {} ", job.kind.label(), job.dataset_name);
    let inside = bordered(screen, area, Line::from(title), true);
    let mut lines = facts(screen, job);
    lines.push(Line::default());
    lines.extend(states(screen, job));
    lines.push(Line::default());
    lines.push(Line::styled(" again, on a command line", screen.theme.dim));
    let command = job.kind.command_line(job.dataset);
    match command.split_once(" --") {
        Some((first, rest)) => {
            lines.push(Line::from(format!("   {first} \\")));
            lines.push(Line::from(format!("     --{rest}")));
        }
        None => lines.push(Line::from(format!("   {command}"))),
    }
    help::scrolled(screen, inside, &lines, view.scroll);
}

fn facts(screen: &DrawContext, job: &Job) -> Vec<Line<'static>> {
    let dim = screen.theme.dim;
    let fact = |name: &str, words: String| {
        Line::from(vec![Span::styled(format!(" {name:<12}"), dim), Span::raw(words)])
    };
    let mut lines = vec![fact("dataset", job.dataset.to_string())];
    lines.extend(job.state().export_task().map(|task| fact("export", task.to_string())));
    if let Some(export) = job.export() {
        lines.push(fact(
            "file",
            SafeText::file_name(&export.target().to_string_lossy()).to_string(),
        ));
    }
    lines.push(fact("took", format_duration(job.elapsed(screen.app.clock()))));
    lines.push(fact("last word", job_summary(job)));
    lines
}

/// A line for each state: when it began after the start, what it was, how long it lasted.
fn states(screen: &DrawContext, job: &Job) -> Vec<Line<'static>> {
    let theme = screen.theme;
    let now = screen.app.clock();
    let end = job.ended_at().unwrap_or(now);
    let steps = job.history().transitions();
    let mut lines = vec![Line::styled(" after     state              for", theme.dim)];
    for (place, step) in steps.iter().enumerate() {
        let last = place + 1 == steps.len();
        let lasted = if last && !job.is_active() {
            String::new()
        } else {
            format_duration(job.history().duration_of(place, end))
        };
        lines.push(Line::from(vec![
            Span::styled(
                format!(" {:<9} ", format_duration(step.entered_at.saturating_sub(job.started_at))),
                theme.dim,
            ),
            Span::styled(
                format!("{:<18} ", step.state),
                if last { theme.accent } else { theme.text },
            ),
            Span::styled(lasted, theme.dim),
        ]));
    }
    lines
}
