//! The status of the selected dataset: counts, models, status changes, and allowed operations.

use ratatui::{layout::Rect, style::Style};

use crate::{
    app::Uptime,
    ui::{
        DrawContext,
        widget::{below, format_age, gauge, group_digits},
    },
};
use tessera_model::{
    Dataset, EnrichmentModel, ModelStatus, Operation, Permission, SafeText, Status,
    polling::PollTarget,
};

const NAME_WIDTH: usize = 9;
const MODELS_ROW: u16 = 8;
const OPERATIONS_ROW: u16 = 10;
/// The width in cells from which on all details fit.
const WIDE_LAYOUT: u16 = 48;

pub(in crate::ui) fn status(ctx: &mut DrawContext, area: Rect) {
    let inside = ctx.frame(area, " Status ", false);
    let Some(dataset) = ctx.app.selected_dataset() else {
        return;
    };
    draw_status(ctx, inside, dataset);
    for (row, (name, value)) in (2..).zip(facts(ctx, inside, dataset)) {
        let name = format!(" {name:<NAME_WIDTH$}");
        ctx.put(inside, row, &[(name, ctx.theme.dim), (value, ctx.theme.text)]);
    }
    draw_models(ctx, inside, MODELS_ROW, dataset);
    draw_operations(ctx, below(inside, OPERATIONS_ROW), &dataset.status);
}

/// The glyph and style of a status; its name is always shown beside it. Without login it is only the
/// last known one, and dimmed.
pub(in crate::ui) fn status_glyph(ctx: &DrawContext, status: &Status) -> (&'static str, Style) {
    let theme = ctx.theme;
    let (glyph, style) = match status {
        Status::Ready => ("●", theme.success),
        Status::PartialIndex => ("◧", theme.moving),
        Status::ReadOnly => ("◑", theme.moving),
        Status::Indexing => ("◔", theme.moving),
        Status::Error => ("✖", theme.failure),
        Status::Other(_) => ("?", theme.moving),
    };
    (glyph, if ctx.app.login.rejection.is_some() { theme.dim } else { style })
}

pub(in crate::ui) fn status_text(dataset: &Dataset) -> String {
    match dataset.progress {
        Some(percent) if dataset.status.is_busy() => {
            format!("{} {percent}%", dataset.status.as_str())
        }
        _ => dataset.status.as_str().to_owned(),
    }
}

fn draw_status(ctx: &mut DrawContext, inside: Rect, dataset: &Dataset) {
    let theme = ctx.theme;
    let (glyph, style) = status_glyph(ctx, &dataset.status);
    let status = format!(" {}", status_text(dataset));
    let note = match (&ctx.app.login.rejection, dataset.status_is_legacy) {
        (Some(_), _) => " (last known)",
        (None, true) => " (legacy)",
        (None, false) => "",
    };
    let parts = [(" ", theme.text), (glyph, style), (&status, style), (note, theme.dim)];
    ctx.put(inside, 0, &parts);
    let history = ctx.app.store.observed.get(dataset.id);
    let last_good = history.and_then(|history| history.last_good_status.as_ref());
    let now = ctx.app.now;
    if let (true, Some(percent)) = (dataset.status.is_busy(), dataset.progress) {
        let cells = usize::from(inside.width.saturating_sub(2));
        let bar = gauge(f64::from(percent) / 100.0, cells);
        ctx.put(inside, 1, &[(" ", theme.text), (&bar, theme.gauge)]);
    } else if let Some(error) = &dataset.error {
        ctx.put(inside, 1, &[(" ", theme.text), (error.as_str(), theme.failure)]);
    } else if let (Status::Error, Some((status, at))) = (&dataset.status, last_good) {
        let text = format!(" last {}, {}", status.as_str(), format_age(now.saturating_sub(*at)));
        ctx.put(inside, 1, &[(text, theme.dim)]);
    }
}

fn facts(ctx: &DrawContext, inside: Rect, dataset: &Dataset) -> [(&'static str, String); 6] {
    let app = ctx.app;
    let history = app.store.observed.get(dataset.id);
    let text =
        |text: &Option<SafeText>| text.as_ref().map_or_else(|| "—".to_owned(), ToString::to_string);
    // The service sends no time zone.
    let created = match inside.width {
        ..WIDE_LAYOUT => text(&dataset.created_at).chars().take(16).collect(),
        _ => format!("{} (zone not given)", text(&dataset.created_at)),
    };
    let changed = history.and_then(|history| history.changes.last()).map_or_else(
        || "not yet".to_owned(),
        |change| {
            let when = format_age(app.now.saturating_sub(change.seen_at));
            format!("{when}: {} → {}", change.from.as_str(), change.to.as_str())
        },
    );
    let target =
        if dataset.status.is_busy() { PollTarget::BusyDatasets } else { PollTarget::IdleDatasets };
    let seconds = app.setup.cadence.interval(target, app.store.datasets.failures()).as_secs();
    let watch =
        if app.auto_refresh { format!("every {seconds} s") } else { "off; r refreshes".to_owned() };
    let (last_images, last_videos) =
        history.map_or((None, None), |history| (history.images, history.videos));
    [
        ("images", count_text(app.now, dataset.n_images, last_images)),
        ("videos", count_text(app.now, dataset.n_videos, last_videos)),
        ("owner", text(&dataset.owner)),
        ("created", created),
        ("changed", changed),
        ("watch", watch),
    ]
}

fn count_text(now: Uptime, reported: Option<u64>, last: Option<(u64, Uptime)>) -> String {
    match (reported, last) {
        (Some(count), _) => group_digits(count),
        (None, Some((count, at))) => {
            format!("{}  seen {}", group_digits(count), format_age(now.saturating_sub(at)))
        }
        (None, None) => "—".to_owned(),
    }
}

fn draw_models(ctx: &mut DrawContext, inside: Rect, row: u16, dataset: &Dataset) {
    let theme = ctx.theme;
    let known = ctx.app.store.enrichment(dataset.id);
    let is_wide = inside.width >= WIDE_LAYOUT;
    let label = if is_wide { format!(" {:<NAME_WIDTH$}", "models") } else { " ".to_owned() };
    let mut parts = vec![(label.as_str(), theme.dim)];
    for model in EnrichmentModel::ALL {
        let status = known.map_or(ModelStatus::Unknown, |known| known.status_of(model));
        let (short, long) = match model {
            EnrichmentModel::CaptionImages => ("cap ", "captions "),
            EnrichmentModel::ImageTagging => ("label ", "labels "),
            EnrichmentModel::MultimodelImageEncoding => ("sem ", "semantic "),
            EnrichmentModel::ObjectDetection => ("obj", "objects"),
        };
        parts.push(match status {
            ModelStatus::Applied => ("✓", theme.success),
            ModelStatus::NotApplied => ("✗", theme.moving),
            ModelStatus::Unknown => ("?", theme.dim),
        });
        parts.push((if is_wide { long } else { short }, theme.text));
    }
    ctx.put(inside, row, &parts);
}

fn draw_operations(ctx: &mut DrawContext, area: Rect, status: &Status) {
    let theme = ctx.theme;
    let operations =
        [Operation::VisualSearch, Operation::Export, Operation::AddMedia, Operation::Reindex];
    let mut row = 0;
    for (index, operation) in operations.into_iter().enumerate() {
        let permission = status.allows(operation);
        let (mark, style, reason) = match permission {
            Permission::Allowed => (" ✓ ", theme.success, ""),
            Permission::Unspecified | Permission::Confirm => {
                (" ? ", theme.moving, "may be rejected")
            }
            Permission::Denied(reason) => (" ✗ ", theme.dim, reason),
        };
        ctx.put(area, row, &[(mark, style), (operation.label(), style)]);
        row += 1;
        // A reason shared by several operations is shown once, below the last of them.
        let next = operations.get(index + 1).map(|next| status.allows(*next));
        if next != Some(permission) && !reason.is_empty() {
            ctx.put(area, row, &[(format!("   {reason}"), theme.dim)]);
            row += 1;
        }
    }
}
