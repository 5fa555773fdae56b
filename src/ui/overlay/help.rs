//! The help: all actions with their bound keys and why they are unavailable, and a glossary.

use ratatui::{
    layout::Rect,
    text::{Line, Span},
};

use crate::{
    app::{App, availability, overlay::Help},
    input::{Action, KeyContext, action::ActionGroup},
    ui::{
        DrawContext,
        overlay::Draw,
        widget::{bordered, put, scrolled_lines, text_field},
    },
};

const KEY_WIDTH: usize = 16;

/// Terms on screen.
const GLOSSARY: [(&str, &str); 17] = [
    ("READY", "everything is allowed except a reindex"),
    ("PARTIAL INDEX", "added media are not clustered yet; run a reindex"),
    ("READ ONLY", "media are being added; no changes until that is done"),
    ("INDEXING", "the clusters are being computed"),
    ("ERROR", "the last operation failed; the record (i) may contain the reason"),
    ("cluster", "similar media; up to nine of them are shown as previews"),
    ("granularity", "how fine the clusters are: 0 the finest, 4 the coarsest"),
    ("score", "the distance from the query: lower is closer"),
    ("max score", "of a caption search: keeps lower scores; lower is stricter"),
    ("min similarity", "of a semantic filter: keeps higher similarities; higher is stricter"),
    ("anchor", "the picture that results are compared with"),
    ("upload", "an anchor from a file; valid for one granularity"),
    ("filter", "a condition on media items; all enabled filters must match"),
    ("enrichment", "models run over a dataset: captions, labels, objects"),
    ("basket", "the selection of a dataset, saved until you clear it"),
    ("job", "a long operation of the service; it continues when you quit"),
    ("seen 09:12", "last value; the service no longer reports one"),
];

impl Draw for Help {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let mut inside = bordered(ctx, area, Line::from(" Help "), true);
        if self.searching || !self.query.value().is_empty() {
            put(ctx, inside, 0, &[(" / ", ctx.theme.key)]);
            let line = Rect {
                x: inside.x + 3,
                width: inside.width.saturating_sub(4),
                height: 1,
                ..inside
            };
            text_field(ctx, line, &self.query, self.searching);
            inside = Rect { y: inside.y + 2, height: inside.height.saturating_sub(2), ..inside };
        }
        let lines = filter_sections(sections(ctx), self.query.value());
        if lines.is_empty() {
            put(ctx, inside, 0, &[(" no match; Esc shows everything", ctx.theme.dim)]);
        }
        scrolled_lines(ctx, inside, &lines, self.scroll);
    }
}

/// A heading with entries of one or more lines.
struct Section {
    heading: Line<'static>,
    entries: Vec<Vec<Line<'static>>>,
}

/// The entries that contain the query, under their headings.
fn filter_sections(sections: Vec<Section>, typed: &str) -> Vec<Line<'static>> {
    let typed = typed.to_lowercase();
    let matches = |lines: &Vec<Line>| {
        lines.iter().any(|line| line.to_string().to_lowercase().contains(&typed))
    };
    let mut found = Vec::new();
    for Section { heading, entries } in sections {
        let entries: Vec<_> = entries.into_iter().filter(matches).collect();
        if !entries.is_empty() {
            found.push(heading);
            found.extend(entries.into_iter().flatten());
            found.push(Line::default());
        }
    }
    found
}

fn sections(ctx: &DrawContext) -> Vec<Section> {
    let theme = ctx.theme;
    let app = ctx.app;
    let [pane, _] = app.contexts();
    let keymap = &app.setup.keymap;
    let here = |action: &Action| !keymap.keys_of(&[pane], *action).is_empty();
    let heading = |words: String| Line::styled(format!(" {words}"), theme.accent);
    let mut sections = vec![Section {
        heading: heading(format!("In {}", app.focus.name())),
        entries: Action::ALL
            .iter()
            .filter(|action| here(action))
            .map(|&action| action_entry(ctx, &[pane], action))
            .collect(),
    }];
    let all: Vec<KeyContext> = keymap.contexts().collect();
    sections.extend(ActionGroup::ALL.map(|group| {
        let actions = Action::ALL.iter().filter(|action| action.group() == group);
        Section {
            heading: heading(group.heading().to_owned()),
            entries: actions.map(|&action| action_entry(ctx, &all, action)).collect(),
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
        ("right click", "opens the action menu"),
        ("wheel", "scrolls"),
        ("Shift", "hold to select text in the terminal"),
    ];
    sections.push(Section {
        heading: heading("Mouse".to_owned()),
        entries: mouse.iter().map(line).collect(),
    });
    sections.push(Section {
        heading: heading("Glossary".to_owned()),
        entries: GLOSSARY.iter().map(line).collect(),
    });
    sections
}

/// An action with its keys in these contexts, and why it is unavailable.
fn action_entry(ctx: &DrawContext, contexts: &[KeyContext], action: Action) -> Vec<Line<'static>> {
    let (app, theme): (&App, _) = (ctx.app, ctx.theme);
    let mut keys = app.setup.keymap.keys_of(contexts, action);
    keys.dedup();
    let refusal = availability::unavailable_reason(app, action);
    let style = if refusal.is_some() { theme.dim } else { theme.text };
    let mut lines = vec![Line::from(vec![
        Span::styled(format!("   {:<KEY_WIDTH$}", keys.join("  ")), theme.key),
        Span::styled(action.help(), style),
    ])];
    let reason = refusal.map(|reason| format!("   {:<KEY_WIDTH$}unavailable: {reason}", ""));
    lines.extend(reason.map(|reason| Line::styled(reason, theme.dim)));
    lines
}
