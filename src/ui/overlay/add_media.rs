//! The form that adds media: the source, what follows, options, and the result of the check.

use ratatui::{layout::Rect, style::Style};
use tui_input::Input;

use super::Draw;
use crate::{
    app::overlay::{AddMediaField, AddMediaForm, SourceCheck, SourceTab},
    ui::{
        DrawContext,
        widget::{format_bytes, group_digits, line, split_columns},
    },
};
use tessera_model::{Preflight, ingest::StorageKind};

const FIELD_COLUMN: u16 = 12;
const CHECK_ROW: u16 = 14;

impl Draw for AddMediaForm {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, &format!("Add media to {}", self.dataset_name));
        draw_source(ctx, inside, self);
        draw_reindex_choice(ctx, inside, self);
        draw_options(ctx, inside, self);
        draw_check(ctx, inside, self);
    }
}

/// Draws a label; returns the area of its field.
fn draw_label(
    ctx: &mut DrawContext,
    inside: Rect,
    row: u16,
    form: &AddMediaForm,
    name: AddMediaField,
) -> Rect {
    let applies = AddMediaField::of_tab(form.tab).contains(&name);
    let style = if applies { ctx.theme.text } else { ctx.theme.dim };
    let label = (label_text(form, name), style);
    ctx.field_label(inside, (row, FIELD_COLUMN), label, form.field == name)
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

fn draw_source(ctx: &mut DrawContext, inside: Rect, form: &AddMediaForm) {
    let theme = ctx.theme;
    let field = draw_label(ctx, inside, 0, form, AddMediaField::Source);
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
    ctx.put(field, 0, &tabs);
    let field = draw_label(ctx, inside, 1, form, AddMediaField::Location);
    ctx.text_field(field, form.location(), form.field == AddMediaField::Location);
    draw_error(ctx, line(field, 1), form, (AddMediaField::Location, location_hint(form)));
}

fn draw_error(
    ctx: &mut DrawContext,
    area: Rect,
    form: &AddMediaForm,
    (name, hint): (AddMediaField, &str),
) {
    let theme = ctx.theme;
    match &form.error {
        Some((field, reason)) if *field == name => {
            ctx.put(area, 0, &[("! ", theme.failure), (reason.as_str(), theme.failure)]);
        }
        _ => ctx.put(area, 0, &[(hint, theme.dim)]),
    }
}

fn location_hint(form: &AddMediaForm) -> &'static str {
    match (form.tab, StorageKind::parse(form.location().value().trim())) {
        (SourceTab::Files, _) => "one or more files or folders; 'quote' paths that contain spaces",
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

fn draw_reindex_choice(ctx: &mut DrawContext, inside: Rect, form: &AddMediaForm) {
    let theme = ctx.theme;
    let field = draw_label(ctx, inside, 4, form, AddMediaField::Reindex);
    let choices = [
        (false, "READY → READ ONLY → PARTIAL INDEX", "no exports until a reindex (R)"),
        (true, "READY → READ ONLY → INDEXING → READY", "takes longer"),
    ];
    for (row, (reindex, statuses, note)) in (0u16..).zip(choices) {
        let selected = form.auto_reindex == reindex && form.tab != SourceTab::Server;
        let (mark, style) = if selected { ("● ", theme.text) } else { ("○ ", theme.dim) };
        let statuses = format!("{statuses:<38}");
        let parts = [(mark, style), (&statuses, style), (note, theme.dim)];
        ctx.put(line(field, row), 0, &parts);
    }
}

fn draw_options(ctx: &mut DrawContext, inside: Rect, form: &AddMediaForm) {
    let account = "arn:…:role/…, for storage in another account";
    draw_optional_field(ctx, inside, 7, form, (AddMediaField::Role, &form.role, account));
    let counts = [AddMediaField::Videos, AddMediaField::Images, AddMediaField::Objects];
    for ((row, name), input) in (8u16..).zip(counts).zip(&form.counts) {
        draw_optional_field(ctx, inside, row, form, (name, input, "computed"));
    }
    let field = draw_label(ctx, inside, 11, form, AddMediaField::SpotInstances);
    let text = match form.spot {
        _ if form.tab == SourceTab::Server => "hosted deployments only",
        None => "default of the service",
        Some(true) => "allow spot instances",
        Some(false) => "no spot instances",
    };
    let style =
        if form.field == AddMediaField::SpotInstances { ctx.theme.accent } else { ctx.theme.dim };
    ctx.put(field, 0, &[(text, style)]);
}

fn draw_optional_field(
    ctx: &mut DrawContext,
    inside: Rect,
    row: u16,
    form: &AddMediaForm,
    (name, input, default): (AddMediaField, &Input, &str),
) {
    let area = draw_label(ctx, inside, row, form, name);
    let theme = ctx.theme;
    if !AddMediaField::of_tab(form.tab).contains(&name) {
        let reason = if name == AddMediaField::Role {
            "for storage only"
        } else {
            "not for a path on the server"
        };
        return ctx.put(area, 0, &[(reason, theme.dim)]);
    }
    ctx.text_field(area, input, form.field == name);
    let (_, beside) = split_columns(area, 24);
    let hint = if input.value().is_empty() { default } else { "" };
    draw_error(ctx, beside, form, (name, hint));
}

fn draw_check(ctx: &mut DrawContext, inside: Rect, form: &AddMediaForm) {
    let theme = ctx.theme;
    let mut lines: Vec<(String, Style)> = Vec::new();
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
    if let Some(status) = ctx.app.add_media_blocked(form.dataset) {
        let text = format!("the dataset is {status}; Enter adds the media as soon as possible");
        lines.insert(0, (text, theme.moving));
    }
    for (row, (text, style)) in (CHECK_ROW..).zip(&lines) {
        ctx.put(inside, row, &[(" ", *style), (text, *style)]);
    }
}

fn preflight_summary(preflight: &Preflight) -> impl Iterator<Item = String> {
    let count =
        |count: u64, noun: &str| (count > 0).then(|| format!("{} {noun}", group_digits(count)));
    let videos = count(preflight.videos, "videos, ").unwrap_or_default();
    let (images, size) = (group_digits(preflight.images), format_bytes(preflight.bytes));
    let added = format!("{images} images, {videos}{size}; Enter adds them");
    let skipped =
        [count(preflight.skipped, "other files"), count(preflight.unreadable, "unreadable files")];
    let skipped: Vec<String> = skipped.into_iter().flatten().collect();
    let skipped = (!skipped.is_empty()).then(|| format!("skipped: {}", skipped.join(", ")));
    [Some(added), skipped].into_iter().flatten()
}
