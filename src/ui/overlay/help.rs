//! The help: all actions with their bound keys and why they are unavailable, and a glossary.

use ratatui::{
    layout::Rect,
    text::{Line, Span},
};

use super::Draw;
use crate::{
    app::{availability, overlay::Help},
    input::{Action, KeyContext, action::ActionGroup},
    ui::{
        DrawContext,
        widget::{below, field_area},
    },
};

const KEY_WIDTH: usize = 16;

const MOUSE: [(&str, &str); 4] = [
    ("click", "selects; a second click opens"),
    ("right click", "opens the action menu"),
    ("wheel", "scrolls"),
    ("Shift", "hold to select text in the terminal"),
];

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
        let mut inside = ctx.dialog(area, "Help");
        if self.searching || !self.query.value().is_empty() {
            ctx.put(inside, 0, &[(" / ", ctx.theme.key)]);
            ctx.text_field(field_area(inside, 0, 3), &self.query, self.searching);
            inside = below(inside, 2);
        }
        let lines = filter_sections(sections(ctx), self.query.value());
        if lines.is_empty() {
            ctx.put(inside, 0, &[(" no match; Esc shows everything", ctx.theme.dim)]);
        }
        ctx.scrolled_lines(inside, &lines, self.scroll);
    }
}

struct Section {
    heading: Line<'static>,
    entries: Vec<Vec<Line<'static>>>,
}

fn filter_sections(sections: Vec<Section>, query: &str) -> Vec<Line<'static>> {
    let query = query.to_lowercase();
    let matches = |lines: &Vec<Line>| {
        lines.iter().any(|line| line.to_string().to_lowercase().contains(&query))
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

fn sections(ctx: &DrawContext) -> Vec<Section> {
    let theme = ctx.theme;
    let [pane, _] = ctx.app.contexts();
    let keymap = &ctx.app.setup.keymap;
    let section = |heading: &str, entries| Section {
        heading: Line::styled(format!(" {heading}"), theme.accent),
        entries,
    };
    let actions = |contexts: &[KeyContext], belongs: &dyn Fn(Action) -> bool| {
        let actions = Action::ALL.iter().copied().filter(|action| belongs(*action));
        actions.map(|action| action_entry(ctx, contexts, action)).collect()
    };
    let definitions = |definitions: &[(&str, &'static str)]| {
        let line = |(term, meaning): &(&str, &'static str)| {
            let term = Span::styled(format!("   {term:<KEY_WIDTH$}"), theme.key);
            vec![Line::from(vec![term, Span::styled(*meaning, theme.text)])]
        };
        definitions.iter().map(line).collect()
    };
    let in_pane = |action| !keymap.keys_of(&[pane], action).is_empty();
    let name = format!("In {}", ctx.app.focus.name());
    let mut sections = vec![section(&name, actions(&[pane], &in_pane))];
    let all: Vec<KeyContext> = keymap.contexts().collect();
    for group in ActionGroup::ALL {
        let entries = actions(&all, &|action| action.group() == group);
        sections.push(section(group.heading(), entries));
    }
    sections.push(section("Mouse", definitions(&MOUSE)));
    sections.push(section("Glossary", definitions(&GLOSSARY)));
    sections
}

fn action_entry(ctx: &DrawContext, contexts: &[KeyContext], action: Action) -> Vec<Line<'static>> {
    let (app, theme) = (ctx.app, ctx.theme);
    let mut keys = app.setup.keymap.keys_of(contexts, action);
    keys.dedup();
    let reason = availability::unavailable_reason(app, action);
    let style = if reason.is_some() { theme.dim } else { theme.text };
    let mut lines = vec![Line::from(vec![
        Span::styled(format!("   {:<KEY_WIDTH$}", keys.join("  ")), theme.key),
        Span::styled(action.help(), style),
    ])];
    lines.extend(reason.map(|reason| {
        Line::styled(format!("   {:<KEY_WIDTH$}unavailable: {reason}", ""), theme.dim)
    }));
    lines
}
