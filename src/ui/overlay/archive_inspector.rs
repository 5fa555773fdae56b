//! The inspector of an archive: facts, a histogram of the uniqueness scores, and the pictures.

use ratatui::{layout::Rect, style::Style, text::Line};

use crate::{
    app::overlay::ArchiveInspector,
    ui::{
        DrawContext,
        overlay::Draw,
        widget::{bordered, centered_message, format_bytes, gauge, group_digits, put},
    },
};
use tessera_model::{Inspection, SafeText};

const FACT_WIDTH: u16 = 44;
const BAR_WIDTH: usize = 20;

impl Draw for ArchiveInspector {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let name = SafeText::file_name(&self.path.to_string_lossy());
        let inside = bordered(ctx, area, Line::from(format!(" {name} ")), true);
        if let Some(failure) = self.inspection.failure() {
            let words = failure.to_string();
            return centered_message(ctx, inside, ctx.theme.failure, &[&words]);
        }
        let Some(found) = self.inspection.value() else {
            return centered_message(ctx, inside, ctx.theme.dim, &["reading the archive"]);
        };
        draw_facts(ctx, Rect { width: FACT_WIDTH.min(inside.width), ..inside }, found);
        let left = FACT_WIDTH.min(inside.width);
        draw_histogram(
            ctx,
            Rect { x: inside.x + left, width: inside.width - left, ..inside },
            found,
        );
        let columns: Vec<&str> = found.columns.iter().map(SafeText::as_str).collect();
        let columns = columns.join(", ");
        put(ctx, inside, 11, &[(" columns  ", ctx.theme.dim), (&columns, ctx.theme.text)]);
        draw_images(ctx, area, self);
    }
}

fn draw_facts(ctx: &mut DrawContext, area: Rect, found: &Inspection) {
    let theme = ctx.theme;
    let warned = |count: u64| if count > 0 { theme.moving } else { theme.text };
    let [missing, unclaimed, refused] =
        [&found.rows_without_file, &found.files_without_row, &found.unsafe_entries]
            .map(|it| it.count);
    let lines: [(&str, String, Style); 8] = [
        ("size", format_bytes(found.bytes), theme.text),
        ("metadata", found.metadata_file.to_string(), theme.text),
        ("rows", group_digits(found.rows), theme.text),
        ("columns", found.columns.len().to_string(), theme.text),
        ("pictures", group_digits(found.images), theme.text),
        ("rows without a file", group_digits(missing), warned(missing)),
        ("files without a row", group_digits(unclaimed), warned(unclaimed)),
        ("unsafe names, skipped", group_digits(refused), warned(refused)),
    ];
    for (row, (name, value, style)) in (0u16..).zip(&lines) {
        put(ctx, area, row + 1, &[(&format!(" {name:<22}"), theme.dim), (value, *style)]);
    }
}

/// Draws the number of rows with a score in each tenth.
fn draw_histogram(ctx: &mut DrawContext, area: Rect, found: &Inspection) {
    let theme = ctx.theme;
    let most = found.uniqueness.iter().copied().max().unwrap_or(0).max(1);
    let unscored = match found.unscored {
        0 => String::new(),
        count => format!("; {} rows without", group_digits(count)),
    };
    put(ctx, area, 0, &[("uniqueness_score", theme.accent), (&unscored, theme.dim)]);
    for (row, (tenth, count)) in (1u16..).zip(found.uniqueness.iter().enumerate()) {
        #[expect(clippy::cast_precision_loss, reason = "the length of a bar")]
        let part = *count as f64 / most as f64;
        let place = format!(".{tenth} ");
        let bar = gauge(part, BAR_WIDTH);
        let count = format!(" {}", group_digits(*count));
        put(ctx, area, row, &[(&place, theme.dim), (&bar, theme.gauge), (&count, theme.text)]);
    }
}

fn draw_images(ctx: &mut DrawContext, area: Rect, layer: &ArchiveInspector) {
    for (place, sight, _) in layer.visible_images(area) {
        let canvas = ctx.app.canvas(place.width, place.height);
        ctx.draw_picture(place, sight, canvas);
    }
}
