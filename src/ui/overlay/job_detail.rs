//! The detail of a job: facts, its states, and the command that repeats it.

use ratatui::{
    layout::Rect,
    text::{Line, Span},
};

use super::Draw;
use crate::{
    app::{Job, overlay::JobDetail},
    command_lines::job_command_line,
    ui::{DrawContext, pane::job_summary, widget::format_duration},
};
use tessera_model::SafeText;

impl Draw for JobDetail {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let Some(job) = ctx.app.jobs.get(self.job) else { return };
        let title = format!("{} of {}", job.kind.label(), job.dataset_name);
        let inside = ctx.dialog(area, &title);
        let mut lines = facts(ctx, job);
        lines.push(Line::default());
        lines.extend(states(ctx, job));
        lines.push(Line::default());
        lines.push(Line::styled(" the same job as a command", ctx.theme.dim));
        let command = job_command_line(&job.kind, job.dataset);
        match command.as_str().split_once(" --") {
            Some((first, rest)) => {
                lines.push(Line::from(format!("   {first} \\")));
                lines.push(Line::from(format!("     --{rest}")));
            }
            None => lines.push(Line::from(format!("   {command}"))),
        }
        ctx.scrolled_lines(inside, &lines, self.scroll);
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
    lines.push(fact("took", format_duration(job.elapsed(ctx.app.clock()))));
    lines.push(fact("last status", job_summary(job)));
    lines
}

fn states(ctx: &DrawContext, job: &Job) -> Vec<Line<'static>> {
    let theme = ctx.theme;
    let now = ctx.app.clock();
    let end = job.ended_at().unwrap_or(now);
    let steps = job.history().transitions();
    let mut lines = vec![Line::styled(" after     state              for", theme.dim)];
    for (index, step) in steps.iter().enumerate() {
        let last = index + 1 == steps.len();
        let lasted = if last && !job.is_active() {
            String::new()
        } else {
            format_duration(job.history().duration_of(index, end))
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
