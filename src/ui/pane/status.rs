//! The status of the selected dataset: counts, models, status changes, and allowed operations.

use std::ops::RangeFrom;

use ratatui::{layout::Rect, style::Style, text::Line};

use crate::{
    app::{Uptime, dataset_history::DatasetHistory},
    ui::{
        DrawContext, bars,
        widget::{bordered, format_age, gauge, group_digits, put},
    },
};
use tessera_model::{
    Dataset, EnrichmentModel, ModelStatus, Operation, Permission, Status, polling,
};

const NAME_WIDTH: usize = 9;
/// The width in cells from which on all details fit.
const WIDE_LAYOUT: u16 = 48;

pub(in crate::ui) fn status(ctx: &mut DrawContext, area: Rect) {
    let inside = bordered(ctx, area, Line::from(" Status "), false);
    let Some(dataset) = ctx.app.selected_dataset() else {
        return;
    };
    draw_status(ctx, inside, dataset);
    let mut rows = 2..;
    for ((name, value), row) in facts(ctx, inside, dataset).into_iter().zip(&mut rows) {
        let theme = ctx.theme;
        put(
            ctx,
            inside,
            row,
            &[(&format!(" {name:<NAME_WIDTH$}"), theme.dim), (&value, theme.text)],
        );
    }
    draw_models(ctx, inside, rows.start, dataset);
    rows.start += 2;
    let operations =
        [Operation::VisualSearch, Operation::Export, Operation::AddMedia, Operation::Reindex];
    for (place, operation) in operations.into_iter().enumerate() {
        let verdict = dataset.status.allows(operation);
        let next = operations.get(place + 1).map(|next| dataset.status.allows(*next));
        // A reason shared by several operations is shown once, below the last of them.
        draw_operation(ctx, inside, &mut rows, verdict, operation.label(), next != Some(verdict));
    }
}

/// Draws the status, and below it the progress or the error.
fn draw_status(ctx: &mut DrawContext, inside: Rect, dataset: &Dataset) {
    let theme = ctx.theme;
    let (glyph, style) = bars::status_glyph(theme, &dataset.status);
    let word = format!(" {}", bars::status_text(dataset));
    let legacy = if dataset.status_is_legacy { " (legacy)" } else { "" };
    let parts = [(" ", theme.text), (glyph, style), (&word, style), (legacy, theme.dim)];
    put(ctx, inside, 0, &parts);
    let good = dataset_history(ctx, dataset).and_then(|past| past.last_good_status.clone());
    let now = ctx.app.now;
    if let (true, Some(percent)) = (dataset.status.is_busy(), dataset.progress) {
        let cells = usize::from(inside.width.saturating_sub(2));
        let bar = gauge(f64::from(percent) / 100.0, cells);
        put(ctx, inside, 1, &[(" ", theme.text), (&bar, theme.gauge)]);
    } else if let Some(error) = &dataset.error {
        put(ctx, inside, 1, &[(" ", theme.text), (error.as_str(), theme.failure)]);
    } else if let (Status::Error, Some((status, at))) = (&dataset.status, good) {
        let words = format!(" last {}, {}", status.as_str(), format_age(now.saturating_sub(at)));
        put(ctx, inside, 1, &[(&words, theme.dim)]);
    }
}

fn dataset_history<'a>(ctx: &DrawContext<'a>, dataset: &Dataset) -> Option<&'a DatasetHistory> {
    ctx.app.store.observed.get(dataset.id)
}

fn facts(ctx: &DrawContext, inside: Rect, dataset: &Dataset) -> Vec<(&'static str, String)> {
    let app = ctx.app;
    let past = dataset_history(ctx, dataset);
    let text = |text: &Option<tessera_model::SafeText>| {
        text.as_ref().map_or_else(|| "—".to_owned(), ToString::to_string)
    };
    // The service sends no time zone.
    let created = match inside.width {
        ..WIDE_LAYOUT => text(&dataset.created_at).chars().take(16).collect(),
        _ => format!("{} (zone not given)", text(&dataset.created_at)),
    };
    let changed = past.and_then(|past| past.changes.last()).map_or_else(
        || "not yet".to_owned(),
        |change| {
            let when = format_age(app.now.saturating_sub(change.seen_at));
            format!("{when}: {} → {}", change.from.as_str(), change.to.as_str())
        },
    );
    let watch = if dataset.status.is_busy() {
        polling::PollTarget::BusyDatasets
    } else {
        polling::PollTarget::IdleDatasets
    };
    let seconds = app.setup.cadence.interval(watch, app.store.datasets.failures()).as_secs();
    let watch =
        if app.auto_refresh { format!("every {seconds} s") } else { "off; r refreshes".to_owned() };
    vec![
        ("images", count_text(app.now, dataset.n_images, past.and_then(|past| past.images))),
        ("videos", count_text(app.now, dataset.n_videos, past.and_then(|past| past.videos))),
        ("owner", text(&dataset.owner)),
        ("created", created),
        ("changed", changed),
        ("watch", watch),
    ]
}

/// A count, or the last known one with its age.
fn count_text(now: Uptime, reported: Option<u64>, last: Option<(u64, Uptime)>) -> String {
    match (reported, last) {
        (Some(count), _) => group_digits(count),
        (None, Some((count, at))) => {
            format!("{}  seen {}", group_digits(count), format_age(now.saturating_sub(at)))
        }
        (None, None) => "—".to_owned(),
    }
}

/// Draws which of the models that searches need were applied.
fn draw_models(ctx: &mut DrawContext, inside: Rect, row: u16, dataset: &Dataset) {
    let theme = ctx.theme;
    let known = ctx.app.store.enrichment(dataset.id);
    let label = if inside.width < WIDE_LAYOUT {
        " ".to_owned()
    } else {
        format!(" {:<NAME_WIDTH$}", "models")
    };
    let mut parts: Vec<(String, Style)> = vec![(label, theme.dim)];
    for model in EnrichmentModel::ALL {
        let (mark, style) = match known.map_or(ModelStatus::Unknown, |known| known.status_of(model))
        {
            ModelStatus::Applied => ("✓", theme.success),
            ModelStatus::NotApplied => ("✗", theme.moving),
            ModelStatus::Unknown => ("?", theme.dim),
        };
        let word = match (model, inside.width < WIDE_LAYOUT) {
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
    put(ctx, inside, row, &parts);
}

/// Draws an operation, and why it is not allowed.
fn draw_operation(
    ctx: &mut DrawContext,
    inside: Rect,
    rows: &mut RangeFrom<u16>,
    verdict: Permission,
    name: &str,
    explain: bool,
) {
    let theme = ctx.theme;
    let (mark, style, reason) = match verdict {
        Permission::Allowed => (" ✓ ", theme.success, ""),
        Permission::Unspecified | Permission::Confirm => (" ? ", theme.moving, "may be rejected"),
        Permission::Denied(reason) => (" ✗ ", theme.dim, reason),
    };
    put(ctx, inside, rows.start, &[(mark, style), (name, style)]);
    rows.start += 1;
    if explain && !reason.is_empty() {
        put(ctx, inside, rows.start, &[("   ", theme.dim), (reason, theme.dim)]);
        rows.start += 1;
    }
}
