//! Draws the lines below the panes: notification and hints.

use ratatui::widgets::{Clear, Widget};
use tessera_config::input::KeyContext;

use crate::ui::prelude::*;
use crate::{
    app::{
        Dialog, Level, availability, basket::SelectedEntries, model_offer,
        overlay::help::suggested_actions, tag_of_key,
    },
    drawing::{ClickTarget, Painter, field_area},
};

/// The maximum number of lines of a notification.
const MAX_NOTIFICATION_LINES: usize = 5;
/// The columns of the sign that precedes a notification.
const SIGN_WIDTH: usize = 3;

/// Returns the area of the notification. It grows upwards, so that the hints below it stay.
pub(super) fn notification_area(app: &App, line: Rect) -> Rect {
    let rows = u16::try_from(notification_lines(app, line.width).len()).unwrap_or(1).max(1);
    Rect { y: line.bottom().saturating_sub(rows), height: rows, ..line }
}

fn notification_lines(app: &App, width: u16) -> Vec<String> {
    let Some(notification) = app.notifications().current() else { return Vec::new() };
    let used = SIGN_WIDTH + display_width(&notification_end(app));
    let cells = usize::from(width).saturating_sub(used).max(1);
    wrap_words(notification.text.as_str(), cells, MAX_NOTIFICATION_LINES).collect()
}

/// Returns what is at the end of a notification's first line.
fn notification_end(app: &App) -> String {
    let count = app.notifications().count();
    let more = if count > 1 { format!("  (1 of {count})") } else { String::new() };
    let is_error = app.notifications().current().is_some_and(|it| it.level == Level::Error);
    more + if is_error { "  Esc dismiss" } else { "" }
}

/// Draws the notification in its area.
pub(super) fn notification(ctx: &mut DrawContext, area: Rect) {
    let Some(notification) = ctx.app.notifications().current() else {
        return model_offer(ctx, area);
    };
    let theme = ctx.theme;
    let (mark, style) = match notification.level {
        Level::Success => (" ✔ ", theme.success),
        Level::Warning => (" ⚠ ", theme.attention),
        Level::Error => (" ✖ ", theme.failure),
    };
    Clear.render(area.intersection(ctx.buf.area), ctx.buf);
    for (row, line) in (0..).zip(notification_lines(ctx.app, area.width)) {
        let sign = if row == 0 { mark } else { "   " };
        ctx.put(area, row, &[(sign, style), (&line, style)]);
    }
    let end = notification_end(ctx.app);
    let (_, right) = split_end(area, &end);
    ctx.put(right, 0, &[(end, theme.dim)]);
}

/// Offers a model in the line of notifications, while it is free.
fn model_offer(ctx: &mut DrawContext, area: Rect) {
    if !model_offer::is_offered(ctx.app)
        || ctx.app.overlay().is_some()
        || ctx.app.viewer().is_some()
    {
        return;
    }
    let theme = ctx.theme;
    let key = |action| ctx.first_key(action).unwrap_or_default();
    let (get, dismiss) = (key(Action::GetModel), key(Action::DismissOffer));
    let parts = [
        (" ", theme.dim),
        (&*get, theme.key),
        (" gets a model, which finds pictures by what they show   ", theme.dim),
        (&*dismiss, theme.key),
        (" dismisses this", theme.dim),
    ];
    ctx.put(area, 0, &parts);
}

/// The number of [`suggested_actions`] that the hints show. The help shows all of them.
const MAX_HINTS: usize = 6;

fn selection_hint(app: &App) -> Option<String> {
    let range = app.baskets().selected_tile_range(app.results());
    if let Some(range) = range.filter(|_| app.panes().focus == Pane::Results) {
        let keys = "move to change it, v or Space to select it, Esc to cancel";
        return Some(format!("range of {} · {keys}", range.count()));
    }
    let all = app.baskets().pending.all_pages.as_ref()?;
    let done = all.summary();
    let key = if all.rest { "*" } else { "g V" };
    Some(if all.paused {
        format!("{done} · {key} to continue, Esc to stop")
    } else {
        format!("{done} · loading page {}, Esc to stop", all.next_page.page + 1)
    })
}

/// The columns of the name of a tag in the hints, so that the other keys have room.
const MAX_TAG_WIDTH: usize = 12;

/// Returns the keys of the tagging mode with the names of the tags, and what the keys change.
fn tagging_hint(app: &App) -> Option<String> {
    app.dataset().filter(|_| app.contexts()[0] == KeyContext::Tagging)?;
    let tagging = app.tagging();
    let SelectedEntries { on_page, hidden } = app.baskets().selected_entries(app.results());
    let target = match (tagging.whole_search, on_page + hidden) {
        (true, _) => "tag the whole search:".to_owned(),
        (false, 0) => "tag:".to_owned(),
        (false, selected) => {
            let [selected, on_page] = [selected, on_page].map(|it| group_digits(it as u64));
            format!("tag {selected} selected ({on_page} here):")
        }
    };
    let tags = (0..9).map_while(|key| tag_of_key(app, key));
    let tag = |(key, name): (usize, &SafeText)| {
        format!("{key} {}", truncate(name.as_str(), MAX_TAG_WIDTH))
    };
    let tags = (1..).zip(tags).map(tag);
    let keys = if app.has_local_service() {
        "Alt-0…5 rate   + new tag   t tags   a whole search   u undo   Esc leave"
    } else {
        "+ new tag   t tags   (kept on this machine)   u undo   Esc leave"
    };
    let first = [target, "p pick   x reject".to_owned()];
    let parts = first.into_iter().chain(tags).chain([keys.to_owned()]);
    Some(parts.collect::<Vec<_>>().join("   "))
}

/// Returns whether the line of hints says what the next key does, so that nothing else may be there.
pub(super) fn needs_hints(app: &App) -> bool {
    app.jump_mode()
        || app.overlays().submit_pending()
        || app.overlay().is_some()
        || !app.pending_keys().is_empty()
        || app.query().editing_hints(app.panes().focus, app.results()).is_some()
        || selection_hint(app).is_some()
}

/// Returns the text about what is under the mouse, unless the line of hints is needed for something
/// else.
fn hover_lines(app: &App, width: u16) -> Vec<String> {
    let text = app.hover().filter(|_| !needs_hints(app));
    let cells = usize::from(width).saturating_sub(2).max(1);
    text.into_iter()
        .flat_map(|text| wrap_words(text.as_str(), cells, MAX_NOTIFICATION_LINES))
        .collect()
}

/// Returns the area of the hints. It grows upwards from its line by as many lines as the text about what is under the
/// mouse needs.
pub(super) fn hints_area(app: &App, line: Rect) -> Rect {
    let rows = u16::try_from(hover_lines(app, line.width).len()).unwrap_or(1).max(1);
    Rect { y: line.bottom().saturating_sub(rows), height: rows.min(line.bottom()), ..line }
}

fn draw_hover(ctx: &mut DrawContext, area: Rect, lines: &[String]) {
    let area = hints_area(ctx.app, area);
    Clear.render(area.intersection(ctx.buf.area), ctx.buf);
    for (row, text) in (0..).zip(lines) {
        ctx.put(area, row, &[(" ", ctx.theme.text), (text, ctx.theme.text)]);
    }
}

pub(super) fn hints(ctx: &mut DrawContext, area: Rect) {
    let hover = hover_lines(ctx.app, area.width);
    if !hover.is_empty() {
        // The keys below the text stay where they are, because the mouse may be over one of them.
        if ctx.app.panes().footer {
            action_hints(ctx, area);
        }
        return draw_hover(ctx, area, &hover);
    }
    let parts = match mode_hint(ctx) {
        Some((hint, style)) => {
            let cells = usize::from(area.width).saturating_sub(1);
            let hint = whole_hints(&hint, cells, &help_key(ctx.app));
            make_clickable(ctx, field_area(area, 1), &hint);
            vec![(" ".to_owned(), ctx.theme.dim), (hint, style)]
        }
        None if !ctx.app.pending_keys().is_empty() => {
            key_continuations(ctx, usize::from(area.width))
        }
        None if ctx.app.panes().footer => action_hints(ctx, area),
        None => Vec::new(),
    };
    ctx.put(area, 0, &parts);
}

/// Returns the key of the help. Where text is typed, this is not a letter.
fn help_key(app: &App) -> String {
    let editing = app.query().is_editing_query(app.panes().focus, app.results());
    let types = app.overlay().map_or(editing, <dyn Dialog>::takes_text);
    let keys = app.setup().keymap.keys_of(&[KeyContext::Everywhere], Action::Help);
    keys.into_iter().find(|key| !types || key.chars().count() > 1).unwrap_or_default()
}

/// Returns as many of these hints as fit, without cutting any, and how many more the help has. The last hints are kept,
/// because they are the key that accepts and the way out.
fn whole_hints(hints: &str, cells: usize, help_key: &str) -> String {
    const GAPS: (&str, &str) = ("   ", "  ");
    if display_width(hints) <= cells {
        return hints.to_owned();
    }
    let mut parts: Vec<&str> = hints.split(GAPS.0).collect();
    let mut last = parts.split_off(parts.len().saturating_sub(2));
    for omitted in 0..=parts.len() {
        let shown = &parts[..parts.len() - omitted];
        let more = format!("… {omitted} more ({help_key})");
        let more: &[&str] = if omitted > 0 { &[&more] } else { &[] };
        let line = [shown, more, &last].concat().join(GAPS.1);
        if display_width(&line) <= cells {
            return line;
        }
    }
    while last.len() > 1 && display_width(&last.join(GAPS.1)) > cells {
        last.remove(0);
    }
    last.join(GAPS.1)
}

/// Makes those hints clickable that begin with a key, such as `Esc close`.
pub(super) fn make_clickable<S>(ctx: &mut Painter<S>, area: Rect, hints: &str) {
    let mut start = 0;
    for part in hints.split("  ") {
        let hint = part.trim_start();
        let used = text_cells(&hints[..start + part.len() - hint.len()]);
        start += part.len() + 2;
        let Some((name, _)) = hint.split_once(' ') else { continue };
        // The name of a key may be capitalized, but a letter is its own key.
        let name = if name.chars().count() > 1 { name.to_lowercase() } else { name.to_owned() };
        if let Ok(chord) = name.parse() {
            let (_, rest) = split_columns(area, used);
            let (place, _) = split_columns(rest, text_cells(hint));
            ctx.click(place, ClickTarget::Key(chord));
        }
    }
}

fn mode_hint(ctx: &DrawContext) -> Option<(String, Style)> {
    let (app, theme) = (ctx.app, ctx.theme);
    if app.jump_mode() {
        return Some(("press a letter to jump; any other key cancels".to_owned(), theme.dim));
    }
    if app.overlays().submit_pending() {
        let hint = "checking the dataset's status …   Esc cancel";
        return Some((hint.to_owned(), theme.attention));
    }
    if let Some(overlay) = app.overlay() {
        return Some((overlay.hints().to_owned(), theme.dim));
    }
    if !app.pending_keys().is_empty() {
        return None;
    }
    let editing = app
        .query()
        .editing_hints(app.panes().focus, app.results())
        .map(|hint| (hint.to_owned(), theme.dim));
    let selecting = || selection_hint(app).map(|hint| (hint, theme.attention));
    editing.or_else(selecting).or_else(|| tagging_hint(app).map(|hint| (hint, theme.attention)))
}

/// Draws the suggested actions that fit into the line, and always the menu and the help. When the mouse is over an
/// action, its help is shown.
fn action_hints(ctx: &mut DrawContext, area: Rect) -> Vec<(String, Style)> {
    let hint = |ctx: &DrawContext, action| {
        let key = ctx.first_key(action)?;
        let (key_style, style) = action_styles(ctx, action);
        Some((action, [(format!(" {key}"), key_style), (format!(" {} ", action.hint()), style)]))
    };
    let cells = |(_, parts): &(Action, [(String, Style); 2])| -> usize {
        parts.iter().map(|(text, _)| display_width(text)).sum()
    };
    let always: Vec<_> =
        [Action::Menu, Action::Help].into_iter().filter_map(|it| hint(ctx, it)).collect();
    let mut free = usize::from(area.width).saturating_sub(always.iter().map(cells).sum());
    let mut shown = Vec::new();
    let suggested = suggested_actions(ctx.app);
    let suggested =
        suggested.filter(|action| !availability::is_forbidden(ctx.app, *action)).take(MAX_HINTS);
    for next in suggested.filter_map(|action| hint(ctx, action)) {
        if let Some(left) = free.checked_sub(cells(&next)) {
            free = left;
            shown.push(next);
        }
    }
    shown.extend(always);
    let mut x = area.x;
    for each in &shown {
        let width = u16::try_from(cells(each)).unwrap_or(u16::MAX);
        let reason = availability::unavailable_reason(ctx.app, each.0);
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        let key = Rect { x, width, ..area }.intersection(area);
        ctx.explain(key, format!("{}{reason}", each.0.help()));
        ctx.click(key, ClickTarget::Action(each.0));
        x = x.saturating_add(width);
    }
    shown.into_iter().flat_map(|(_, parts)| parts).collect()
}

/// Returns the styles of an action's key and hint, which are dimmed if the action is unavailable.
fn action_styles(ctx: &DrawContext, action: Action) -> (Style, Style) {
    match availability::unavailable_reason(ctx.app, action) {
        None => (ctx.theme.key, ctx.theme.text),
        Some(_) => (ctx.theme.dim, ctx.theme.dim),
    }
}

/// Returns the keys that continue the pressed ones, as many as fit, and how many more the help has.
fn key_continuations(ctx: &DrawContext, cells: usize) -> Vec<(String, Style)> {
    let (app, theme) = (ctx.app, ctx.theme);
    let keys = app.pending_keys();
    let pressed: Vec<String> = keys.iter().map(ToString::to_string).collect();
    let mut next = app.setup().keymap.continuations(&app.contexts(), keys);
    next.sort_by_key(|(_, action)| *action);
    let actions = next.into_iter().map(|(key, action)| {
        let (key_style, style) = action_styles(ctx, action);
        [(format!("  {key}"), key_style), (format!(" {}", action.hint()), style)]
    });
    let commands = app.setup().keymap.custom_continuations(keys).map(|(key, position)| {
        let name = app
            .setup()
            .settings
            .commands
            .get(position)
            .map(|command| SafeText::name(&command.name));
        [(format!("  {key}"), theme.key), (format!(" {}", name.unwrap_or_default()), theme.text)]
    });
    let all: Vec<_> = actions.chain(commands).collect();
    let start = [(format!(" {}", pressed.join(" ")), theme.key), (" then ".to_owned(), theme.dim)];
    let mut line = Vec::new();
    for omitted in 0..=all.len() {
        line = [&start[..], &all[..all.len() - omitted].concat()].concat();
        if omitted > 0 {
            line.push((format!("  … {omitted} more in the help"), theme.dim));
        }
        if line.iter().map(|(text, _)| display_width(text)).sum::<usize>() <= cells {
            break;
        }
    }
    line
}
