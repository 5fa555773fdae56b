//! The diagnostics of the query builder.

use ratatui::{
    layout::Rect,
    style::Style,
    text::{Line, Span},
};
use tessera_model::SafeText;

use crate::{
    app::{
        overlay::DrawContext,
        query::{Diagnostic, Severity},
    },
    drawing::{below, display_width, first_fitting, wrapped_rows},
    input::Action,
};

pub(super) fn draw_checks(ctx: &mut DrawContext, area: Rect, diagnostics: &[Diagnostic]) {
    let needed: u16 = diagnostics.iter().map(|it| check_rows(it, area.width)).sum();
    let is_cut = needed >= area.height;
    let key = ctx.first_key(Action::QueryChecks).filter(|_| is_cut);
    let hint = key.map_or_else(String::new, |key| format!("{key} shows all"));
    draw_rule(ctx, area, "check", &hint);
    let lines = diagnostics.iter().map(|diagnostic| {
        let style = severity_style(ctx, diagnostic.severity);
        let mark = match diagnostic.severity {
            Severity::Error => " ! ",
            Severity::Warning => " ? ",
            Severity::Info => "   ",
        };
        Line::from(vec![Span::styled(mark, style), Span::styled(check_text(diagnostic), style)])
    });
    let lines: Vec<Line> = lines.collect();
    ctx.put_lines(below(area, 1), &lines);
}

/// The rows of a diagnostic below the form.
pub(super) fn check_rows(diagnostic: &Diagnostic, width: u16) -> u16 {
    wrapped_rows(&check_text(diagnostic), width.saturating_sub(3))
}

/// A diagnostic with its row.
fn check_text(diagnostic: &Diagnostic) -> String {
    let row = diagnostic.row.map_or_else(String::new, |row| format!("row {}: ", row + 1));
    format!("{row}{}", SafeText::detail(&diagnostic.text))
}

/// What the row of a diagnostic shows of it in `cells` cells; the text below the form is complete.
pub(super) fn row_suffix(diagnostic: &Diagnostic, cells: u16) -> String {
    match diagnostic.severity {
        Severity::Error => {
            let whole = format!("! {}", SafeText::detail(&diagnostic.text));
            first_fitting(&[whole.as_str(), "!"], usize::from(cells)).to_owned()
        }
        Severity::Warning => "?".to_owned(),
        Severity::Info => String::new(),
    }
}

pub(super) fn severity_style(ctx: &DrawContext, severity: Severity) -> Style {
    match severity {
        Severity::Error => ctx.theme.failure,
        Severity::Warning => ctx.theme.moving,
        Severity::Info => ctx.theme.dim,
    }
}

pub(super) fn draw_rule(ctx: &mut DrawContext, area: Rect, title: &str, hint: &str) {
    let theme = ctx.theme;
    let title = format!("─ {title} ");
    let hint = if hint.is_empty() { String::new() } else { format!(" {hint}") };
    let used = display_width(&title) + display_width(&hint);
    let fill = "─".repeat(usize::from(area.width).saturating_sub(used));
    ctx.put(area, 0, &[(&title, theme.frame), (&fill, theme.frame), (&hint, theme.dim)]);
}
