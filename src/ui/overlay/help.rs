//! The help: what the focused pane can do, what holds everywhere, and what the words mean; with
//! the keys that are really bound, and why something cannot be done now.

use ratatui::{
    layout::Rect,
    text::{Line, Span},
};

use crate::{
    app::{
        App, availability,
        overlay::{Help, ScrollState},
    },
    input::{Action, KeyContext, action::ActionGroup},
    ui::{
        DrawContext,
        overlay::file_picker,
        widget::{bordered, put},
    },
};

/// Cells for the keys, and for the words that are explained.
const KEY_WIDTH: usize = 16;

/// The words of the screen that stand for something of the service, and what.
const GLOSSARY: [(&str, &str); 17] = [
    ("READY", "everything is allowed except a reindex"),
    ("PARTIAL INDEX", "media were added and are not clustered yet; a reindex does that"),
    ("READ ONLY", "media are being added; nothing can be changed until that is done"),
    ("INDEXING", "the clusters are being computed"),
    ("ERROR", "the last operation ended badly; the record (i) may say why"),
    ("cluster", "media that are alike; up to nine of them are shown as previews"),
    ("granularity", "how fine the clusters are: 0 the finest, 4 the coarsest"),
    ("score", "the distance from what was searched for: lower is closer"),
    ("max score", "of a caption search: keeps what scores below; lower is stricter"),
    ("min similarity", "of a semantic filter: keeps what is above; higher is stricter"),
    ("anchor", "the picture that the others are compared with"),
    ("upload", "an anchor from a file; it holds for one granularity"),
    ("filter", "what a medium must be besides; all filters hold together"),
    ("enrichment", "models run over a dataset: captions, labels, objects"),
    ("basket", "what is marked, kept per dataset, for an export"),
    ("job", "what takes time at the service; it goes on without this program"),
    ("seen 09:12", "the service does not say it any more; this is the last it said"),
];

/// Draws the help, scrolled.
pub(super) fn draw(screen: &mut DrawContext, area: Rect, help: &Help) {
    let mut inside = bordered(screen, area, Line::from(" Help "), true);
    if help.searching || !help.query.value().is_empty() {
        put(screen, inside, 0, &[(" / ", screen.theme.key)]);
        let line =
            Rect { x: inside.x + 3, width: inside.width.saturating_sub(4), height: 1, ..inside };
        file_picker::text_field(screen, line, &help.query, help.searching);
        inside = Rect { y: inside.y + 2, height: inside.height.saturating_sub(2), ..inside };
    }
    let lines = filter_sections(sections(screen), help.query.value());
    if lines.is_empty() {
        put(
            screen,
            inside,
            0,
            &[(" nothing here speaks of that; Esc shows everything", screen.theme.dim)],
        );
    }
    scrolled(screen, inside, &lines, help.scroll);
}

/// Lines of a text that is only read, from where it is scrolled to.
pub(super) fn scrolled(
    screen: &mut DrawContext,
    inside: Rect,
    lines: &[Line],
    scroll: ScrollState,
) {
    let last = lines.len().saturating_sub(usize::from(inside.height));
    for (row, line) in (0..inside.height).zip(lines.iter().skip(scroll.top.min(last))) {
        screen.buf.set_line(inside.x, inside.y + row, line, inside.width);
    }
}

/// A heading with what stands below it; each of these may take more than one line.
struct Section {
    heading: Line<'static>,
    entries: Vec<Vec<Line<'static>>>,
}

/// The lines that speak of what is searched for, under their headings.
fn filter_sections(sections: Vec<Section>, typed: &str) -> Vec<Line<'static>> {
    let typed = typed.to_lowercase();
    let speaks = |lines: &Vec<Line>| {
        lines.iter().any(|line| line.to_string().to_lowercase().contains(&typed))
    };
    let mut found = Vec::new();
    for Section { heading, entries } in sections {
        let entries: Vec<_> = entries.into_iter().filter(speaks).collect();
        if !entries.is_empty() {
            found.push(heading);
            found.extend(entries.into_iter().flatten());
            found.push(Line::default());
        }
    }
    found
}

fn sections(screen: &DrawContext) -> Vec<Section> {
    let theme = screen.theme;
    let app = screen.app;
    let [pane, _] = app.contexts();
    let keymap = &app.setup.keymap;
    let here = |action: &Action| !keymap.keys_of(&[pane], *action).is_empty();
    let heading = |words: String| Line::styled(format!(" {words}"), theme.accent);
    let mut sections = vec![Section {
        heading: heading(format!("In {}", app.focus.name())),
        entries: Action::ALL
            .iter()
            .filter(|action| here(action))
            .map(|&action| action_entry(screen, &[pane], action))
            .collect(),
    }];
    let all: Vec<KeyContext> = keymap.contexts().collect();
    sections.extend(ActionGroup::ALL.map(|group| {
        let actions = Action::ALL.iter().filter(|action| action.group() == group);
        Section {
            heading: heading(group.heading().to_owned()),
            entries: actions.map(|&action| action_entry(screen, &all, action)).collect(),
        }
    }));
    let line = |(word, meaning): &(&'static str, &'static str)| {
        vec![Line::from(vec![
            Span::styled(format!("   {word:<KEY_WIDTH$}"), theme.key),
            Span::styled(*meaning, theme.text),
        ])]
    };
    let mouse = [
        ("click", "selects; a second click opens"),
        ("right click", "everything that can be done there"),
        ("wheel", "moves"),
        ("Shift", "held, the terminal selects text as ever"),
    ];
    sections.push(Section {
        heading: heading("Mouse".to_owned()),
        entries: mouse.iter().map(line).collect(),
    });
    sections.push(Section {
        heading: heading("What do these words mean".to_owned()),
        entries: GLOSSARY.iter().map(line).collect(),
    });
    sections
}

/// An action with its keys in these contexts, and below it why it cannot be done now.
fn action_entry(
    screen: &DrawContext,
    contexts: &[KeyContext],
    action: Action,
) -> Vec<Line<'static>> {
    let (app, theme): (&App, _) = (screen.app, screen.theme);
    let mut keys = app.setup.keymap.keys_of(contexts, action);
    keys.dedup();
    let refusal = availability::unavailable_reason(app, action);
    let style = if refusal.is_some() { theme.dim } else { theme.text };
    let mut lines = vec![Line::from(vec![
        Span::styled(format!("   {:<KEY_WIDTH$}", keys.join("  ")), theme.key),
        Span::styled(action.help(), style),
    ])];
    let reason = refusal.map(|reason| format!("   {:<KEY_WIDTH$}not now: {reason}", ""));
    lines.extend(reason.map(|reason| Line::styled(reason, theme.dim)));
    lines
}
