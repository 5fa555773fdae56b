//! The diagnostics of the query builder.

use ratatui::{layout::Rect, style::Style};
use tessera_model::SafeText;

use crate::{
    app::query::{Diagnostic, Severity},
    ui::{
        DrawContext,
        widget::{display_width, wrap_words},
    },
};

pub(super) fn draw_checks(ctx: &mut DrawContext, area: Rect, diagnostics: &[Diagnostic]) {
    draw_rule(ctx, area, "check", "");
    let mut row = 1;
    for diagnostic in diagnostics {
        let style = severity_style(ctx, diagnostic.severity);
        let mut mark = match diagnostic.severity {
            Severity::Error => " ! ",
            Severity::Warning => " ? ",
            Severity::Info => "   ",
        };
        for line in check_lines(diagnostic, area.width) {
            ctx.put(area, row, &[(mark, style), (&line, style)]);
            (mark, row) = ("   ", row + 1);
        }
    }
}

/// A diagnostic with its row, wrapped to two lines.
pub(super) fn check_lines(
    diagnostic: &Diagnostic,
    width: u16,
) -> impl Iterator<Item = String> + use<> {
    let row = diagnostic.row.map_or_else(String::new, |row| format!("row {}: ", row + 1));
    let text = format!("{row}{}", SafeText::detail(&diagnostic.text));
    wrap_words(&text, usize::from(width.saturating_sub(4)), 2)
}

pub(super) fn row_suffix(diagnostic: &Diagnostic) -> String {
    match diagnostic.severity {
        Severity::Error => format!("! {}", SafeText::detail(&diagnostic.text)),
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
