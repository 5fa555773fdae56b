//! Inside a finished archive: its rows and columns, how unique its pictures are, and the pictures.

use ratatui::{layout::Rect, style::Style, text::Line};

use crate::{
    app::overlay::Inside,
    ui::{
        Screen,
        widget::{boxed, bytes, gauge, grouped, message, put},
    },
};
use tessera_model::{Inspection, SafeText};

/// Cells of the facts, left of the histogram.
const FACTS: u16 = 44;
/// Cells of a bar of the histogram.
const BAR: usize = 20;

/// Draws the archive.
pub(super) fn draw(screen: &mut Screen, area: Rect, layer: &Inside) {
    let name = SafeText::file(&layer.path.to_string_lossy());
    let inside = boxed(screen, area, Line::from(format!(" {name} ")), true);
    if let Some(failure) = layer.found.failure() {
        let words = failure.to_string();
        return message(screen, inside, screen.theme.failure, &[&words]);
    }
    let Some(found) = layer.found.value() else {
        return message(screen, inside, screen.theme.dim, &["looking inside"]);
    };
    facts(screen, Rect { width: FACTS.min(inside.width), ..inside }, found);
    let left = FACTS.min(inside.width);
    histogram(screen, Rect { x: inside.x + left, width: inside.width - left, ..inside }, found);
    let columns: Vec<&str> = found.columns.iter().map(SafeText::as_str).collect();
    let columns = columns.join(", ");
    put(screen, inside, 11, &[(" columns  ", screen.theme.dim), (&columns, screen.theme.text)]);
    pictures(screen, area, layer);
}

fn facts(screen: &mut Screen, area: Rect, found: &Inspection) {
    let theme = screen.theme;
    let warned = |count: u64| if count > 0 { theme.moving } else { theme.text };
    let [missing, unclaimed, refused] =
        [&found.rows_without_file, &found.files_without_row, &found.refused].map(|it| it.count);
    let lines: [(&str, String, Style); 8] = [
        ("size", bytes(found.bytes), theme.text),
        ("metadata", found.metadata.to_string(), theme.text),
        ("rows", grouped(found.rows), theme.text),
        ("columns", found.columns.len().to_string(), theme.text),
        ("pictures", grouped(found.images), theme.text),
        ("rows without a file", grouped(missing), warned(missing)),
        ("files without a row", grouped(unclaimed), warned(unclaimed)),
        ("unsafe names, unread", grouped(refused), warned(refused)),
    ];
    for (row, (name, value, style)) in (0u16..).zip(&lines) {
        put(screen, area, row + 1, &[(&format!(" {name:<22}"), theme.dim), (value, *style)]);
    }
}

/// How many rows have a score in each tenth.
fn histogram(screen: &mut Screen, area: Rect, found: &Inspection) {
    let theme = screen.theme;
    let most = found.uniqueness.iter().copied().max().unwrap_or(0).max(1);
    let unscored = match found.unscored {
        0 => String::new(),
        count => format!("; {} rows without", grouped(count)),
    };
    put(screen, area, 0, &[("uniqueness_score", theme.accent), (&unscored, theme.dim)]);
    for (row, (tenth, count)) in (1u16..).zip(found.uniqueness.iter().enumerate()) {
        #[expect(clippy::cast_precision_loss, reason = "a part for a bar")]
        let part = *count as f64 / most as f64;
        let place = format!(".{tenth} ");
        let bar = gauge(part, BAR);
        let count = format!(" {}", grouped(*count));
        put(screen, area, row, &[(&place, theme.dim), (&bar, theme.gauge), (&count, theme.text)]);
    }
}

fn pictures(screen: &mut Screen, area: Rect, layer: &Inside) {
    for (place, sight, _) in layer.shown(area) {
        let canvas = screen.app.canvas(place.width, place.height);
        screen.sight(place, sight, canvas);
    }
}
