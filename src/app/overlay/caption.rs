//! The line that asks for a caption search: what is meant, and the max score.

use tui_input::Input;

use crate::{
    app::{
        App, Level, Overlay,
        overlay::{Press, field::edit},
    },
    input::{Chord, Key},
};
use tessera_model::{Fraction, Page, Query, QueryText, Search};

/// A half-typed caption search.
#[derive(Clone, Debug, Default)]
pub struct CaptionLine {
    /// What is meant, as typed.
    pub text: Input,
    /// Scores at it and above are left out; as typed, empty for no bound.
    pub max_score: Input,
    /// Whether the max score takes the keys.
    pub in_max_score: bool,
}

impl CaptionLine {
    /// The line with the caption search that is on screen, to change it; empty without one.
    fn of(query: &Query) -> Self {
        match query {
            Query::Caption { text, max_score } => Self {
                text: text.as_str().into(),
                max_score: max_score
                    .map_or_else(String::new, |score| score.value().to_string())
                    .into(),
                in_max_score: false,
            },
            Query::Browse | Query::Similar(_) => Self::default(),
        }
    }

    /// Takes a key.
    pub fn key(&mut self, chord: Chord) -> Press {
        match chord.key {
            Key::Esc => return Press::Leave,
            Key::Enter => return Press::Accept,
            Key::Tab | Key::Up | Key::Down => self.in_max_score = !self.in_max_score,
            _ => edit(self.field(), chord),
        }
        Press::Stay
    }

    /// The field that takes the keys.
    pub fn field(&mut self) -> &mut Input {
        if self.in_max_score { &mut self.max_score } else { &mut self.text }
    }

    /// The max score that is typed, if any.
    ///
    /// # Errors
    /// It is no number from 0 to 1.
    pub fn bound(&self) -> Result<Option<Fraction>, &'static str> {
        let typed = self.max_score.value().trim();
        if typed.is_empty() {
            return Ok(None);
        }
        let number = typed.parse().ok().and_then(Fraction::new);
        number.map(Some).ok_or("a number from 0 to 1")
    }

    /// What is asked for.
    fn query(&self) -> Result<Query, String> {
        let max_score =
            self.bound().map_err(|reason| format!("the max score must be {reason}, or empty"))?;
        let text = QueryText::new(self.text.value())
            .map_err(|invalid| format!("{}: type what a caption should say", invalid.reason))?;
        Ok(Query::Caption { text, max_score })
    }
}

impl App {
    /// Opens the line.
    pub(in crate::app) fn ask_for_caption(&mut self) {
        if let Some(view) = self.view() {
            self.overlay = Some(Overlay::Caption(CaptionLine::of(&view.search.query)));
        }
    }

    /// Searches by the caption that was typed; the filters that are on stay on.
    pub(in crate::app) fn search_by_caption(&mut self, line: CaptionLine) {
        let Some(search) = self.view().map(|view| view.search.clone()) else { return };
        match line.query() {
            Ok(query) => self.open_search(Search { query, page: 0, ..search }),
            Err(reason) => {
                self.notices.add(self.now, Level::Warning, reason);
                self.overlay = Some(Overlay::Caption(line));
            }
        }
    }

    /// Says once which direction of the max score this service means (M56).
    pub(in crate::app) fn check_direction(&mut self, search: &Search, page: &Page) {
        if !self.query.direction_told && page.defies(search) {
            self.query.direction_told = true;
            let text = "this service reads the max score the other way: it keeps scores above it";
            self.notices.add(self.now, Level::Warning, text);
        }
    }

    /// How many clusters of the loaded page have a score below `bound`, and how many have one;
    /// `None` unless the page is ranked by captions, whose scores are the ones that are bounded.
    #[must_use]
    pub fn below(&self, bound: Fraction) -> Option<(usize, usize)> {
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
