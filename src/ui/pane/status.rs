//! The status of the selected dataset: where it stands, its counts, the models run over it, how
//! its status changed, and what it allows.

use std::ops::RangeFrom;

use ratatui::{layout::Rect, style::Style, text::Line};

use crate::{
    app::{
        Moment,
        seen::{Past, ago},
    },
    ui::{
        Screen, bar,
        widget::{boxed, gauge, grouped, put},
    },
};
use tessera_model::{Applied, Dataset, EnrichmentModel, Operation, Status, Verdict, cadence};

/// Cells for the names of the facts.
const NAMES: usize = 9;
/// From this width on (cells) there is room for what narrow panes leave to the record.
const ROOMY: u16 = 48;

/// The pane.
pub(in crate::ui) fn status(screen: &mut Screen, area: Rect) {
    let inside = boxed(screen, area, Line::from(" Status "), false);
    let Some(dataset) = screen.app.selected_dataset() else {
        return;
    };
    standing(screen, inside, dataset);
    let mut rows = 2..;
    for ((name, value), row) in facts(screen, inside, dataset).into_iter().zip(&mut rows) {
        let theme = screen.theme;
        put(screen, inside, row, &[(&format!(" {name:<NAMES$}"), theme.dim), (&value, theme.text)]);
    }
    models(screen, inside, rows.start, dataset);
    rows.start += 2;
    let operations =
        [Operation::VisualSearch, Operation::Export, Operation::AddMedia, Operation::Reindex];
    for (place, operation) in operations.into_iter().enumerate() {
        let verdict = dataset.status.allows(operation);
        let next = operations.get(place + 1).map(|next| dataset.status.allows(*next));
        // A reason that holds for several is told once, below the last of them.
        allowed(screen, inside, &mut rows, verdict, operation.name(), next != Some(verdict));
    }
}

/// The status in a glyph and a word, and below it how far it is or what went wrong.
fn standing(screen: &mut Screen, inside: Rect, dataset: &Dataset) {
    let theme = screen.theme;
    let (glyph, style) = bar::status_mark(theme, &dataset.status);
    let word = format!(" {}", bar::status_words(dataset));
    let legacy = if dataset.status_is_legacy { " (legacy)" } else { "" };
    let parts = [(" ", theme.text), (glyph, style), (&word, style), (legacy, theme.dim)];
    put(screen, inside, 0, &parts);
    let good = past(screen, dataset).and_then(|past| past.good.clone());
    let now = screen.app.now;
    if let (true, Some(percent)) = (dataset.status.is_moving(), dataset.progress) {
        let cells = usize::from(inside.width.saturating_sub(2));
        let bar = gauge(f64::from(percent) / 100.0, cells);
        put(screen, inside, 1, &[(" ", theme.text), (&bar, theme.gauge)]);
    } else if let Some(error) = &dataset.error {
        put(screen, inside, 1, &[(" ", theme.text), (error.as_str(), theme.failure)]);
    } else if let (Status::Error, Some((status, at))) = (&dataset.status, good) {
        let words = format!(" last {}, {}", status.word(), ago(now.saturating_sub(at)));
        put(screen, inside, 1, &[(&words, theme.dim)]);
    }
}

fn past<'a>(screen: &Screen<'a>, dataset: &Dataset) -> Option<&'a Past> {
    screen.app.store.seen.of(dataset.id)
}

fn facts(screen: &Screen, inside: Rect, dataset: &Dataset) -> Vec<(&'static str, String)> {
    let app = screen.app;
    let past = past(screen, dataset);
    let text = |text: &Option<tessera_model::SafeText>| {
        text.as_ref().map_or_else(|| "—".to_owned(), ToString::to_string)
    };
    // The service names no zone, so none is invented (M11).
    let created = match inside.width {
        ..ROOMY => text(&dataset.created_at).chars().take(16).collect(),
        _ => format!("{} (zone not given)", text(&dataset.created_at)),
    };
    let changed = past.and_then(|past| past.changes.last()).map_or_else(
        || "not yet".to_owned(),
        |change| {
            let when = ago(app.now.saturating_sub(change.at));
            format!("{when}: {} → {}", change.from.word(), change.to.word())
        },
    );
    let watch = if dataset.status.is_moving() {
        cadence::Watch::MovingDatasets
    } else {
        cadence::Watch::RestingDatasets
    };
    let seconds = app.setup.cadence.interval(watch, app.store.datasets.failures()).as_secs();
    let watch = if app.watching { format!("every {seconds} s") } else { "off; r asks".to_owned() };
    vec![
        ("images", count(app.now, dataset.n_images, past.and_then(|past| past.images))),
        ("videos", count(app.now, dataset.n_videos, past.and_then(|past| past.videos))),
        ("owner", text(&dataset.owner)),
        ("created", created),
        ("changed", changed),
        ("watch", watch),
    ]
}

/// A count, or what was told last with its age.
fn count(now: Moment, told: Option<u64>, seen: Option<(u64, Moment)>) -> String {
    match (told, seen) {
        (Some(count), _) => grouped(count),
        (None, Some((count, at))) => {
            format!("{}  seen {}", grouped(count), ago(now.saturating_sub(at)))
        }
        (None, None) => "—".to_owned(),
    }
}

/// The models that searches depend on: run, not run, or not known.
fn models(screen: &mut Screen, inside: Rect, row: u16, dataset: &Dataset) {
    let theme = screen.theme;
    let known = screen.app.store.enrichment(dataset.id);
    let label =
        if inside.width < ROOMY { " ".to_owned() } else { format!(" {:<NAMES$}", "models") };
    let mut parts: Vec<(String, Style)> = vec![(label, theme.dim)];
    for model in EnrichmentModel::ALL {
        let (mark, style) = match known.map_or(Applied::Unknown, |known| known.of(model)) {
            Applied::Yes => ("✓", theme.success),
            Applied::No => ("✗", theme.moving),
            Applied::Unknown => ("?", theme.dim),
        };
        let word = match (model, inside.width < ROOMY) {
            (EnrichmentModel::CaptionImages, true) => "cap ",
            (EnrichmentModel::CaptionImages, false) => "captions ",
            (EnrichmentModel::ImageTagging, true) => "label ",
            (EnrichmentModel::ImageTagging, false) => "labels ",
            (EnrichmentModel::MultimodelImageEncoding, true) => "sem ",
            (EnrichmentModel::MultimodelImageEncoding, false) => "semantic ",
            (EnrichmentModel::ObjectDetection, true) => "obj",
            (EnrichmentModel::ObjectDetection, false) => "objects",
        };
        parts.push((mark.to_owned(), style));
        parts.push((word.to_owned(), theme.text));
    }
    let parts: Vec<(&str, Style)> =
        parts.iter().map(|(text, style)| (text.as_str(), *style)).collect();
    put(screen, inside, row, &parts);
}

/// One operation, and if need be on a line of its own why it is not allowed.
fn allowed(
    screen: &mut Screen,
    inside: Rect,
    rows: &mut RangeFrom<u16>,
    verdict: Verdict,
    name: &str,
    explain: bool,
) {
    let theme = screen.theme;
    let (mark, style, reason) = match verdict {
        Verdict::Yes => (" ✓ ", theme.success, ""),
        Verdict::Try | Verdict::Ask => (" ? ", theme.moving, "may be refused"),
        Verdict::No(reason) => (" ✗ ", theme.dim, reason),
    };
    put(screen, inside, rows.start, &[(mark, style), (name, style)]);
    rows.start += 1;
    if explain && !reason.is_empty() {
        put(screen, inside, rows.start, &[("   ", theme.dim), (reason, theme.dim)]);
        rows.start += 1;
    }
}
