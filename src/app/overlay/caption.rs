//! The line that asks for a caption search: what is meant, and the max score.

use tui_input::Input;

use crate::{
    app::{
        App, Level, Overlay,
        overlay::{KeyResult, text_field::edit},
    },
    input::{Chord, Key},
};
use tessera_model::{Fraction, Page, Query, QueryText, Search};

/// A half-typed caption search.
#[derive(Clone, Debug, Default)]
pub struct CaptionSearchForm {
    /// What is meant, as typed.
    pub caption: Input,
    /// Scores at it and above are left out; as typed, empty for no bound.
    pub max_score: Input,
    /// Whether the max score takes the keys.
    pub max_score_focused: bool,
}

impl CaptionSearchForm {
    /// The line with the caption search that is on screen, to change it; empty without one.
    fn from_query(query: &Query) -> Self {
        match query {
            Query::Caption { text, max_score } => Self {
                caption: text.as_str().into(),
                max_score: max_score
                    .map_or_else(String::new, |score| score.value().to_string())
                    .into(),
                max_score_focused: false,
            },
            Query::Browse | Query::Similar(_) => Self::default(),
        }
    }

    /// Takes a key.
    pub fn handle_key(&mut self, chord: Chord) -> KeyResult {
        match chord.key {
            Key::Esc => return KeyResult::Close,
            Key::Enter => return KeyResult::Accept,
            Key::Tab | Key::Up | Key::Down => self.max_score_focused = !self.max_score_focused,
            _ => edit(self.focused_input(), chord),
        }
        KeyResult::Stay
    }

    /// The field that takes the keys.
    pub fn focused_input(&mut self) -> &mut Input {
        if self.max_score_focused { &mut self.max_score } else { &mut self.caption }
    }

    /// The max score that is typed, if any.
    ///
    /// # Errors
    /// It is no number from 0 to 1.
    pub fn parse_max_score(&self) -> Result<Option<Fraction>, &'static str> {
        let typed = self.max_score.value().trim();
        if typed.is_empty() {
            return Ok(None);
        }
        let number = typed.parse().ok().and_then(Fraction::new);
        number.map(Some).ok_or("a number from 0 to 1")
    }

    /// What is asked for.
    fn to_query(&self) -> Result<Query, String> {
        let max_score = self
            .parse_max_score()
            .map_err(|reason| format!("the max score must be {reason}, or empty"))?;
        let text = QueryText::new(self.caption.value())
            .map_err(|invalid| format!("{}: type what a caption should say", invalid.reason))?;
        Ok(Query::Caption { text, max_score })
    }
}

impl App {
    /// Opens the line.
    pub(in crate::app) fn open_caption_search(&mut self) {
        if let Some(view) = self.view() {
            self.overlay =
                Some(Overlay::CaptionSearch(CaptionSearchForm::from_query(&view.search.query)));
        }
    }

    /// Searches by the caption that was typed; the filters that are on stay on.
    pub(in crate::app) fn search_by_caption(&mut self, line: CaptionSearchForm) {
        let Some(search) = self.view().map(|view| view.search.clone()) else { return };
        match line.to_query() {
            Ok(query) => self.open_search(Search { query, page: 0, ..search }),
            Err(reason) => {
                self.notify(Level::Warning, reason);
                self.overlay = Some(Overlay::CaptionSearch(line));
            }
        }
    }

    /// Says once which direction of the max score this service means.
    pub(in crate::app) fn warn_if_max_score_inverted(&mut self, search: &Search, page: &Page) {
        if !self.query.direction_warned && page.violates_max_score(search) {
            self.query.direction_warned = true;
            let text = "this service reads the max score the other way: it keeps scores above it";
            self.notify(Level::Warning, text);
        }
    }

    /// How many clusters of the loaded page have a score below `bound`, and how many have one;
    /// `None` unless the page is ranked by captions, whose scores are the ones that are bounded.
    #[must_use]
    pub fn count_below(&self, bound: Fraction) -> Option<(usize, usize)> {
        let Query::Caption { .. } = self.view()?.search.query else { return None };
        let scores = self.page()?.clusters.iter().filter_map(|cluster| cluster.relevance.as_ref());
        let (mut below, mut all) = (0, 0);
        for relevance in scores {
            below += usize::from(relevance.score < bound.value());
            all += 1;
        }
        Some((below, all))
    }
}
