//! The form that adds media: the source, the two ways of the dataset side by side, and what was
//! found in the source.

use ratatui::{layout::Rect, style::Style, text::Line};
use tui_input::Input;

use crate::{
    app::overlay::{AddField, AddMediaForm, Check, Tab},
    ui::{
        Screen,
        overlay::file::field,
        widget::{boxed, bytes, grouped, put},
    },
};
use tessera_model::{Preflight, ingest::StorageKind};

/// Cells before a field.
const LABEL: u16 = 12;
/// The first line of what was found.
const FOUND: u16 = 14;

/// Draws the form.
pub(super) fn draw(screen: &mut Screen, area: Rect, form: &AddMediaForm) {
    let title = Line::from(format!(" Add media to {} ", form.dataset_name));
    let inside = boxed(screen, area, title, true);
    source(screen, inside, form);
    ways(screen, inside, form);
    wishes(screen, inside, form);
    found(screen, inside, form);
}

/// A label, and the place of its field beside it.
fn label(screen: &mut Screen, inside: Rect, row: u16, form: &AddMediaForm, name: AddField) -> Rect {
    let focused = form.field == name;
    let possible = AddField::of(form.tab).contains(&name);
    let theme = screen.theme;
    let style = match (focused, possible) {
        (true, _) => theme.accent,
        (false, true) => theme.text,
        (false, false) => theme.dim,
    };
    let mark = if focused { " ▸ " } else { "   " };
    put(screen, inside, row, &[(mark, style), (words(form, name), style)]);
    let (x, y) = (inside.x + LABEL, inside.y + row);
    Rect { x, y, width: inside.width.saturating_sub(LABEL + 1), height: 1 }
}

fn words(form: &AddMediaForm, name: AddField) -> &'static str {
    match (name, form.tab) {
        (AddField::Source, _) => "from",
        (AddField::Place, Tab::Storage) => "address",
        (AddField::Place, Tab::Files) => "paths",
        (AddField::Place, Tab::Archive) => "archive",
        (AddField::Place, Tab::Server) => "path",
        (AddField::Reindex, _) => "then",
        (AddField::Role, _) => "role",
        (AddField::Videos, _) => "videos",
        (AddField::Images, _) => "images",
        (AddField::Objects, _) => "objects",
        (AddField::Spot, _) => "spot",
    }
}

fn tab_name(tab: Tab) -> &'static str {
    match tab {
        Tab::Storage => "storage",
        Tab::Files => "files and folders",
        Tab::Archive => "archive",
        Tab::Server => "path at the service",
    }
}

fn source(screen: &mut Screen, inside: Rect, form: &AddMediaForm) {
    let theme = screen.theme;
    let place = label(screen, inside, 0, form, AddField::Source);
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
    let place = label(screen, inside, 1, form, AddField::Place);
    field(screen, place, form.place(), form.field == AddField::Place);
    let below = Rect { y: place.y + 1, ..place };
    match &form.trouble {
        Some((AddField::Place, reason)) => {
            put(screen, below, 0, &[("! ", theme.failure), (reason.as_str(), theme.failure)]);
        }
        _ => put(screen, below, 0, &[(about(form), theme.dim)]),
    }
}

/// What is to be known of the source, or was recognised in it.
fn about(form: &AddMediaForm) -> &'static str {
    match (form.tab, StorageKind::of(form.place().value().trim())) {
        (Tab::Files, _) => "folders, too; several paths, 'quoted' where they hold spaces",
        (Tab::Archive, _) => "one .zip, .tar or .tar.gz of this machine",
        (Tab::Server, _) => "as the service's container sees it; it is not looked for here",
        (Tab::Storage, Ok(StorageKind::Folder)) => "a folder: all media below it",
        (Tab::Storage, Ok(StorageKind::Manifest)) => "a manifest that lists media",
        (Tab::Storage, Ok(StorageKind::Object)) => {
            "by its name no manifest (.csv .parquet .txt): is this meant?"
        }
        (Tab::Storage, Err(_)) => "s3://bucket/folder/, or a manifest .csv, .parquet or .txt",
    }
}

/// The two ways of the dataset, the chosen one marked (M32).
fn ways(screen: &mut Screen, inside: Rect, form: &AddMediaForm) {
    let theme = screen.theme;
    let place = label(screen, inside, 4, form, AddField::Reindex);
    let ways = [
        (false, "READY → READ ONLY → PARTIAL INDEX", "exports wait for R"),
        (true, "READY → READ ONLY → INDEXING → READY", "one go, and takes longer"),
    ];
    for (row, (reindex, way, words)) in (0u16..).zip(ways) {
        let chosen = form.auto_reindex == reindex && form.tab != Tab::Server;
        let (mark, style) = if chosen { ("● ", theme.text) } else { ("○ ", theme.dim) };
        let way = format!("{way:<38}");
        let line = Rect { y: place.y + row, ..place };
        put(screen, line, 0, &[(mark, style), (&way, style), (words, theme.dim)]);
    }
}

fn wishes(screen: &mut Screen, inside: Rect, form: &AddMediaForm) {
    text(
        screen,
        inside,
        7,
        form,
        (AddField::Role, &form.role, "arn:…:role/…, for storage of another account"),
    );
    let counts = [AddField::Videos, AddField::Images, AddField::Objects];
    for ((row, name), input) in (8u16..).zip(counts).zip(&form.counts) {
        text(screen, inside, row, form, (name, input, "computed"));
    }
    let place = label(screen, inside, 11, form, AddField::Spot);
    let words = match form.spot {
        _ if form.tab == Tab::Server => "hosted deployments only",
        None => "as the service likes",
        Some(true) => "may run on spot instances",
        Some(false) => "not on spot instances",
    };
    let style = if form.field == AddField::Spot { screen.theme.accent } else { screen.theme.dim };
    put(screen, place, 0, &[(words, style)]);
}

/// A field that may stay empty, with what is done then.
fn text(
    screen: &mut Screen,
    inside: Rect,
    row: u16,
    form: &AddMediaForm,
    (name, input, empty): (AddField, &Input, &str),
) {
    let place = label(screen, inside, row, form, name);
    let theme = screen.theme;
    if !AddField::of(form.tab).contains(&name) {
        let reason = if name == AddField::Role {
            "for storage only"
        } else {
            "not for a path at the service"
        };
        return put(screen, place, 0, &[(reason, theme.dim)]);
    }
    field(screen, place, input, form.field == name);
    let beside = Rect { x: place.x + 24, width: place.width.saturating_sub(24), ..place };
    match &form.trouble {
        Some((field, reason)) if *field == name => {
            put(screen, beside, 0, &[("! ", theme.failure), (reason.as_str(), theme.failure)]);
        }
        _ if input.value().is_empty() => put(screen, beside, 0, &[(empty, theme.dim)]),
        _ => {}
    }
}

/// What was found in the source, and what Enter does next.
fn found(screen: &mut Screen, inside: Rect, form: &AddMediaForm) {
    let theme = screen.theme;
    let mut lines: Vec<(String, Style)> = Vec::new();
    match &form.check {
        Check::None if matches!(form.tab, Tab::Files | Tab::Archive) => {
            lines.push((
                "Enter looks at the files first; nothing is sent yet".to_owned(),
                theme.dim,
            ));
        }
        Check::None => {}
        Check::Looking(_) => lines.push(("looking at the files…".to_owned(), theme.moving)),
        Check::Found(_, found) => {
            lines.extend(summary(found).into_iter().map(|words| (words, theme.success)));
            lines.extend(found.warnings.iter().map(|words| (words.to_string(), theme.moving)));
            let left_out =
                found.named.iter().map(|file| format!("  {}: {}", file.name, file.reason));
            lines.extend(left_out.map(|words| (words, theme.moving)));
        }
    }
    if let Some(busy) = screen.app.busy(form.dataset) {
        lines.insert(0, (format!("{busy}; Enter lets it wait here until then"), theme.moving));
    }
    for (row, (words, style)) in (FOUND..).zip(&lines) {
        put(screen, inside, row, &[(" ", *style), (words, *style)]);
    }
}

/// What is sent, and what is left out.
fn summary(found: &Preflight) -> Vec<String> {
    let count =
        |count: u64, words: &str| (count > 0).then(|| format!("{} {words}", grouped(count)));
    let videos = count(found.videos, "videos, ").unwrap_or_default();
    let (images, size) = (grouped(found.images), bytes(found.bytes));
    let sent = format!("{images} images, {videos}{size}; Enter sends them");
    let left_out = [count(found.others, "other files"), count(found.unreadable, "unreadable ones")];
    let left_out: Vec<String> = left_out.into_iter().flatten().collect();
    let left_out = (!left_out.is_empty()).then(|| format!("left out: {}", left_out.join(", ")));
    [Some(sent), left_out].into_iter().flatten().collect()
}
