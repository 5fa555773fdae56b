//! The lines below the panes: notification and hints.

use ratatui::{layout::Rect, style::Style};

use crate::{
    app::{App, Level, Pane, availability},
    input::Action,
    ui::{
        DrawContext,
        widget::{display_width, group_digits, split_end},
    },
};

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
fn suggested_actions(app: &App) -> [Action; 6] {
    use Action::{
        AddFilter, AddMedia, Back, Caption, ClearBasket, DeleteFilter, Deselect, Download, Export,
        ExportBasket, ForgetJob, FullSize, NextFrame, NextPage, Open, OpenExternally,
        PreviousFrame, Record, Refresh, Reindex, Right, RunQuery, SaveSelection, SaveView, Select,
        Similar, StopWatching, ToggleAutoRefresh, ToggleFilter, Undo,
    };
    match app.focus {
        Pane::Datasets => [Open, Export, AddMedia, Reindex, Record, ToggleAutoRefresh],
        Pane::Results => [Open, Caption, Select, Similar, NextPage, Export],
        Pane::Detail if app.frame_position().is_some() => {
            [PreviousFrame, NextFrame, FullSize, Select, Similar, Back]
        }
        Pane::Detail => [Right, FullSize, Select, Similar, OpenExternally, Back],
        Pane::Basket => [ExportBasket, Deselect, Undo, SaveSelection, ClearBasket, Back],
        Pane::Query => [RunQuery, AddFilter, ToggleFilter, DeleteFilter, SaveView, Back],
        Pane::Jobs => [Open, Download, StopWatching, ForgetJob, Refresh, Back],
    }
}

fn selection_hint(app: &App) -> Option<String> {
    if let Some(range) = app.selected_tile_range() {
        let keys = "move to change it, v or Space to select it, Esc to cancel";
        return Some(format!("range of {} · {keys}", range.count()));
    }
    let all = app.baskets.pending.all_pages.as_ref()?;
    let clusters = group_digits(all.clusters_added as u64);
    let done = format!("selected {clusters} clusters on {} pages", all.pages_done);
    Some(if all.paused {
        format!("{done} · g V to continue, Esc to stop")
    } else {
        format!("{done} · loading page {}, Esc to stop", all.next_page.page + 1)
    })
}

pub(super) fn hints(ctx: &mut DrawContext, area: Rect) {
    let parts = match mode_hint(ctx) {
        Some((hint, style)) => vec![(" ".to_owned(), ctx.theme.dim), (hint, style)],
        None if !ctx.app.pending_keys().is_empty() => key_continuations(ctx),
        None if ctx.app.footer => action_hints(ctx, area.width),
        None => return,
    };
    ctx.put(area, 0, &parts);
}

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
        let key = ctx.first_key(action)?;
        let (key_style, style) = action_styles(ctx, action);
        Some([(format!(" {key}"), key_style), (format!(" {} ", action.hint()), style)])
    };
    let cells = |parts: &[(String, Style)]| {
        parts.iter().map(|(text, _)| display_width(text)).sum::<usize>()
    };
    let always: Vec<_> =
        [Action::Menu, Action::Help].into_iter().filter_map(hint).flatten().collect();
    let mut parts: Vec<(String, Style)> = Vec::new();
    for next in suggested_actions(ctx.app).into_iter().filter_map(hint) {
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
