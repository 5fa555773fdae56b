//! The lines around the panes: header, filter chips and tabs above, notification and hints below.

use ratatui::{
    layout::Rect,
    style::{Modifier, Style},
};

use crate::{
    app::{
        App, Level, Outage, Pane, availability,
        query::{self, ChipState},
    },
    input::Action,
    ui::{
        DrawContext, Theme,
        pane::basket,
        results_header,
        widget::{
            display_width, format_duration, group_digits, split_columns, split_end, text_cells,
        },
    },
};
use tessera_model::{Dataset, Status};

/// The glyph and style of a status; its name is always shown beside it.
pub(super) fn status_glyph(theme: &Theme, status: &Status) -> (&'static str, Style) {
    match status {
        Status::Ready => ("●", theme.success),
        Status::PartialIndex => ("◧", theme.moving),
        Status::ReadOnly => ("◑", theme.moving),
        Status::Indexing => ("◔", theme.moving),
        Status::Error => ("✖", theme.failure),
        Status::Other(_) => ("?", theme.moving),
    }
}

/// The status, with the percentage of a running operation.
pub(super) fn status_text(dataset: &Dataset) -> String {
    match dataset.progress {
        Some(percent) if dataset.status.is_busy() => {
            format!("{} {percent}%", dataset.status.as_str())
        }
        _ => dataset.status.as_str().to_owned(),
    }
}

/// Draws the deployment, the open dataset with its status, tabs, and activity.
pub(super) fn header(ctx: &mut DrawContext, area: Rect) {
    let (app, theme) = (ctx.app, ctx.theme);
    let deployment = format!("  {}", app.setup.deployment_name);
    let mut parts = vec![(" tessera".to_owned(), theme.accent), (deployment, theme.dim)];
    if let Some(dataset) = app.dataset() {
        let (glyph, style) = status_glyph(theme, &dataset.status);
        parts.push((format!(" ▸ {}  ", dataset.name), theme.text));
        parts.push((format!("{glyph} {}", status_text(dataset)), style));
    }
    let activity = activity_text(app);
    let (left, right) =
        split_columns(area, area.width.saturating_sub(text_cells(&activity).saturating_add(1)));
    ctx.put(left, 0, &parts);
    let used = parts.iter().fold(2, |used: u16, (text, _)| used.saturating_add(text_cells(text)));
    let (_, tabs) = split_columns(left, used);
    results_header::tabs(ctx, tabs);
    let style = if app.outage().is_some() { theme.moving } else { theme.dim };
    ctx.put(right, 0, &[(activity, style)]);
}

/// Outage, open requests, selection and jobs, for the right end of the header.
fn activity_text(app: &App) -> String {
    let mut parts = Vec::new();
    parts.extend(app.outage().map(|outage| outage_text(outage, app.size.0)));
    match app.tickets.outstanding() {
        0 => {}
        1 => parts.push("1 request".to_owned()),
        many => parts.push(format!("{many} requests")),
    }
    parts.extend(basket::basket_summary(app));
    let active = app.jobs.iter().filter(|job| job.is_active()).count();
    if active > 0 {
        parts.push(format!("jobs {active}▶"));
    }
    parts.join("   ")
}

/// Since when the service does not respond, and when it is tried again.
fn outage_text(outage: Outage, columns: u16) -> String {
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

/// Draws the names of the panes where only one pane fits on the screen.
pub(super) fn pane_tabs(ctx: &mut DrawContext, area: Rect) {
    let mut x = area.x;
    for (number, pane) in (1..).zip(Pane::NUMBERED) {
        let label = format!(" {number} {} ", pane.name());
        let style = if pane == ctx.app.focus { ctx.theme.selected } else { ctx.theme.dim };
        ctx.buf.set_stringn(x, area.y, &label, usize::from(area.right().saturating_sub(x)), style);
        x += text_cells(&label);
    }
}

/// Draws the query as chips, and the key that edits it.
pub(super) fn chips(ctx: &mut DrawContext, area: Rect) {
    let theme = ctx.theme;
    let chips = query::chips(ctx.app);
    let mut used = 0;
    for (chip, chip_area) in chips.iter().zip(query::chip_areas(&chips, area)) {
        let (mark, style) = match chip.state {
            ChipState::On => (theme.success, theme.text),
            ChipState::Off | ChipState::Context => (theme.dim, theme.dim),
            ChipState::NotRun => (theme.moving, theme.text),
        };
        let (text, glyph) = (chip.text.as_str(), chip.state.symbol());
        ctx.put(chip_area, 0, &[(" ", style), (glyph, mark), (" ", style), (text, style)]);
        used += chip_area.width;
    }
    let (_, rest) = split_columns(area, used);
    let key = first_key(ctx.app, Action::FocusQuery).unwrap_or_default();
    ctx.put(rest, 0, &[("   ", theme.dim), (&key, theme.key), (" edit", theme.dim)]);
}

pub(super) fn notification(ctx: &mut DrawContext, area: Rect) {
    let Some(notification) = ctx.app.notifications.current() else {
        return;
    };
    let theme = ctx.theme;
    let (mark, style, end) = match notification.level {
        Level::Success => (" ✔ ", theme.success, ""),
        Level::Warning => (" ⚠ ", theme.moving, ""),
        Level::Error => (" ✖ ", theme.failure, "  Esc dismiss"),
    };
    let count = ctx.app.notifications.count();
    let more = if count > 1 { format!("  (1 of {count})") } else { String::new() };
    let end = more + end;
    let (left, right) = split_end(area, &end);
    ctx.put(left, 0, &[(mark, style), (notification.text.as_str(), style)]);
    ctx.put(right, 0, &[(end, theme.dim)]);
}

/// The most useful actions of the focused pane, in order. The menu and the help follow them.
fn suggested_actions(focus: Pane) -> [Action; 6] {
    use Action::{
        AddFilter, AddMedia, Back, Caption, ClearBasket, DeleteFilter, Deselect, Download, Export,
        ExportBasket, ForgetJob, FullSize, NextPage, Open, OpenExternally, Record, Refresh,
        Reindex, Right, RunQuery, SaveSelection, SaveView, Select, Similar, StopWatching,
        ToggleAutoRefresh, ToggleFilter, Undo,
    };
    match focus {
        Pane::Datasets => [Open, Export, AddMedia, Reindex, Record, ToggleAutoRefresh],
        Pane::Results => [Open, Caption, Select, Similar, NextPage, Export],
        Pane::Detail => [Right, FullSize, Select, Similar, OpenExternally, Back],
        Pane::Basket => [ExportBasket, Deselect, Undo, SaveSelection, ClearBasket, Back],
        Pane::Query => [RunQuery, AddFilter, ToggleFilter, DeleteFilter, SaveView, Back],
        Pane::Jobs => [Open, Download, StopWatching, ForgetJob, Refresh, Back],
    }
}

/// The first keys that trigger an action.
pub(super) fn first_key(app: &App, action: Action) -> Option<String> {
    app.setup.keymap.keys_of(&app.contexts(), action).into_iter().next()
}

/// The progress of selecting a range or all pages.
fn selection_hint(app: &App) -> Option<String> {
    if let Some(range) = app.selected_tile_range() {
        let count = range.count();
        return Some(format!(
            "range of {count} · move to change it, v or Space to select it, Esc to cancel"
        ));
    }
    let all = app.baskets.pending.all_pages.as_ref()?;
    let done = format!(
        "selected {} clusters on {} pages",
        group_digits(all.clusters_added as u64),
        all.pages_done
    );
    Some(if all.paused {
        format!("{done} · g V to continue, Esc to stop")
    } else {
        format!("{done} · loading page {}, Esc to stop", all.next_page.page + 1)
    })
}

/// Draws the hints of the current mode, else the suggested actions.
pub(super) fn hints(ctx: &mut DrawContext, area: Rect) {
    let parts = match mode_hint(ctx) {
        Some((hint, style)) => vec![(" ".to_owned(), ctx.theme.dim), (hint, style)],
        None if !ctx.app.pending_keys().is_empty() => key_continuations(ctx),
        None if ctx.app.footer => action_hints(ctx, area.width),
        None => return,
    };
    ctx.put(area, 0, &parts);
}

/// The hint of a mode that changes what keys do.
fn mode_hint(ctx: &DrawContext) -> Option<(String, Style)> {
    let (app, theme) = (ctx.app, ctx.theme);
    if app.jump_mode {
        return Some(("press a letter to jump; any other key cancels".to_owned(), theme.dim));
    }
    if app.submit_pending {
        let hint = "checking the dataset's status …   Esc cancel";
        return Some((hint.to_owned(), theme.moving));
    }
    if let Some(overlay) = &app.overlay {
        return Some((overlay.hints().to_owned(), theme.dim));
    }
    if !app.pending_keys().is_empty() {
        return None;
    }
    let editing = app.editing_hints().map(|hint| (hint.to_owned(), theme.dim));
    editing.or_else(|| selection_hint(app).map(|hint| (hint, theme.moving)))
}

/// The suggested actions that fit into `width` cells, and always the menu and the help.
fn action_hints(ctx: &DrawContext, width: u16) -> Vec<(String, Style)> {
    let hint = |action| {
        let key = first_key(ctx.app, action)?;
        let (key_style, style) = action_styles(ctx, action);
        Some([(format!(" {key}"), key_style), (format!(" {} ", action.hint()), style)])
    };
    let cells = |parts: &[(String, Style)]| {
        parts.iter().map(|(text, _)| display_width(text)).sum::<usize>()
    };
    let always: Vec<_> =
        [Action::Menu, Action::Help].into_iter().filter_map(hint).flatten().collect();
    let mut parts: Vec<(String, Style)> = Vec::new();
    for next in suggested_actions(ctx.app.focus).into_iter().filter_map(hint) {
        if cells(&parts) + cells(&next) + cells(&always) <= usize::from(width) {
            parts.extend(next);
        }
    }
    parts.extend(always);
    parts
}

/// The styles of the key and the hint of an action, which are dimmed if it is unavailable.
fn action_styles(ctx: &DrawContext, action: Action) -> (Style, Style) {
    match availability::unavailable_reason(ctx.app, action) {
        None => (ctx.theme.key, ctx.theme.text),
        Some(_) => (ctx.theme.dim, ctx.theme.dim),
    }
}

/// The pressed keys, and those that continue them.
fn key_continuations(ctx: &DrawContext) -> Vec<(String, Style)> {
    let (app, theme) = (ctx.app, ctx.theme);
    let keys = app.pending_keys();
    let pressed: Vec<String> = keys.iter().map(ToString::to_string).collect();
    let mut parts =
        vec![(format!(" {}", pressed.join(" ")), theme.key), (" then ".to_owned(), theme.dim)];
    let mut next = app.setup.keymap.continuations(&app.contexts(), keys);
    next.sort_by_key(|(_, action)| *action);
    for (key, action) in next {
        let (key_style, style) = action_styles(ctx, action);
        parts.extend([(format!("  {key}"), key_style), (format!(" {}", action.hint()), style)]);
    }
    parts
}

/// Draws the letters of the jump targets.
pub(super) fn jump_letters(ctx: &mut DrawContext) {
    for target in ctx.app.jump_targets() {
        let letter = format!(" {} ", target.letter);
        let (x, y) = target.position;
        ctx.buf.set_stringn(x, y, letter, 3, ctx.theme.selected.add_modifier(Modifier::BOLD));
    }
}
