//! Computes the chips that show the search in a line above the results. A click on a chip opens its
//! row in the query builder.

use tessera_config::text_enum;
use tessera_model::Filter;
use unicode_width::UnicodeWidthStr;

use crate::app::prelude::*;
use crate::app::{
    query::{FilterKind, FilterRow},
    view::{name_scan::NameScan, search_title},
};

text_enum! {
    pub enum ChipState:
        /// Returns the symbol that shows the state without color.
        symbol
    {
        /// The filter applies to the results.
        On = "✓",
        /// The filter is disabled, so it is kept but not sent.
        Off = "○",
        /// The filter is enabled in the query builder, but the results on screen are from another search.
        NotRun = "…",
        /// A part of the search that is not a filter.
        Context = "·",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    pub state: ChipState,
    pub text: SafeText,
    pub row: Option<usize>,
}

impl Chip {
    /// Returns the columns of the chip with its frame, as in ` ✓ text `.
    pub fn width(&self) -> u16 {
        u16::try_from(self.text.width() + self.state.symbol().width() + 3).unwrap_or(u16::MAX)
    }
}

const MAX_CHIP_CHARS: usize = 32;

/// Returns the chips of the open view: what is on screen, then the filters of the query builder that are not.
pub fn chips(app: &App) -> Vec<Chip> {
    let Some(view) = app.results.view() else { return Vec::new() };
    let draft = app.query.draft(&app.results);
    let mut chips = vec![];
    if let Some(computed) = &view.computed {
        let scan = computed.scan.as_ref().map(NameScan::subject);
        let text = scan.unwrap_or_else(|| computed.label.to_string());
        chips.push(chip(ChipState::Context, &text, None));
    } else {
        chips.extend(subject_chip(view));
        chips.extend(view.search.filters.iter().map(|filter| {
            let is_of = |row: &FilterRow| row.enabled && row.filter().as_ref() == Ok(filter);
            let row = draft.rows.iter().position(is_of);
            chip(ChipState::On, &filter_summary(app, filter), row)
        }));
    }
    let entity = view.search.entity.as_str().to_lowercase();
    chips.push(chip(ChipState::Context, &entity, None));
    let level = format!("granularity {}", view.search.granularity.level());
    chips.push(chip(ChipState::Context, &level, None));
    for (index, row) in draft.rows.iter().enumerate() {
        if chips.iter().any(|chip| chip.row == Some(index)) {
            continue;
        }
        let summary = row_summary(app, row);
        chips.push(if row.enabled {
            chip(ChipState::NotRun, &format!("draft: {summary}"), Some(index))
        } else {
            chip(ChipState::Off, &summary, Some(index))
        });
    }
    chips
}

fn chip(state: ChipState, text: &str, row: Option<usize>) -> Chip {
    Chip { state, text: SafeText::new(text, MAX_CHIP_CHARS), row }
}

/// Returns the chip of what ranks the results. The whole dataset is named only if nothing restricts it.
fn subject_chip(view: &View) -> Option<Chip> {
    match &view.search.query {
        Query::Caption { text, max_score } => {
            let bound = max_score.map_or_else(String::new, |score| format!(" <{}", score.value()));
            let text = SafeText::new(text.as_str(), MAX_CHIP_CHARS - bound.len());
            Some(chip(ChipState::On, &format!("“{text}”{bound}"), None))
        }
        Query::Similar(_) => {
            let title = search_title(&view.search.query, view.similar_to.as_ref(), 0);
            Some(chip(ChipState::On, title.as_str(), None))
        }
        Query::Browse if view.search.filters.is_empty() => {
            Some(chip(ChipState::Context, "whole dataset", None))
        }
        Query::Browse => None,
    }
}

/// Returns the areas of the chips in the line. Chips that do not fit have no area.
pub fn chip_areas(chips: &[Chip], line: Rect) -> impl Iterator<Item = Rect> {
    let mut x = line.x;
    chips.iter().map_while(move |chip| {
        let area = Rect { x, width: chip.width(), ..line };
        x = x.saturating_add(chip.width());
        (area.right() <= line.right()).then_some(area)
    })
}

/// Describes a filter in a few words.
pub(in crate::app) fn filter_summary(app: &App, filter: &Filter) -> String {
    row_summary(app, &FilterRow::from_filter(filter))
}

fn row_summary(app: &App, row: &FilterRow) -> String {
    let summary = |filter: &Filter| filter_summary(app, filter);
    match (row.kind, row.filter()) {
        (FilterKind::Not, Ok(Filter::Not(negated))) => {
            return format!("not {}", summary(negated.filter()));
        }
        (FilterKind::AnyOf, Ok(Filter::AnyOf(filters))) => {
            return filters.as_slice().iter().map(summary).collect::<Vec<_>>().join(" or ");
        }
        _ => {}
    }
    let first = match row.kind {
        FilterKind::Labels | FilterKind::Tags => {
            let name = |entry: &String| match app.query.known_values(&app.results).tag_name(entry) {
                Some(name) if row.kind == FilterKind::Tags => name.to_string(),
                _ => SafeText::name(entry).to_string(),
            };
            row.entries.iter().map(name).collect::<Vec<_>>().join(", ")
        }
        _ => SafeText::name(row.text(0)).to_string(),
    };
    let prefix = match (row.kind, row.choice_keyword()) {
        (FilterKind::Text, "fts") => "contains ",
        (FilterKind::Text, _) => "matching ",
        (FilterKind::Labels, "is_not" | "not_one_of") => "not label ",
        (FilterKind::Tags, _) => "tag ",
        (FilterKind::Issues, "out") => "no ",
        (FilterKind::Labels, _) => "label ",
        (FilterKind::Issues, _) => "",
        (FilterKind::Duplicates, _) => "duplicates ≥",
        (FilterKind::Uniqueness, _) => "uniqueness >",
        (FilterKind::Similarity, _) => "similar to ",
        (FilterKind::File(_) | FilterKind::Column | FilterKind::AnyOf | FilterKind::Not, _) => {
            return property_summary(row);
        }
    };
    format!("{prefix}{first}")
}

/// Describes a filter that only the local deployment knows: `width ≥ 1000`, `not path train`.
fn property_summary(row: &FilterRow) -> String {
    let (subject, values) = match row.kind {
        FilterKind::Column => (row.text(1), row.text(0)),
        kind => (kind.keyword(), row.text(0)),
    };
    let entries = row.entries.iter().map(String::as_str);
    let values: Vec<&str> = entries.chain([values]).filter(|value| !value.is_empty()).collect();
    let (negation, operator) = match row.choice_keyword() {
        "is_not" | "not_one_of" => ("not ", ""),
        "contains" => ("", "contains "),
        "at_least" => ("", "≥ "),
        "at_most" => ("", "≤ "),
        _ => ("", ""),
    };
    SafeText::name(&format!("{negation}{subject} {operator}{}", values.join(", "))).to_string()
}
