//! The form that adds media: the source, what follows, options, and the result of the check.

use ratatui::{
    layout::Rect,
    style::Style,
    text::{Line, Span},
};
use tui_input::Input;

use super::Draw;
use crate::{
    app::overlay::{AddMediaField, AddMediaForm, ScrollState, SourceCheck, SourceTab},
    config::DeploymentKind,
    ui::{
        DrawContext,
        widget::{FormOptions, FormRows, display_width, format_bytes},
    },
};
use tessera_model::{Preflight, ingest::StorageKind, text::grouped_with_noun};

const FIELD_COLUMN: u16 = 12;
/// Columns of a number, beside which its default or error is shown.
const NUMBER_COLUMNS: u16 = 24;
/// Columns of a sequence of statuses, beside which a note is shown.
const NOTE_COLUMN: u16 = 40;

impl Draw for AddMediaForm {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, &format!("Add media to {}", self.dataset_name));
        let footer = check_lines(ctx, self);
        let scroll = ScrollState::default();
        let options = FormOptions { column: FIELD_COLUMN, footer: &footer, scroll };
        ctx.form(inside, &options, |rows| {
            draw_source(rows, self);
            rows.blank();
            draw_reindex_choice(rows, self);
            rows.blank();
            draw_options(rows, self);
        });
    }
}

/// Draws a label; returns the area of its field.
fn draw_label(rows: &mut FormRows, form: &AddMediaForm, name: AddMediaField) -> Rect {
    rows.field(label(rows, form, name), form.field == name)
}

fn label(rows: &FormRows, form: &AddMediaForm, name: AddMediaField) -> (&'static str, Style) {
    let applies = form.fields().contains(&name);
    let style = if applies { rows.ctx.theme.text } else { rows.ctx.theme.dim };
    (label_text(form, name), style)
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
        SourceTab::Server => "path on the server",
    }
}

fn draw_source(rows: &mut FormRows, form: &AddMediaForm) {
    let theme = rows.ctx.theme;
    let field = draw_label(rows, form, AddMediaField::Source);
    let tabs = |is_shown: fn(bool) -> bool| -> Vec<(String, Style)> {
        let tabs = form.tabs.iter().map(|&tab| (tab, tab == form.tab));
        let text = |(tab, selected)| {
            if selected {
                (format!("‹ {} ›  ", tab_name(tab)), theme.accent)
            } else {
                (format!("  {}    ", tab_name(tab)), theme.dim)
            }
        };
        tabs.filter(|(_, selected)| is_shown(*selected)).map(text).collect()
    };
    let all = tabs(|_| true);
    let width: usize = all.iter().map(|(text, _)| display_width(text)).sum();
    let shown = if width <= usize::from(field.width) { all } else { tabs(|selected| selected) };
    rows.ctx.put(field, 0, &shown);
    let field = draw_label(rows, form, AddMediaField::Location);
    rows.ctx.text_field(field, form.location(), form.field == AddMediaField::Location);
    let (text, style) = error_or_hint(rows, form, AddMediaField::Location, location_hint(form));
    rows.note(&text, style);
}

/// The error of a field, or else a hint.
fn error_or_hint(
    rows: &FormRows,
    form: &AddMediaForm,
    name: AddMediaField,
    hint: &str,
) -> (String, Style) {
    match &form.error {
        Some((field, reason)) if *field == name => (format!("! {reason}"), rows.ctx.theme.failure),
        _ => (hint.to_owned(), rows.ctx.theme.dim),
    }
}

fn location_hint(form: &AddMediaForm) -> &'static str {
    match (form.tab, StorageKind::parse(form.location().value().trim())) {
        (SourceTab::Files, _) => "one or more files or folders; 'quote' paths that contain spaces",
        (SourceTab::Archive, _) if form.deployment == DeploymentKind::Local => {
            "one .zip, .tar, .tar.gz, .tar.xz or .tar.zst on this machine"
        }
        (SourceTab::Archive, _) => "one .zip, .tar or .tar.gz on this machine",
        (SourceTab::Server, _) => "as the service's container sees it; not checked here",
        (SourceTab::Storage, Ok(StorageKind::Folder)) => {
            "a folder: all media in it and its subfolders"
        }
        (SourceTab::Storage, Ok(StorageKind::Manifest)) => "a manifest that lists media",
        (SourceTab::Storage, Ok(StorageKind::Object)) => {
            "the name is not that of a manifest (.csv, .parquet, .txt)"
        }
        (SourceTab::Storage, Err(_)) => "s3://bucket/folder/, or a manifest .csv, .parquet or .txt",
    }
}

fn draw_reindex_choice(rows: &mut FormRows, form: &AddMediaForm) {
    let theme = rows.ctx.theme;
    let choices = [
        (false, "READY → READ ONLY → PARTIAL INDEX", "no exports until a reindex (R)"),
        (true, "READY → READ ONLY → INDEXING → READY", "takes longer"),
    ];
    let first = draw_label(rows, form, AddMediaField::Reindex);
    for (reindex, statuses, note) in choices {
        let selected = form.auto_reindex == reindex && form.tab != SourceTab::Server;
        let (mark, style) = if selected { ("● ", theme.text) } else { ("○ ", theme.dim) };
        let row = if reindex { rows.below(first) } else { first };
        rows.value(row, &format!("{mark}{statuses}"), style);
        rows.note_beside(row, NOTE_COLUMN, note, theme.dim);
    }
}

fn draw_options(rows: &mut FormRows, form: &AddMediaForm) {
    let account = "arn:…:role/…, for storage in another account";
    draw_optional_field(rows, form, (AddMediaField::Role, &form.role, account));
    if form.deployment == DeploymentKind::Local {
        return;
    }
    let counts = [AddMediaField::Videos, AddMediaField::Images, AddMediaField::Objects];
    for (name, input) in counts.into_iter().zip(&form.counts) {
        draw_optional_field(rows, form, (name, input, "computed"));
    }
    let text = match form.spot {
        _ if form.tab == SourceTab::Server => "hosted deployments only",
        None => "default of the service",
        Some(true) => "allow spot instances",
        Some(false) => "no spot instances",
    };
    let theme = rows.ctx.theme;
    let focused = form.field == AddMediaField::SpotInstances;
    let style = if focused { theme.accent } else { theme.dim };
    rows.choice(label(rows, form, AddMediaField::SpotInstances), (text, style), focused);
}

fn draw_optional_field(
    rows: &mut FormRows,
    form: &AddMediaForm,
    (name, input, default): (AddMediaField, &Input, &str),
) {
    let theme = rows.ctx.theme;
    if !form.fields().contains(&name) {
        let reason = if name == AddMediaField::Role {
            "for storage only"
        } else {
            "not for a path on the server"
        };
        return rows.choice(label(rows, form, name), (reason, theme.dim), false);
    }
    let field = draw_label(rows, form, name);
    rows.ctx.text_field(field, input, form.field == name);
    let hint = if input.value().is_empty() { default } else { "" };
    let (text, style) = error_or_hint(rows, form, name, hint);
    rows.note_beside(field, NUMBER_COLUMNS, &text, style);
}

/// What the source contains, and what Enter does.
fn check_lines(ctx: &DrawContext, form: &AddMediaForm) -> Vec<Line<'static>> {
    let theme = ctx.theme;
    let mut lines: Vec<(String, Style)> = Vec::new();
    if let Some(status) = ctx.app.store().add_media_blocked(form.dataset) {
        let text = format!("the dataset is {status}; Enter adds the media as soon as possible");
        lines.push((text, theme.moving));
    }
    match &form.check {
        SourceCheck::None if matches!(form.tab, SourceTab::Files | SourceTab::Archive) => {
            lines.push(("Enter checks the files; nothing is uploaded yet".to_owned(), theme.dim));
        }
        SourceCheck::None => {
            lines.push(("Enter shows what will be added".to_owned(), theme.dim));
        }
        SourceCheck::NotPossible(_) => {
            let text = "only the service can read this source; Enter adds all media in it";
            lines.push((text.to_owned(), theme.success));
        }
        SourceCheck::Running(_) => lines.push(("checking the files…".to_owned(), theme.moving)),
        SourceCheck::Done(_, preflight) => {
            lines.extend(preflight_summary(preflight).map(|text| (text, theme.success)));
            let unreadable = preflight.unreadable_files.iter();
            let unreadable = unreadable.map(|file| format!("  {}: {}", file.name, file.reason));
            let warnings = preflight.warnings.iter().map(ToString::to_string).chain(unreadable);
            lines.extend(warnings.map(|text| (text, theme.moving)));
        }
    }
    let line = |(text, style)| Line::from(vec![Span::raw(" "), Span::styled(text, style)]);
    lines.into_iter().map(line).collect()
}

fn preflight_summary(preflight: &Preflight) -> impl Iterator<Item = String> {
    let count = |count: u64, one: &str, many: &str| {
        (count > 0).then(|| grouped_with_noun(count, one, many))
    };
    let added = [
        Some(grouped_with_noun(preflight.images, "image", "images")),
        count(preflight.videos, "video", "videos"),
        Some(format_bytes(preflight.bytes)),
    ];
    let added: Vec<String> = added.into_iter().flatten().collect();
    let skipped = [
        count(preflight.skipped, "other file", "other files"),
        count(preflight.unreadable, "unreadable file", "unreadable files"),
    ];
    let skipped: Vec<String> = skipped.into_iter().flatten().collect();
    let skipped = (!skipped.is_empty()).then(|| format!("skipped: {}", skipped.join(", ")));
    [Some(format!("{}; Enter adds them", added.join(", "))), skipped].into_iter().flatten()
}
