//! Shows the command palette, which finds every action, dataset, tab, view, profile, theme and tile size by name, and
//! the action menu of the focused pane. Both list unavailable actions with their reasons.

use std::cmp::Reverse;

use tessera_config::{
    Destination, ThemeChoice, TileSize,
    input::{KeyContext, action::ActionGroup},
};

use crate::app::overlay::prelude::*;
use crate::app::{
    availability,
    custom_commands::custom_command_items,
    overlay::{
        command_list::{CommandList, ListKind},
        pick_list::{Command, PickItem},
    },
    pane::distinction,
    tagging,
};

const MAX_HISTORY: usize = 50;

/// Opens the command palette.
pub(in crate::app) fn open_palette(app: &mut App) {
    let items = palette_items(app);
    CommandList::open(app, ListKind::Palette, "Command", items);
}

/// Shows in the open palette what was loaded meanwhile, unless the user has begun to choose.
pub(in crate::app) fn refresh_palette(app: &mut App) {
    let kind = ListKind::Palette;
    if CommandList::is_unfiltered(&app.overlays, kind)
        && CommandList::is_at_start(&app.overlays, kind)
    {
        open_palette(app);
    }
}

fn palette_items(app: &App) -> Vec<PickItem> {
    let is_listed =
        |action: &Action| *action != Action::Palette && !tagging::is_of_missing_tag(app, *action);
    let actions = Action::ALL.iter().filter(|action| is_listed(action));
    let mut items: Vec<_> = actions.map(|&action| palette_action(app, action)).collect();
    // The sort is stable, so actions that were never picked stay in the order of the help.
    items.sort_by_key(|item| Reverse(item.picked));
    items.extend(custom_command_items(app));
    items.extend(app.service_data.dataset_list().iter().map(|dataset| {
        let distinction = distinction(app, dataset).map(|it| format!(" {it}"));
        let name = format!("ds {}{}", dataset.name, distinction.unwrap_or_default());
        PickItem::new(Command::OpenDataset(dataset.id), name).note(dataset.status.as_str())
    }));
    let tabs = app.results.tabs().map_or(0, |tabs| tabs.all().len());
    items.extend((0..tabs).map(|tab| {
        PickItem::new(Command::OpenTab(tab), format!("tab {}", tab + 1)).note("of the results")
    }));
    items.extend(app.service_data.saved_views().iter().map(|view| {
        PickItem::new(Command::OpenView(view.name.clone()), format!("view {}", view.name))
            .note(app.service_data.describe_view(view))
    }));
    items.extend(app.setup.settings.profiles.iter().map(|profile| {
        let open = Command::OpenDeployment(Destination::Profile(profile.name.clone()));
        PickItem::new(open, format!("profile {}", profile.name)).note(profile.deployment.address())
    }));
    items.extend(ThemeChoice::all(&app.setup.user_themes).map(|theme| {
        let name = format!("theme {}", theme.as_str());
        PickItem::new(Command::SetTheme(theme), name)
    }));
    items.extend(
        TileSize::ALL.map(|size| {
            PickItem::new(Command::SetTileSize(size), format!("tiles {}", size.as_str()))
        }),
    );
    items
}

fn palette_action(app: &App, action: Action) -> PickItem {
    let reason = availability::unavailable_reason(app, action);
    PickItem::new(Command::Action(action), action.name().replace('-', " "))
        .prefix(palette_key(app, action))
        .note(tagging::help_of(app, action))
        .keywords(keywords(action))
        .picked(app.overlays.times_picked(action))
        .unavailable(reason.map(|reason| format!("unavailable: {reason}")))
}

/// Returns the key of an action. Where the tagging mode is off, the key that starts it comes before its keys, which do
/// something else there.
fn palette_key(app: &App, action: Action) -> String {
    let (setup, keymap) = (&app.setup, &app.setup.keymap);
    let is_on = app.contexts()[0] == KeyContext::Tagging;
    let (of_mode, others): (Vec<_>, Vec<_>) =
        keymap.contexts().partition(|context| *context == KeyContext::Tagging && !is_on);
    let first_key = |contexts: &[KeyContext], action| {
        setup.typed_keys(keymap.keys_of(contexts, action)).into_iter().next()
    };
    first_key(&others, action)
        .or_else(|| {
            let start = first_key(&others, Action::TagMode)?;
            Some(format!("{start} {}", first_key(&of_mode, action)?))
        })
        .unwrap_or_default()
}

/// Returns the words that find an action besides what its row shows.
fn keywords(action: Action) -> String {
    let name = action.name().replace('-', " ");
    format!("{name} {} {} {}", action.hint(), action.help(), action.synonyms())
}

fn menu_actions(app: &App) -> impl Iterator<Item = Action> {
    let [pane, everywhere] = app.contexts();
    let keymap = &app.setup.keymap;
    let applies = move |context, action| keymap.has_action(context, action);
    let mut actions: Vec<Action> = Action::ALL
        .iter()
        .copied()
        .filter(|action| *action != Action::Menu)
        .filter(|&action| applies(pane, action) || applies(everywhere, action))
        .collect();
    // Actions that only this pane has come first. For the results, the order does not change, because nearly all
    // actions apply there. Moving around comes last, because its keys are known best.
    let is_of_results = matches!(app.panes.focus, Pane::Results | Pane::Detail);
    actions.sort_by_key(|&action| {
        let moves = action.group() == ActionGroup::Navigation;
        (moves, !is_of_results && !applies(pane, action))
    });
    actions.into_iter()
}

fn action_item(app: &App, action: Action) -> PickItem {
    let keys = app.keys_of(action);
    PickItem::new(Command::Action(action), tagging::help_of(app, action))
        .prefix(keys.first().map_or("", String::as_str))
        .keywords(keywords(action))
        .picked(app.overlays.times_picked(action))
        .unavailable(availability::unavailable_reason(app, action))
}

pub(in crate::app) fn run_or_explain_action(app: &mut App, action: Action) {
    let picked = app.overlays.picked_actions.entry(action.name().to_owned()).or_default();
    *picked = picked.saturating_add(1);
    let Some(reason) = availability::unavailable_reason(app, action) else {
        return app.perform(action);
    };
    let steps = [availability::suggested_action(app, action), Some(Action::Menu)];
    let items = steps.into_iter().flatten().map(|step| action_item(app, step)).collect();
    CommandList::open(app, ListKind::Actions, &reason, items);
}

impl Overlays {
    /// Adds the input of the palette to its history, unless it is empty.
    pub(in crate::app) fn add_to_palette_history(&mut self, typed: &str) {
        if !typed.is_empty() {
            self.palette_history.retain(|line| *line != typed);
            self.palette_history.insert(0, typed.to_owned());
            self.palette_history.truncate(MAX_HISTORY);
        }
    }

    pub(in crate::app) fn times_picked(&self, action: Action) -> u32 {
        self.picked_actions.get(action.name()).copied().unwrap_or(0)
    }
}

/// Opens the menu of all actions for the focused pane. Picking an unavailable action shows the actions that would make
/// it available.
pub(in crate::app) fn open_action_menu(app: &mut App) {
    let title = match (app.panes.focus, app.selected_dataset()) {
        _ if app.viewer.is_some() => "Actions on the picture".to_owned(),
        (Pane::Datasets, Some(dataset)) => {
            format!("Actions on {} ({})", dataset.name, dataset.status.as_str())
        }
        (pane, _) => format!("Actions in {}", pane.name()),
    };
    let actions = menu_actions(app).map(|action| action_item(app, action));
    let items = custom_command_items(app).chain(actions).collect();
    CommandList::open(app, ListKind::Actions, &title, items);
}
