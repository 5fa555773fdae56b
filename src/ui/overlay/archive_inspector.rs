//! The inspector of an archive: facts, a histogram of the uniqueness scores, and the pictures.

use ratatui::{
    layout::Rect,
    text::{Line, Span},
};

use super::Draw;
use crate::{
    app::overlay::{
        ArchiveInspector,
        archive_inspector::{FACT_ROWS, HISTOGRAM_ROWS, VALUE_COLUMN, WIDE_COLUMNS},
    },
    ui::{
        DrawContext,
        widget::{FormOptions, FormRows, below, format_bytes, gauge, group_digits, split_columns},
    },
};
use tessera_model::{Inspection, SafeText, text::grouped_with_noun, video::frames_and_videos};

const FACT_WIDTH: u16 = 44;
const BAR_WIDTH: usize = 20;

impl Draw for ArchiveInspector {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let name = SafeText::file_name(&self.path.to_string_lossy());
        let inside = ctx.dialog(area, name.as_str());
        if let Some(failure) = self.inspection.failure() {
            return ctx.centered_message(inside, ctx.theme.failure, &[failure.to_string()]);
        }
        let Some(inspection) = self.inspection.value() else {
            return ctx.centered_message(inside, ctx.theme.dim, &["reading the archive"]);
        };
        let options = FormOptions { column: VALUE_COLUMN, footer: &[], scroll: self.scroll };
        let text = self.text_area(area);
        ctx.form(text, &options, |rows| {
            if text.width < WIDE_COLUMNS {
                let facts = rows.reserve(FACT_ROWS + 1);
                draw_facts(&mut rows.ctx, facts, inspection);
                self.draw_columns(rows);
                let histogram = rows.reserve(HISTOGRAM_ROWS);
                draw_histogram(&mut rows.ctx, histogram, inspection);
            } else {
                let (left, right) = split_columns(rows.reserve(HISTOGRAM_ROWS), FACT_WIDTH);
                draw_facts(&mut rows.ctx, left, inspection);
                draw_histogram(&mut rows.ctx, right, inspection);
                self.draw_columns(rows);
            }
        });
        for (tile, view, _) in self.visible_images(area) {
            ctx.draw_picture(tile, view, ctx.app.screen().canvas(tile.width, tile.height));
        }
    }
}

impl ArchiveInspector {
    fn draw_columns(&self, rows: &mut FormRows) {
        let theme = rows.ctx.theme;
        let row = rows.reserve(1);
        rows.ctx.put(row, 0, &[(" columns", theme.dim)]);
        let (_, names) = split_columns(row, VALUE_COLUMN);
        let names = Rect { width: names.width.saturating_sub(1), ..names };
        rows.value(names, &self.columns_text(), theme.text);
        rows.blank();
    }
}

fn draw_facts(ctx: &mut DrawContext, area: Rect, inspection: &Inspection) {
    let theme = ctx.theme;
    let fact = |name, value| (name, value, theme.text);
    let problem = |name, count| {
        (name, group_digits(count), if count > 0 { theme.moving } else { theme.text })
    };
    let mut facts = vec![
        fact("size", format_bytes(inspection.bytes)),
        fact("metadata", inspection.metadata_file.to_string()),
        fact("rows", group_digits(inspection.rows)),
        fact("pictures", group_digits(inspection.images)),
        problem("rows without a file", inspection.rows_without_file.count),
        problem("files without a row", inspection.files_without_row.count),
        problem("unsafe names, skipped", inspection.unsafe_entries.count),
    ];
    if inspection.frames > 0 {
        let frames = frames_and_videos(inspection.frames, Some(inspection.videos));
        facts.push(fact("rows that are frames", frames));
    }
    let lines = facts.into_iter().map(|(name, value, style)| {
        let name = Span::styled(format!(" {name:<22}"), theme.dim);
        Line::from(vec![name, Span::styled(value, style)])
    });
    ctx.put_lines(below(area, 1), &lines.collect::<Vec<Line>>());
}

/// Draws the number of rows with a score in each tenth.
fn draw_histogram(ctx: &mut DrawContext, area: Rect, inspection: &Inspection) {
    let theme = ctx.theme;
    let max = inspection.uniqueness.iter().copied().max().unwrap_or(0).max(1);
    let unscored = match inspection.unscored {
        0 => String::new(),
        count => format!("; {} without", grouped_with_noun(count, "row", "rows")),
    };
    ctx.put(area, 0, &[("uniqueness_score", theme.accent), (&unscored, theme.dim)]);
    for (row, (tenth, count)) in (1u16..).zip(inspection.uniqueness.iter().enumerate()) {
        #[expect(clippy::cast_precision_loss, reason = "the length of a bar")]
        let fraction = *count as f64 / max as f64;
        let parts = [
            (format!(".{tenth} "), theme.dim),
            (gauge(fraction, BAR_WIDTH), theme.gauge),
            (format!(" {}", group_digits(*count)), theme.text),
        ];
        ctx.put(area, row, &parts);
    }
}
