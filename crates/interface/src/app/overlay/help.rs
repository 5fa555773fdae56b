//! Shows the help: all actions with their keys and why they are unavailable, or the keys of an open dialog, and a
//! glossary. `/` searches the text. The most useful actions of each place are listed first, and in the hints.

use std::iter;

use ratatui::style::Style;
use tessera_config::{
    input::{KeyContext, action::ActionGroup},
    tables::{rows, text_of},
};
use tessera_model::search_form;

use crate::app::overlay::prelude::*;
use crate::{
    app::{availability, overlay::fields::edit, tagging},
    drawing::{below, field_area, wrap_words},
};

#[derive(Clone, Debug, Default)]
pub struct Help {
    /// The dialog whose keys are shown. It is shown again when the help closes.
    dialog: Option<Box<dyn Dialog>>,
    pub scroll: ScrollState,
    /// The text that an entry must contain to be shown.
    pub query: Input,
    pub searching: bool,
}

impl Help {
    pub(super) fn of_dialog(dialog: Box<dyn Dialog>) -> Self {
        Self { dialog: Some(dialog), ..Self::default() }
    }

    fn close(&self) -> KeyResult {
        if self.dialog.is_some() { KeyResult::Back } else { KeyResult::Close }
    }
}

impl Dialog for Help {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        match (self.searching, chord.key) {
            (false, Key::Char('/')) => self.searching = true,
            (false, Key::Esc) if !self.query.value().is_empty() => self.query.reset(),
            (false, Key::Char('?')) => return self.close(),
            (false, _) => match self.scroll.handle_key(chord) {
                KeyResult::Close => return self.close(),
                result => return result,
            },
            (true, Key::Esc) => {
                self.query.reset();
                self.searching = false;
            }
            (true, Key::Enter) => self.searching = false,
            (true, _) => {
                edit(&mut self.query, chord);
                self.scroll = ScrollState::default();
            }
        }
        KeyResult::Stay
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (88, screen.1.saturating_sub(2))
    }

    fn hints(&self) -> &'static str {
        "j k scroll   g G start, end   / search   Esc close"
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        self.searching.then_some(&mut self.query)
    }

    fn form_below(&mut self) -> Option<&mut Box<dyn Dialog>> {
        self.dialog.as_mut()
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let mut inside = ctx.dialog(area, "Help");
        if self.searching || !self.query.value().is_empty() {
            ctx.put(inside, 0, &[(" / ", ctx.theme.key)]);
            ctx.text_field(field_area(inside, 3), &self.query, self.searching);
            inside = below(inside, 2);
        }
        let text_width = usize::from(inside.width).saturating_sub(KEY_WIDTH + 4);
        let sections = match &self.dialog {
            Some(dialog) => sections_of_dialog(ctx, &**dialog, text_width),
            None => sections(ctx, text_width),
        };
        let lines = filter_sections(sections, self.query.value());
        if lines.is_empty() {
            ctx.put(inside, 0, &[(" no match; Esc shows everything", ctx.theme.dim)]);
        }
        ctx.scrolled_lines(inside, &lines, self.scroll);
    }
}

const KEY_WIDTH: usize = 19;

const MOUSE: [(&str, &str); 4] = [
    ("click", "selects; a second click opens"),
    ("right click", "opens the action menu"),
    ("wheel", "scrolls"),
    ("Shift", "hold to select text in the terminal"),
];

const GLOSSARY: &str = include_str!("../../../../../assets/glossary.txt");

struct Section {
    heading: Line<'static>,
    entries: Vec<Vec<Line<'static>>>,
}

fn filter_sections(sections: Vec<Section>, query: &str) -> Vec<Line<'static>> {
    let query = search_form(query);
    let matches = |lines: &Vec<Line>| {
        lines.iter().any(|line| search_form(&line.to_string()).contains(&query))
    };
    let mut lines = Vec::new();
    for Section { heading, entries } in sections {
        let entries: Vec<_> = entries.into_iter().filter(matches).collect();
        if !entries.is_empty() {
            lines.push(heading);
            lines.extend(entries.into_iter().flatten());
            lines.push(Line::default());
        }
    }
    lines
}

fn section(ctx: &DrawContext, heading: &str, entries: Vec<Vec<Line<'static>>>) -> Section {
    Section { heading: Line::styled(format!(" {heading}"), ctx.theme.accent), entries }
}

/// Returns a section of terms with their meanings.
fn definitions(
    ctx: &DrawContext,
    heading: &str,
    definitions: impl IntoIterator<Item = (&'static str, &'static str)>,
    width: usize,
) -> Section {
    let entry = |(term, meaning)| {
        entry_lines(&Span::styled(term, ctx.theme.key), meaning, ctx.theme.text, width)
    };
    section(ctx, heading, definitions.into_iter().map(entry).collect())
}

/// Returns the keys of a dialog, and the glossary. A dialog that describes no keys has the keys of its hints.
fn sections_of_dialog(ctx: &DrawContext, dialog: &dyn Dialog, width: usize) -> Vec<Section> {
    let hints = || dialog.hints().split("   ").filter_map(|hint| hint.split_once(' '));
    let keys = match dialog.keys() {
        [] => hints().collect(),
        keys => keys.to_vec(),
    };
    vec![
        definitions(ctx, "Keys here", keys, width),
        definitions(ctx, "Glossary", rows(GLOSSARY), width),
    ]
}

/// Returns all sections with their texts wrapped to `width` cells.
fn sections(ctx: &DrawContext, width: usize) -> Vec<Section> {
    let is_tagging = ctx.app.contexts()[0] == KeyContext::Tagging;
    let place = match ctx.app.viewer {
        Some(_) => ActionGroup::Viewer.heading(),
        None if is_tagging => ActionGroup::Tagging.heading(),
        None => ctx.app.panes.focus.name(),
    };
    let name = format!("In {place}");
    let keymap = &ctx.app.setup.keymap;
    let of_tagging = Action::ALL.iter().copied().filter(|action| {
        action.group() == ActionGroup::Tagging && keymap.has_action(KeyContext::Tagging, *action)
    });
    let here: Vec<Action> =
        if is_tagging { of_tagging.collect() } else { suggested_actions(ctx.app).collect() };
    let entries =
        here.into_iter().map(|action| action_entry(ctx, |it| ctx.app.keys_of(it), action, width));
    let mut sections = vec![section(ctx, &name, entries.collect())];
    let all: Vec<KeyContext> = keymap.contexts().collect();
    let keys_of = |action| ctx.app.setup.typed_keys(keymap.keys_of(&all, action));
    for group in ActionGroup::ALL {
        let actions = Action::ALL.iter().copied().filter(|action| action.group() == group);
        // All tabs share one entry.
        let actions = actions.filter(|action| action.tab_index().is_none_or(|index| index == 0));
        let entries = actions.map(|action| action_entry(ctx, keys_of, action, width)).collect();
        sections.push(section(ctx, group.heading(), entries));
    }
    if !ctx.app.setup.is_text {
        sections.push(definitions(ctx, "Mouse", MOUSE, width));
    }
    sections.push(definitions(ctx, "Glossary", rows(GLOSSARY), width));
    sections
}

/// Returns the lines of a term and its text. Further lines of the text are indented.
fn entry_lines(term: &Span, text: &str, style: Style, width: usize) -> Vec<Line<'static>> {
    let terms = iter::once(&*term.content).chain(iter::repeat(""));
    let line = |(text, name): (String, &str)| {
        let gap = if name.len() < KEY_WIDTH { "" } else { "  " };
        let term = Span::styled(format!("   {name:<KEY_WIDTH$}{gap}"), term.style);
        Line::from(vec![term, Span::styled(text, style)])
    };
    wrap_words(text, width, usize::MAX).zip(terms).map(line).collect()
}

fn action_entry(
    ctx: &DrawContext,
    keys_of: impl Fn(Action) -> Vec<String>,
    action: Action,
    width: usize,
) -> Vec<Line<'static>> {
    let (app, theme) = (ctx.app, ctx.theme);
    let mut keys = keys_of(action);
    keys.dedup();
    let mut help = tagging::help_of(app, action);
    if action.tab_index().is_some() {
        keys.truncate(1);
        keys.extend(keys_of(Action::Tab9).into_iter().take(1));
        keys = vec![keys.join(" … ")];
        help = "Go to a results tab".into();
    }
    if app.setup.is_text {
        keys.insert(0, action.name().to_owned());
    }
    let reason = availability::unavailable_reason(app, action);
    let style = if reason.is_some() { theme.dim } else { theme.text };
    let mut lines = entry_lines(&Span::styled(keys.join("  "), theme.key), &help, style, width);
    lines.extend(reason.into_iter().flat_map(|reason| {
        let reason = format!("unavailable: {reason}");
        entry_lines(&Span::styled("", theme.dim), &reason, theme.dim, width)
    }));
    lines
}

/// The names of the actions of each place, one place a line.
const SUGGESTIONS: &str = include_str!("../../../../../assets/suggested_actions.txt");

/// Returns the most useful actions of the focused pane or of the full-size view.
pub(crate) fn suggested_actions(app: &App) -> impl Iterator<Item = Action> {
    actions_of(match app.panes.focus {
        _ if app.comparison().is_some() => "comparison",
        _ if app.viewer.is_some() && app.results.frame_position().is_some() => "viewer-of-frame",
        _ if app.viewer.is_some() => "viewer",
        Pane::Datasets => "datasets",
        Pane::Results if app.baskets.selection(&app.results).is_some_and(|it| !it.is_empty()) => {
            "results-with-selection"
        }
        Pane::Results => "results",
        Pane::Detail if app.results.frame_position().is_some() => "frame",
        Pane::Detail => "detail",
        Pane::Basket => "basket",
        Pane::Query => "query",
        Pane::Jobs => "jobs",
    })
}

fn actions_of(place: &str) -> impl Iterator<Item = Action> + use<> {
    let actions = text_of(SUGGESTIONS, place).unwrap_or_default();
    actions.split(' ').filter_map(Action::by_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_ten_actions() {
        let places: Vec<&str> = rows(SUGGESTIONS).map(|(place, _)| place).collect();
        assert_eq!(places.len(), 11);
        for place in places {
            assert_eq!(actions_of(place).count(), 10, "{place}");
        }
    }
}
