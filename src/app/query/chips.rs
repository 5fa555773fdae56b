//! Chips: what is asked, in a line above the results. The same filters as in the builder, so a
//! click on one opens its row there.

use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use crate::app::{
    App, Pane,
    query::{Key, Row},
};
use tessera_model::{Query, SafeText};

/// How a chip stands to the results on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The results obey it.
    On,
    /// It is off: kept, not sent.
    Off,
    /// It is on in the builder and not run yet.
    Waiting,
    /// It is no condition, but belongs to what is asked.
    Beside,
}

impl Standing {
    /// The mark that tells it without colour.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::On => "✓",
            Self::Off => "○",
            Self::Waiting => "…",
            Self::Beside => "·",
        }
    }
}

/// One chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    /// How it stands.
    pub standing: Standing,
    /// What it says.
    pub text: SafeText,
    /// The row of the builder that it is, if it is one.
    pub row: Option<usize>,
}

impl Chip {
    /// Cells it takes with its frame: ` ✓ text `.
    #[must_use]
    pub fn width(&self) -> u16 {
        u16::try_from(self.text.width() + self.standing.mark().width() + 3).unwrap_or(u16::MAX)
    }
}

/// Longest text of a chip, in characters.
const LONGEST: usize = 32;

/// The chips of the open view; none while the whole dataset is on screen and nothing is drafted.
#[must_use]
pub fn chips(app: &App) -> Vec<Chip> {
    let Some(view) = app.view() else { return Vec::new() };
    let draft = app.draft();
    let chip =
        |standing, text: &str, row| Chip { standing, text: SafeText::new(text, LONGEST), row };
    let mut chips = Vec::new();
    if let Query::Caption { text, max_score } = &view.search.query {
        let bound = max_score.map_or_else(String::new, |score| format!(" <{}", score.value()));
        let text = SafeText::new(text.as_str(), LONGEST - bound.len());
        chips.push(chip(Standing::On, &format!("“{text}”{bound}"), None));
    }
    for filter in &view.search.filters {
        let row = draft.rows.iter().position(|row| row.on && row.filter().as_ref() == Ok(filter));
        chips.push(chip(Standing::On, &brief(app, &Row::of(filter)), row));
    }
    for (place, row) in draft.rows.iter().enumerate() {
        let shown = chips.iter().any(|chip| chip.row == Some(place));
        let standing = if row.on { Standing::Waiting } else { Standing::Off };
        if !shown {
            chips.push(chip(standing, &brief(app, row), Some(place)));
        }
    }
    if !chips.is_empty() {
        let entity = view.search.entity.word().to_lowercase();
        chips.push(chip(Standing::Beside, &entity, None));
        let level = format!("granularity {}", view.search.granularity.level());
        chips.push(chip(Standing::Beside, &level, None));
    }
    chips
}

/// Where each chip is drawn in the line; those that do not fit have no place.
pub fn places(chips: &[Chip], line: Rect) -> impl Iterator<Item = Rect> {
    let mut x = line.x;
    chips.iter().map_while(move |chip| {
        let place = Rect { x, width: chip.width(), ..line };
        x = x.saturating_add(chip.width());
        (place.right() <= line.right()).then_some(place)
    })
}

/// A row in a few words.
fn brief(app: &App, row: &Row) -> String {
    let first = match row.key {
        Key::Labels | Key::Tags => {
            let name = |entry: &String| match app.values().tag_name(entry) {
                Some(name) if row.key == Key::Tags => name.to_string(),
                _ => SafeText::name(entry).to_string(),
            };
            row.entries.iter().map(name).collect::<Vec<_>>().join(", ")
        }
        _ => SafeText::name(row.typed(0)).to_string(),
    };
    let word = match (row.key, row.word()) {
        (Key::Text, "fts") => "says ",
        (Key::Text, _) => "means ",
        (Key::Labels, "is_not" | "not_one_of") => "not ",
        (Key::Tags, _) => "tag ",
        (Key::Issues, "out") => "no ",
        (Key::Labels | Key::Issues, _) => "",
        (Key::Duplicates, _) => "duplicates ≥",
        (Key::Uniqueness, _) => "uniqueness >",
        (Key::Similarity, _) => "like ",
    };
    format!("{word}{first}")
}

impl App {
    /// A click on the line of chips edits the one that is there.
    pub(in crate::app) fn click_chip(&mut self, line: Rect, column: u16) {
        let chips = chips(self);
        let hit = places(&chips, line).position(|place| place.contains((column, line.y).into()));
        self.focus = Pane::Query;
        if let (Some(row), Some(draft)) = (hit.and_then(|hit| chips[hit].row), self.draft_mut()) {
            draft.point_at(row);
        }
    }
}
