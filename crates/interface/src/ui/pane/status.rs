//! Draws the status of the selected dataset (counts, models, status changes, and allowed operations), and below it the
//! connection: whether the service responds, the login, the requests under way, and the latest events.

use tessera_model::{
    Dataset, EncodingProgress, EnrichmentModel, ModelStatus, NO_SECRET, Operation, Permission,
    Status,
    polling::PollTarget,
    text::{format_age, format_duration, grouped_with_noun, truncate_start},
};

use crate::ui::prelude::*;
use crate::{
    app::{
        Outage, Uptime, availability, loading_text, outage,
        overlay::{log::latest_events, login::token_text},
    },
    drawing::{gauge, line, rows_of_lines},
};

const NAME_WIDTH: usize = 9;
/// The width in cells from which all details fit.
const WIDE_LAYOUT: u16 = 48;

pub(in crate::ui) fn status(ctx: &mut DrawContext, area: Rect) {
    let inside = ctx.frame(area, " Status ", false);
    let Some(dataset) = ctx.app.selected_dataset() else {
        return;
    };
    let mut lines = status_lines(ctx, inside, dataset);
    let facts = facts(ctx, inside, dataset).into_iter();
    lines.extend(facts.map(|(name, value)| fact_line(ctx, name, value, ctx.theme.text)));
    let models = models_line(ctx, inside, dataset);
    let models_text = models.to_string();
    lines.push(models);
    lines.push(Line::default());
    lines.extend(operation_lines(ctx, &dataset.status));
    ctx.put_lines(inside, &lines);
    // The row is searched, because the lines above it may be wrapped.
    if let Some(row) = ctx.row_of(inside, models_text.trim_end()) {
        ctx.explain(line(inside, row), models_in_full(ctx, dataset));
    }
}

fn fact_line(ctx: &DrawContext, name: &str, value: String, style: Style) -> Line<'static> {
    let name = Span::styled(format!(" {name:<NAME_WIDTH$}"), ctx.theme.dim);
    Line::from(vec![name, Span::styled(value, style)])
}

/// Returns the status of the selected dataset as one line: what is wrong or under way, and otherwise what it contains.
pub(in crate::ui) fn status_summary(ctx: &DrawContext) -> Vec<(String, Style)> {
    let (app, theme) = (ctx.app, ctx.theme);
    let Some(dataset) = app.selected_dataset() else {
        let datasets = &app.service_data().datasets;
        return vec![match (datasets.failure(), datasets.value()) {
            (Some(failure), _) => (failure.to_string(), theme.failure),
            (None, Some(_)) => ("none".to_owned(), theme.dim),
            (None, None) => (loading_text(app), theme.dim),
        }];
    };
    let (glyph, style) = status_glyph(ctx, dataset);
    let mut parts = vec![(format!("{glyph} "), style), (dataset.name.to_string(), theme.text)];
    if app.login().rejection.is_some() {
        parts.push((" (last known)".to_owned(), theme.dim));
    }
    if dataset.folder_missing {
        parts.push((" · its folder is missing or empty".to_owned(), theme.failure));
    }
    let encoding = app.service_data().encoding(dataset.id).map(EncodingProgress::text);
    if let Some(error) = &dataset.error {
        parts.push((format!(" · {error}"), theme.failure));
    } else if dataset.status != Status::Ready && !is_without_folder(dataset) {
        parts.push((format!(" · {}", status_text(dataset)), style));
    }
    parts.extend(encoding.map(|encoding| (format!(" · {encoding}"), theme.dim)));
    let counts = [(dataset.n_images, "image", "images"), (dataset.n_videos, "video", "videos")];
    let counts = counts.into_iter().filter_map(|(count, one, many)| {
        let count = count.filter(|count| *count > 0)?;
        Some((format!(" · {}", grouped_with_noun(count, one, many)), theme.text))
    });
    parts.extend(counts);
    parts.push((" · ".to_owned(), theme.dim));
    parts.extend(model_parts(ctx, true, dataset).map(|(text, style)| (text.to_owned(), style)));
    let key = ctx.first_key(Action::Status).unwrap_or_default();
    parts.extend([(format!("  {key}"), theme.key), (" status".to_owned(), theme.dim)]);
    parts
}

/// Lists the models without abbreviations.
fn models_in_full(ctx: &DrawContext, dataset: &Dataset) -> String {
    let known = ctx.app.service_data().enrichment(dataset.id);
    let models = EnrichmentModel::ALL.map(|model| {
        let status = match known.map_or(ModelStatus::Unknown, |known| known.status_of(model)) {
            ModelStatus::Applied => "applied",
            ModelStatus::NotApplied => "not applied",
            ModelStatus::Unknown => "unknown",
        };
        let applied = known.and_then(|known| known.applied(model));
        let details = applied.into_iter().flat_map(|model| [&model.name, &model.applied_at]);
        let details: Vec<&str> = details.flatten().map(SafeText::as_str).collect();
        if details.is_empty() {
            return format!("{} {status}", model.as_str());
        }
        format!("{} {status} ({})", model.as_str(), details.join(", "))
    });
    models.join(" · ")
}

/// Returns the glyph and style of a status, whose name is always shown beside it. Without login, only the last known
/// status is available, so it is dimmed.
pub(in crate::ui) fn status_glyph(ctx: &DrawContext, dataset: &Dataset) -> (&'static str, Style) {
    let theme = ctx.theme;
    let (glyph, style) = match dataset.status {
        _ if is_without_folder(dataset) => ("!", theme.failure),
        Status::Ready => ("●", theme.success),
        Status::PartialIndex => ("◧", theme.attention),
        Status::ReadOnly => ("◑", theme.attention),
        Status::Indexing => ("◔", theme.attention),
        Status::Error => ("✖", theme.failure),
        Status::Other(_) => ("?", theme.attention),
    };
    (glyph, if ctx.app.login().rejection.is_some() { theme.dim } else { style })
}

/// Whether the index of a dataset is usable, but its folder is not.
fn is_without_folder(dataset: &Dataset) -> bool {
    dataset.folder_missing && matches!(dataset.status, Status::Ready | Status::PartialIndex)
}

pub(in crate::ui) fn status_text(dataset: &Dataset) -> String {
    match dataset.progress {
        _ if is_without_folder(dataset) => "folder missing".to_owned(),
        Some(percent) if dataset.status.is_busy() => {
            format!("{} {percent}%", dataset.status.as_str())
        }
        _ => dataset.status.as_str().to_owned(),
    }
}

fn status_lines(ctx: &DrawContext, inside: Rect, dataset: &Dataset) -> Vec<Line<'static>> {
    let theme = ctx.theme;
    let (glyph, style) = status_glyph(ctx, dataset);
    let status = format!(" {}", status_text(dataset));
    let note = match (&ctx.app.login().rejection, dataset.status_is_legacy) {
        (Some(_), _) => " (last known)",
        (None, true) => " (legacy)",
        (None, false) => "",
    };
    let parts = [
        Span::raw(" "),
        Span::styled(ctx.app.setup().sign(glyph, ""), style),
        Span::styled(status, style),
        Span::styled(note, theme.dim),
    ];
    let status = Line::from(parts.to_vec());
    let history = ctx.app.service_data().observed.get(dataset.id);
    let last_good = history.and_then(|history| history.last_good_status.as_ref());
    let now = ctx.app.now();
    let detail = if let (true, Some(percent)) = (dataset.status.is_busy(), dataset.progress) {
        let cells = usize::from(inside.width.saturating_sub(2));
        let bar = gauge(f64::from(percent) / 100.0, cells);
        Line::from(vec![Span::raw(" "), Span::styled(bar, theme.gauge)])
    } else if is_without_folder(dataset) {
        Line::from(Span::styled(" still searchable", theme.dim))
    } else if let Some(error) = &dataset.error {
        Line::from(Span::styled(format!(" {error}"), theme.failure))
    } else if let (Status::Error, Some((status, at))) = (&dataset.status, last_good) {
        let text = format!(" last {}, {}", status.as_str(), format_age(now.saturating_sub(*at)));
        Line::from(Span::styled(text, theme.dim))
    } else {
        Line::default()
    };
    let encoding = ctx.app.service_data().encoding(dataset.id);
    let encoding =
        encoding.map(|encoding| Line::styled(format!(" {}", encoding.text()), theme.dim));
    [status, detail].into_iter().chain(encoding).collect()
}

fn facts(ctx: &DrawContext, inside: Rect, dataset: &Dataset) -> [(&'static str, String); 6] {
    let app = ctx.app;
    let history = app.service_data().observed.get(dataset.id);
    let text =
        |text: &Option<SafeText>| text.as_ref().map_or_else(|| "—".to_owned(), ToString::to_string);
    // The service sends no time zone.
    let created = text(&dataset.created_at);
    let whole = format!("{created} (zone not given)");
    let created = if whole.chars().count() + NAME_WIDTH + 2 <= usize::from(inside.width) {
        whole
    } else {
        created.chars().take(16).collect()
    };
    let changed = history.and_then(|history| history.changes.last()).map_or_else(
        || "not yet".to_owned(),
        |change| {
            let when = format_age(app.now().saturating_sub(change.seen_at));
            format!("{when}: {} → {}", change.from.as_str(), change.to.as_str())
        },
    );
    let target =
        if dataset.status.is_busy() { PollTarget::BusyDatasets } else { PollTarget::IdleDatasets };
    let seconds = app
        .setup()
        .settings
        .poll
        .interval(target, app.service_data().datasets.failures())
        .as_secs();
    let refresh = if app.datasets().auto_refresh {
        format!("status each {seconds} s")
    } else {
        "off; r refreshes".to_owned()
    };
    let (last_images, last_videos) =
        history.map_or((None, None), |history| (history.images, history.videos));
    // A local dataset has a folder, and nobody else owns it.
    let name = usize::from(inside.width).saturating_sub(NAME_WIDTH + 2);
    let folder = app.setup().dataset_folders.get(&dataset.id);
    let origin = folder.map_or_else(
        || ("owner", text(&dataset.owner)),
        |folder| ("folder", truncate_start(folder.as_str(), name)),
    );
    [
        ("images", count_text(app.now(), dataset.n_images, last_images)),
        ("videos", count_text(app.now(), dataset.n_videos, last_videos)),
        origin,
        ("created", created),
        ("changed", changed),
        ("refresh", refresh),
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

fn models_line(ctx: &DrawContext, inside: Rect, dataset: &Dataset) -> Line<'static> {
    let is_wide = inside.width >= WIDE_LAYOUT;
    let label = if is_wide { format!(" {:<NAME_WIDTH$}", "models") } else { " ".to_owned() };
    let label = Span::styled(label, ctx.theme.dim);
    let models = model_parts(ctx, is_wide, dataset).map(|(text, style)| Span::styled(text, style));
    [label].into_iter().chain(models).collect()
}

/// Returns a mark and a name for each kind of model, or a name and a word.
fn model_parts(
    ctx: &DrawContext,
    is_wide: bool,
    dataset: &Dataset,
) -> impl Iterator<Item = (&'static str, Style)> {
    let theme = ctx.theme;
    let known = ctx.app.service_data().enrichment(dataset.id);
    EnrichmentModel::ALL.into_iter().flat_map(move |model| {
        let (short, long) = match model {
            EnrichmentModel::CaptionImages => ("cap ", "captions "),
            EnrichmentModel::ImageTagging => ("label ", "labels "),
            EnrichmentModel::MultimodelImageEncoding => ("sem ", "semantic "),
            EnrichmentModel::ObjectDetection => ("obj", "objects"),
        };
        let status = known.map_or(ModelStatus::Unknown, |known| known.status_of(model));
        let (sign, words, style) = match status {
            ModelStatus::Applied => ("✓", " applied  ", theme.success),
            ModelStatus::NotApplied => ("✗", " not applied  ", theme.attention),
            ModelStatus::Unknown => ("?", " unknown  ", theme.dim),
        };
        if ctx.app.setup().is_text {
            return [(long.trim_end(), theme.text), (words, style)];
        }
        [(sign, style), (if is_wide { long } else { short }, theme.text)]
    })
}

fn operation_lines(ctx: &DrawContext, status: &Status) -> Vec<Line<'static>> {
    let theme = ctx.theme;
    let operations =
        [Operation::VisualSearch, Operation::Export, Operation::AddMedia, Operation::Reindex];
    let permission = |operation| {
        let changes = matches!(operation, Operation::AddMedia | Operation::Reindex);
        if changes && ctx.app.setup().read_only {
            Permission::Denied(availability::READ_ONLY)
        } else {
            status.allows(operation)
        }
    };
    let sign = |sign, words| ctx.app.setup().sign(sign, words);
    let mut lines = Vec::new();
    for (index, operation) in operations.into_iter().enumerate() {
        let allowed = permission(operation);
        let (mark, style, reason) = match allowed {
            Permission::Allowed => (sign(" ✓ ", " allowed: "), theme.success, ""),
            Permission::Unspecified | Permission::Confirm => {
                (sign(" ? ", " uncertain: "), theme.attention, "may be rejected")
            }
            Permission::Denied(reason) => (sign(" ✗ ", " not allowed: "), theme.dim, reason),
        };
        lines.push(Line::from(Span::styled(format!("{mark}{}", operation.label()), style)));
        // A reason shared by several operations is shown once, below the last of them.
        let next = operations.get(index + 1).map(|next| permission(*next));
        if next != Some(allowed) && !reason.is_empty() {
            lines.push(Line::from(Span::styled(format!("   {reason}"), theme.dim)));
        }
    }
    lines
}

pub(in crate::ui) fn connection(ctx: &mut DrawContext, area: Rect) {
    let key = ctx.first_key(Action::Log).unwrap_or_default();
    let inside = ctx.frame(area, format!(" Connection  {key} log "), false);
    let facts = connection_facts(ctx).into_iter();
    let facts: Vec<Line> =
        facts.map(|(name, value, style)| fact_line(ctx, name, value, style)).collect();
    ctx.put_lines(inside, &facts);
    let events = below(inside, rows_of_lines(&facts, inside.width).saturating_add(1));
    let cells = usize::from(events.width.saturating_sub(2));
    let latest = latest_events(ctx.app, usize::from(events.height));
    let lines = latest.flat_map(|event| wrap_words(&event, cells, usize::MAX));
    let lines: Vec<String> = lines.take(usize::from(events.height)).collect();
    for (row, line) in (0..).zip(&lines) {
        ctx.put(events, row, &[(" ", ctx.theme.dim), (line, ctx.theme.dim)]);
    }
}

fn connection_facts(ctx: &DrawContext) -> Vec<(&'static str, String, Style)> {
    let (app, theme) = (ctx.app, ctx.theme);
    let service = match outage(app) {
        Some(outage) => ("service", outage_text(outage, 0), theme.attention),
        None if app.service_data().datasets.value().is_none() => {
            ("service", "connecting".to_owned(), theme.attention)
        }
        None => ("service", "responding".to_owned(), theme.text),
    };
    let login = login_text(app);
    let login = match (&app.login().rejection, login.is_empty()) {
        (Some(_), _) => ("login", login, theme.failure),
        (None, true) => ("login", "none needed".to_owned(), theme.text),
        (None, false) => ("login", login, theme.text),
    };
    let retry = app.log().pending_retry(app.now());
    let retry = retry.map_or_else(String::new, |retry| format!(": {retry}"));
    let requests = format!("{} under way{retry}", app.tickets().outstanding());
    vec![service, login, ("requests", requests, theme.text)]
}

/// Describes who is logged in and until when, or that the service does not accept the login.
pub(in crate::ui) fn login_text(app: &App) -> String {
    const WIDE_SCREEN: u16 = 100;
    const MAX_KEY_WIDTH: usize = 12;
    if let Some(failure) = &app.login().rejection {
        let is_missing = app.login().key.is_none() || failure.code == Some(NO_SECRET);
        let text = if is_missing { "login required" } else { "login rejected" };
        return format!("✖ {text}: L");
    }
    let key = app.login().key.as_ref().filter(|_| app.screen().size.0 >= WIDE_SCREEN);
    let key = key.filter(|key| !key.is_empty());
    let key = key.map(|key| truncate(key.as_str(), MAX_KEY_WIDTH));
    let token = app.login().token_time_left(app.clock()).map(token_text);
    [key, token].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

pub(in crate::ui) fn outage_text(outage: Outage, columns: u16) -> String {
    let since =
        outage.down_for.map_or_else(String::new, |age| format!(" for {}", format_duration(age)));
    let shown = match outage.down_for {
        Some(_) if columns >= 100 => ", showing the last data",
        _ => "",
    };
    let next = match outage.retry_in {
        Some(next) => format!("next try in {} s", next.as_secs()),
        None => "retrying".to_owned(),
    };
    format!("no response{since}{shown}, {next}")
}
