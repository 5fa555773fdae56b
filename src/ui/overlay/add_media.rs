//! The form that adds media: the source, the two ways of the dataset side by side, and what was
//! found in the source.

use ratatui::{layout::Rect, style::Style, text::Line};
use tui_input::Input;

use crate::{
    app::overlay::{AddMediaField, AddMediaForm, SourceCheck, SourceTab},
    ui::{
        DrawContext,
        overlay::file_picker::text_field,
        widget::{bordered, format_bytes, group_digits, put},
    },
};
use tessera_model::{Preflight, ingest::StorageKind};

/// Cells before a field.
const LABEL_WIDTH: u16 = 12;
/// The first line of what was found.
const CHECK_ROW: u16 = 14;

/// Draws the form.
pub(super) fn draw(screen: &mut DrawContext, area: Rect, form: &AddMediaForm) {
    let title = Line::from(format!(" Add media to {} ", form.dataset_name));
    let inside = bordered(screen, area, title, true);
    draw_source(screen, inside, form);
    draw_reindex_choice(screen, inside, form);
    draw_options(screen, inside, form);
    draw_check(screen, inside, form);
}

/// A label, and the place of its field beside it.
fn draw_label(
    screen: &mut DrawContext,
    inside: Rect,
    row: u16,
    form: &AddMediaForm,
    name: AddMediaField,
) -> Rect {
    let focused = form.field == name;
    let possible = AddMediaField::for_source(form.tab).contains(&name);
    let theme = screen.theme;
    let style = match (focused, possible) {
        (true, _) => theme.accent,
        (false, true) => theme.text,
        (false, false) => theme.dim,
    };
    let mark = if focused { " ▸ " } else { "   " };
    put(screen, inside, row, &[(mark, style), (label_text(form, name), style)]);
    let (x, y) = (inside.x + LABEL_WIDTH, inside.y + row);
    Rect { x, y, width: inside.width.saturating_sub(LABEL_WIDTH + 1), height: 1 }
}

fn label_text(form: &AddMediaForm, name: AddMediaField) -> &'static str {
    match (name, form.tab) {
        (AddMediaField::Source, _) => "from",
        (AddMediaField::Location, SourceTab::Storage) => "address",
        (AddMediaField::Location, SourceTab::Files) => "paths",
        (AddMediaField::Location, SourceTab::Archive) => "archive",
        (AddMediaField::Location, SourceTab::Server) => "path",
        (AddMediaField::Reindex, _) => "then",
        (AddMediaField::Role, _) => "role",
        (AddMediaField::Videos, _) => "videos",
        (AddMediaField::Images, _) => "images",
        (AddMediaField::Objects, _) => "objects",
        (AddMediaField::SpotInstances, _) => "spot",
    }
}

fn tab_name(tab: SourceTab) -> &'static str {
    match tab {
        SourceTab::Storage => "storage",
        SourceTab::Files => "files and folders",
        SourceTab::Archive => "archive",
        SourceTab::Server => "path at the service",
    }
}

fn draw_source(screen: &mut DrawContext, inside: Rect, form: &AddMediaForm) {
    let theme = screen.theme;
    let place = draw_label(screen, inside, 0, form, AddMediaField::Source);
    let tabs: Vec<(String, Style)> = form
        .tabs
        .iter()
        .map(|&tab| {
            if tab == form.tab {
                (format!("‹ {} ›  ", tab_name(tab)), theme.accent)
            } else {
                (format!("  {}    ", tab_name(tab)), theme.dim)
            }
        })
        .collect();
    let tabs: Vec<(&str, Style)> =
        tabs.iter().map(|(name, style)| (name.as_str(), *style)).collect();
    put(screen, place, 0, &tabs);
    let place = draw_label(screen, inside, 1, form, AddMediaField::Location);
    text_field(screen, place, form.location(), form.field == AddMediaField::Location);
    let below = Rect { y: place.y + 1, ..place };
    match &form.error {
        Some((AddMediaField::Location, reason)) => {
            put(screen, below, 0, &[("! ", theme.failure), (reason.as_str(), theme.failure)]);
        }
        _ => put(screen, below, 0, &[(location_hint(form), theme.dim)]),
    }
}

/// What is to be known of the source, or was recognised in it.
fn location_hint(form: &AddMediaForm) -> &'static str {
    match (form.tab, StorageKind::parse(form.location().value().trim())) {
        (SourceTab::Files, _) => "folders, too; several paths, 'quoted' where they hold spaces",
        (SourceTab::Archive, _) => "one .zip, .tar or .tar.gz of this machine",
        (SourceTab::Server, _) => "as the service's container sees it; it is not looked for here",
        (SourceTab::Storage, Ok(StorageKind::Folder)) => "a folder: all media below it",
        (SourceTab::Storage, Ok(StorageKind::Manifest)) => "a manifest that lists media",
        (SourceTab::Storage, Ok(StorageKind::Object)) => {
            "by its name no manifest (.csv .parquet .txt): is this meant?"
        }
        (SourceTab::Storage, Err(_)) => "s3://bucket/folder/, or a manifest .csv, .parquet or .txt",
    }
}

/// The two ways of the dataset, the chosen one marked.
fn draw_reindex_choice(screen: &mut DrawContext, inside: Rect, form: &AddMediaForm) {
    let theme = screen.theme;
    let place = draw_label(screen, inside, 4, form, AddMediaField::Reindex);
    let ways = [
        (false, "READY → READ ONLY → PARTIAL INDEX", "exports wait for R"),
        (true, "READY → READ ONLY → INDEXING → READY", "one go, and takes longer"),
    ];
    for (row, (reindex, way, words)) in (0u16..).zip(ways) {
        let chosen = form.auto_reindex == reindex && form.tab != SourceTab::Server;
        let (mark, style) = if chosen { ("● ", theme.text) } else { ("○ ", theme.dim) };
        let way = format!("{way:<38}");
        let line = Rect { y: place.y + row, ..place };
        put(screen, line, 0, &[(mark, style), (&way, style), (words, theme.dim)]);
    }
}

fn draw_options(screen: &mut DrawContext, inside: Rect, form: &AddMediaForm) {
    draw_optional_field(
        screen,
        inside,
        7,
        form,
        (AddMediaField::Role, &form.role, "arn:…:role/…, for storage of another account"),
    );
    let counts = [AddMediaField::Videos, AddMediaField::Images, AddMediaField::Objects];
    for ((row, name), input) in (8u16..).zip(counts).zip(&form.counts) {
        draw_optional_field(screen, inside, row, form, (name, input, "computed"));
    }
    let place = draw_label(screen, inside, 11, form, AddMediaField::SpotInstances);
    let words = match form.spot {
        _ if form.tab == SourceTab::Server => "hosted deployments only",
        None => "as the service likes",
        Some(true) => "may run on spot instances",
        Some(false) => "not on spot instances",
    };
    let style = if form.field == AddMediaField::SpotInstances {
        screen.theme.accent
    } else {
        screen.theme.dim
    };
    put(screen, place, 0, &[(words, style)]);
}

/// A field that may stay empty, with what is done then.
fn draw_optional_field(
    screen: &mut DrawContext,
    inside: Rect,
    row: u16,
    form: &AddMediaForm,
    (name, input, empty): (AddMediaField, &Input, &str),
) {
    let place = draw_label(screen, inside, row, form, name);
    let theme = screen.theme;
    if !AddMediaField::for_source(form.tab).contains(&name) {
        let reason = if name == AddMediaField::Role {
            "for storage only"
        } else {
            "not for a path at the service"
        };
        return put(screen, place, 0, &[(reason, theme.dim)]);
    }
    text_field(screen, place, input, form.field == name);
    let beside = Rect { x: place.x + 24, width: place.width.saturating_sub(24), ..place };
    match &form.error {
        Some((field, reason)) if *field == name => {
            put(screen, beside, 0, &[("! ", theme.failure), (reason.as_str(), theme.failure)]);
        }
        _ if input.value().is_empty() => put(screen, beside, 0, &[(empty, theme.dim)]),
        _ => {}
    }
}

/// What was found in the source, and what Enter does next.
fn draw_check(screen: &mut DrawContext, inside: Rect, form: &AddMediaForm) {
    let theme = screen.theme;
    let mut lines: Vec<(String, Style)> = Vec::new();
    match &form.check {
        SourceCheck::None if matches!(form.tab, SourceTab::Files | SourceTab::Archive) => {
            lines.push((
                "Enter looks at the files first; nothing is sent yet".to_owned(),
                theme.dim,
            ));
        }
        SourceCheck::None => {}
        SourceCheck::Running(_) => lines.push(("looking at the files…".to_owned(), theme.moving)),
        SourceCheck::Done(_, found) => {
            lines.extend(preflight_summary(found).into_iter().map(|words| (words, theme.success)));
            lines.extend(found.warnings.iter().map(|words| (words.to_string(), theme.moving)));
            let left_out = found
                .unreadable_files
                .iter()
                .map(|file| format!("  {}: {}", file.name, file.reason));
            lines.extend(left_out.map(|words| (words, theme.moving)));
        }
    }
    if let Some(busy) = screen.app.add_media_blocked(form.dataset) {
        lines.insert(0, (format!("{busy}; Enter lets it wait here until then"), theme.moving));
    }
    for (row, (words, style)) in (CHECK_ROW..).zip(&lines) {
        put(screen, inside, row, &[(" ", *style), (words, *style)]);
    }
}

/// What is sent, and what is left out.
fn preflight_summary(found: &Preflight) -> Vec<String> {
    let count =
        |count: u64, words: &str| (count > 0).then(|| format!("{} {words}", group_digits(count)));
    let videos = count(found.videos, "videos, ").unwrap_or_default();
    let (images, size) = (group_digits(found.images), format_bytes(found.bytes));
    let sent = format!("{images} images, {videos}{size}; Enter sends them");
    let left_out =
        [count(found.skipped, "other files"), count(found.unreadable, "unreadable ones")];
    let left_out: Vec<String> = left_out.into_iter().flatten().collect();
    let left_out = (!left_out.is_empty()).then(|| format!("left out: {}", left_out.join(", ")));
    [Some(sent), left_out].into_iter().flatten().collect()
}
