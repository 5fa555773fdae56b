//! Interprets a typed line: an action by its name or key, the number of an item, or text for a
//! dialog.

use tessera_config::input::{Action, Chord, Key, KeyContext, KeyMatch};
use tessera_interface::app::{App, Dialog, Event, overlay::command_list::CommandList};

use crate::accessible::Reading;

/// A typed line in the state that it was typed in.
#[derive(Clone, Debug, PartialEq)]
pub enum TypedLine {
    Events(Vec<Event>),
    /// Reads everything again.
    Read,
    /// Reads the next items of a long list.
    More,
    /// Waits until no task is running.
    Wait,
    /// The reason why the line cannot be interpreted.
    Unknown(String),
}

impl TypedLine {
    pub fn parse(app: &App, line: &str) -> Self {
        let line = line.trim();
        match line {
            "read" => Self::Read,
            "wait" => Self::Wait,
            "more" => Self::More,
            _ if app.overlay().is_some()
                || app.query().is_editing_query(app.panes().focus, app.results()) =>
            {
                Self::in_dialog(app, line)
            }
            "" => Self::Read,
            _ => Self::in_pane(app, line),
        }
    }

    fn in_pane(app: &App, line: &str) -> Self {
        // `close` also works outside of dialogs. The key ends tagging, which the action `back` would leave on.
        let line = if matches!(line, "close" | "back") { CLOSE } else { line };
        if let Some(event) = item_event(line) {
            return missing_item(&event, app.item_count())
                .unwrap_or_else(|| Self::Events(vec![event]));
        }
        if let Some(action) = action(app, line) {
            return Self::Events(vec![Event::Action(action)]);
        }
        // An action on a numbered item, such as `select 3`.
        if let Some((name, number)) = line.rsplit_once(' ')
            && let (Some(action), Some(item @ Event::Item(_))) =
                (action(app, name), item_event(number))
        {
            return missing_item(&item, app.item_count())
                .unwrap_or_else(|| Self::Events(vec![item, Event::Action(action)]));
        }
        let known = "menu lists the actions, with their names and keys";
        Self::Unknown(format!("{line} is not an action, a key or a number; {known}"))
    }

    fn in_dialog(app: &App, line: &str) -> Self {
        let overlay = app.overlay();
        let list = app.dialog::<CommandList>().map(|it| &it.list);
        let takes_text = overlay.map_or_else(
            || app.query().is_editing_query(app.panes().focus, app.results()),
            <dyn Dialog>::takes_text,
        );
        let key = |key| Event::Key(Chord::plain(key));
        let events = match (line, line.strip_prefix("text ")) {
            ("", _) => vec![key(Key::Enter)],
            ("close" | "back", _) => vec![key(Key::Esc)],
            (_, Some(text)) if takes_text => replaced_text(text),
            _ if list.is_some() || !takes_text => {
                match (item_event(line), keys(line, takes_text)) {
                    (Some(item), _) => {
                        let drawn = || Some(Reading::of(app).count).filter(|count| *count > 0);
                        let count = list.map(|list| list.matches().len()).or_else(drawn);
                        let count = count.unwrap_or(usize::MAX);
                        if let Some(missing) = missing_item(&item, count) {
                            return missing;
                        }
                        let chooses = list.is_some() && matches!(item, Event::Item(_));
                        [Some(item), chooses.then(|| key(Key::Enter))]
                            .into_iter()
                            .flatten()
                            .collect()
                    }
                    (None, Some(keys)) => keys,
                    (None, None) if takes_text => replaced_text(line),
                    (None, None) => {
                        let help = "type the name of a key, such as tab or space, or an empty line";
                        return Self::Unknown(format!("this has no field for text; {help}"));
                    }
                }
            }
            _ => keys(line, true).unwrap_or_else(|| replaced_text(line)),
        };
        Self::Events(events)
    }
}

/// The number that closes a dialog or a picture, or goes back.
const CLOSE: &str = "0";

/// Refuses an item that does not exist, because the core would take the last one.
fn missing_item(event: &Event, count: usize) -> Option<TypedLine> {
    let &Event::Item(index) = event else { return None };
    let reason = match count {
        0 => "there are no items here".to_owned(),
        1 => format!("there is no item {}, only item 1", index + 1),
        _ => format!("there is no item {}, only items 1 to {count}", index + 1),
    };
    (index >= count).then_some(TypedLine::Unknown(reason))
}

/// Returns the event for the item with this number. The number 0 closes the dialog.
fn item_event(line: &str) -> Option<Event> {
    let number: usize = line.parse().ok()?;
    Some(number.checked_sub(1).map_or(Event::Key(Chord::plain(Key::Esc)), Event::Item))
}

/// Returns the action with this name or key. A name may be written with spaces, and a pane's name
/// alone goes to that pane.
fn action(app: &App, line: &str) -> Option<Action> {
    let contexts = app.contexts();
    let keymap = &app.setup().keymap;
    let chords: Option<Vec<Chord>> =
        line.split_whitespace().map(|chord| chord.parse().ok()).collect();
    if let Some(KeyMatch::Action(action)) = chords.map(|it| keymap.resolve(&contexts, &it)) {
        return Some(action);
    }
    let name = line.to_lowercase().replace(' ', "-");
    let named = Action::by_name(&name).or_else(|| Action::by_name(&format!("focus-{name}")));
    named.or_else(|| {
        // A key may be typed as the hints print it. The innermost context is searched first.
        let mut actions = contexts
            .into_iter()
            .flat_map(|context| Action::ALL.iter().map(move |action| (context, *action)));
        let has_key = |(context, action): &(KeyContext, Action)| {
            keymap.keys_of(&[*context], *action).iter().any(|key| key == line)
        };
        actions.find(has_key).map(|(_, action)| action)
    })
}

/// Parses the keys of a line. In a dialog that takes text, only named keys and keys with modifiers
/// count.
fn keys(line: &str, takes_text: bool) -> Option<Vec<Event>> {
    let chords = line.split_whitespace().map(|word| {
        // A single letter is its own key, even in upper case. The name of a key may be capitalized.
        let name = if word.chars().count() > 1 { word.to_lowercase() } else { word.to_owned() };
        let chord: Chord = name.parse().ok()?;
        let is_text = chord.typed().is_some_and(|c| c != ' ');
        (!(takes_text && is_text)).then_some(Event::Key(chord))
    });
    chords.collect()
}

/// Returns the events that replace the contents of a field by a text.
fn replaced_text(text: &str) -> Vec<Event> {
    let clear = Chord { ctrl: true, ..Chord::plain(Key::Char('u')) };
    vec![Event::Key(clear), Event::Paste(text.to_owned())]
}
