//! The lines around the panes: header, filter chips and tabs above, notification and hints below.

use ratatui::{
    layout::Rect,
    style::{Modifier, Style},
};

use crate::{
    app::{
        App, Level, Outage, Overlay, Pane, availability,
        query::{self, ChipState},
    },
    input::Action,
    ui::{
        DrawContext, Theme,
        pane::basket,
        results_header,
        widget::{display_width, format_duration, group_digits, put, put_all},
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
    let place = format!("  {}", app.setup.deployment_name);
    let mut parts = vec![(" tessera", theme.accent), (place.as_str(), theme.dim)];
    let (name, words);
    if let Some(dataset) = app.dataset() {
        let (glyph, style) = status_glyph(theme, &dataset.status);
        name = format!(" ▸ {}  ", dataset.name);
        words = format!(" {}", status_text(dataset));
        parts.extend([(name.as_str(), theme.text), (glyph, style), (words.as_str(), style)]);
    }
    let right = activity_text(ctx);
    let room = area.width.saturating_sub(u16::try_from(display_width(&right)).unwrap_or(0) + 1);
    put(ctx, Rect { width: room, ..area }, 0, &parts);
    let used = parts.iter().map(|(words, _)| display_width(words)).sum::<usize>() + 2;
    let used = u16::try_from(used).unwrap_or(room).min(room);
    results_header::tabs(ctx, Rect { x: area.x + used, width: room - used, ..area });
    let style = if app.outage().is_some() { ctx.theme.moving } else { ctx.theme.dim };
    put(ctx, Rect { x: area.x + room, width: area.width - room, ..area }, 0, &[(&right, style)]);
}

/// Outage, open requests, selection and jobs, for the right end of the header.
fn activity_text(ctx: &DrawContext) -> String {
    let app = ctx.app;
    let mut words = Vec::new();
    words.extend(app.outage().map(|outage| outage_text(outage, app.size.0)));
    match app.tickets.outstanding() {
        0 => {}
        1 => words.push("1 request".to_owned()),
        many => words.push(format!("{many} requests")),
    }
    words.extend(basket::basket_summary(app));
    let active = app.jobs.iter().filter(|job| job.is_active()).count();
    if active > 0 {
        words.push(format!("jobs {active}▶"));
    }
    words.join("   ")
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
        x += u16::try_from(label.len()).unwrap_or(0);
    }
}

/// Draws the query as chips, and the key that edits it.
pub(super) fn chips(ctx: &mut DrawContext, area: Rect) {
    let theme = ctx.theme;
    let chips = query::chips(ctx.app);
    let mut shown = 0;
    for (chip, place) in chips.iter().zip(query::chip_areas(&chips, area)) {
        let (mark, style) = match chip.state {
            ChipState::On => (theme.success, theme.text),
            ChipState::Off | ChipState::Context => (theme.dim, theme.dim),
            ChipState::NotRun => (theme.moving, theme.text),
        };
        let text = chip.text.as_str();
        let glyph = chip.state.symbol();
        put(ctx, place, 0, &[(" ", style), (glyph, mark), (" ", style), (text, style)]);
        shown += place.width;
    }
    let rest = Rect { x: area.x + shown, width: area.width - shown, ..area };
    let keys = ctx.app.setup.keymap.keys_of(&ctx.app.contexts(), Action::FocusQuery);
    let key = keys.first().map_or("", String::as_str);
    put(ctx, rest, 0, &[("   ", theme.dim), (key, theme.key), (" edit", theme.dim)]);
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
    let end = format!("{more}{end}");
    let room = area.width.saturating_sub(u16::try_from(display_width(&end)).unwrap_or(0));
    put(
        ctx,
        Rect { width: room, ..area },
        0,
        &[(mark, style), (notification.text.as_str(), style)],
    );
    let rest = Rect { x: area.x + room, width: area.width - room, ..area };
    put(ctx, rest, 0, &[(&end, ctx.theme.dim)]);
}

/// The most useful actions of the focused pane, in order. The menu and the help follow them.
fn suggested_actions(ctx: &DrawContext) -> [Action; 6] {
    match ctx.app.focus {
        Pane::Datasets => [
            Action::Open,
            Action::Export,
            Action::AddMedia,
            Action::Reindex,
            Action::Record,
            Action::ToggleAutoRefresh,
        ],
        Pane::Results => [
            Action::Open,
            Action::Caption,
            Action::Select,
            Action::Similar,
            Action::NextPage,
            Action::Export,
        ],
        Pane::Detail => [
            Action::Right,
            Action::FullSize,
            Action::Select,
            Action::Similar,
            Action::OpenExternally,
            Action::Back,
        ],
        Pane::Basket => [
            Action::ExportBasket,
            Action::Deselect,
            Action::Undo,
            Action::SaveSelection,
            Action::ClearBasket,
            Action::Back,
        ],
        Pane::Query => [
            Action::RunQuery,
            Action::AddFilter,
            Action::ToggleFilter,
            Action::DeleteFilter,
            Action::SaveView,
            Action::Back,
        ],
        Pane::Jobs => [
            Action::Open,
            Action::Download,
            Action::StopWatching,
            Action::ForgetJob,
            Action::Refresh,
            Action::Back,
        ],
    }
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

/// Draws the hints of the current mode, else the suggested actions; unavailable ones are dimmed.
pub(super) fn hints(ctx: &mut DrawContext, area: Rect) {
    let (app, theme) = (ctx.app, ctx.theme);
    if app.jump_mode {
        return put(ctx, area, 0, &[(" press a letter to jump; any other key cancels", theme.dim)]);
    }
    if app.submit_pending {
        return put(
            ctx,
            area,
            0,
            &[(" checking the dataset's status …   Esc cancel", theme.moving)],
        );
    }
    if let Some(words) = app.overlay.as_ref().map(Overlay::hints) {
        put(ctx, area, 0, &[(" ", theme.dim), (words, theme.dim)]);
        return;
    }
    if !app.pending_keys().is_empty() {
        return key_continuations(ctx, area);
    }
    if let Some(words) = app.editing_hints() {
        return put(ctx, area, 0, &[(" ", theme.dim), (words, theme.dim)]);
    }
    if let Some(words) = selection_hint(app) {
        return put(ctx, area, 0, &[(" ", theme.dim), (&words, theme.moving)]);
    }
    if !app.footer {
        return;
    }
    let always: Vec<_> =
        [Action::Menu, Action::Help].map(|action| action_hint(ctx, action)).concat();
    let cells = |parts: &[(String, Style)]| {
        parts.iter().map(|(text, _)| display_width(text)).sum::<usize>()
    };
    let mut parts: Vec<(String, Style)> = Vec::new();
    for action in suggested_actions(ctx) {
        let next = action_hint(ctx, action);
        if cells(&parts) + cells(&next) + cells(&always) <= usize::from(area.width) {
            parts.extend(next);
        }
    }
    parts.extend(always);
    put_all(ctx, area, 0, &parts);
}

/// The key and the hint of an action, dimmed if it is unavailable.
fn action_hint(ctx: &DrawContext, action: Action) -> Vec<(String, Style)> {
    let (app, theme) = (ctx.app, ctx.theme);
    let Some(key) = app.setup.keymap.keys_of(&app.contexts(), action).into_iter().next() else {
        return Vec::new();
    };
    let (key_style, style) = match availability::unavailable_reason(app, action) {
        None => (theme.key, theme.text),
        Some(_) => (theme.dim, theme.dim),
    };
    vec![(format!(" {key}"), key_style), (format!(" {} ", action.hint()), style)]
}

/// Draws the keys that continue the pressed ones.
fn key_continuations(ctx: &mut DrawContext, area: Rect) {
    let (app, theme) = (ctx.app, ctx.theme);
    let keys = app.pending_keys();
    let pressed: Vec<String> = keys.iter().map(ToString::to_string).collect();
    let pressed = format!(" {}", pressed.join(" "));
    let mut parts = vec![(pressed, theme.key), (" then ".to_owned(), theme.dim)];
    let mut next = app.setup.keymap.continuations(&app.contexts(), keys);
    next.sort_by_key(|(_, action)| *action);
    for (key, action) in next {
        let (key_style, style) = match availability::unavailable_reason(app, action) {
            None => (theme.key, theme.text),
            Some(_) => (theme.dim, theme.dim),
        };
        parts.push((format!("  {key}"), key_style));
        parts.push((format!(" {}", action.hint()), style));
    }
    put_all(ctx, area, 0, &parts);
}

/// Draws the letters of the jump targets.
pub(super) fn jump_letters(ctx: &mut DrawContext) {
    for target in ctx.app.jump_targets() {
        let letter = format!(" {} ", target.letter);
        let (x, y) = target.position;
        ctx.buf.set_stringn(x, y, letter, 3, ctx.theme.selected.add_modifier(Modifier::BOLD));
    }
}
