//! Shows the form of a caption search, with its text and its max score. The form says how many of the loaded clusters
//! the max score keeps.

use tessera_model::{EnrichmentModel, Fraction, QueryText};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        QueryBuilder,
        overlay::fields::{self, edit},
        query::missing_enrichment,
    },
    drawing::{FormOptions, split_columns},
};

#[derive(Clone, Debug, Default)]
pub struct CaptionSearchForm {
    pub caption: Input,
    /// The score below which results are kept. An empty text sets no limit.
    pub max_score: Input,
    pub max_score_focused: bool,
}

impl CaptionSearchForm {
    fn from_query(query: &Query) -> Self {
        let Query::Caption { text, max_score } = query else { return Self::default() };
        let max_score = max_score.map_or_else(String::new, |score| score.value().to_string());
        let (caption, max_score) = (text.as_str().into(), max_score.into());
        Self { caption, max_score, max_score_focused: false }
    }

    fn focused_input(&mut self) -> &mut Input {
        if self.max_score_focused { &mut self.max_score } else { &mut self.caption }
    }

    pub fn parse_max_score(&self) -> Result<Option<Fraction>, &'static str> {
        let typed = self.max_score.value().trim();
        if typed.is_empty() {
            return Ok(None);
        }
        let number = typed.parse().ok().and_then(Fraction::new);
        number.map(Some).ok_or("a number from 0 to 1")
    }

    fn to_query(&self) -> Result<Query, String> {
        let max_score = self
            .parse_max_score()
            .map_err(|reason| format!("the max score must be {reason}, or empty"))?;
        let text = QueryText::new(self.caption.value())
            .map_err(|invalid| format!("{}: type what a caption should say", invalid.reason))?;
        Ok(Query::Caption { text, max_score })
    }

    pub(in crate::app) fn open(overlays: &mut Overlays, results: &Results) {
        if let Some(view) = results.view() {
            overlays.open(CaptionSearchForm::from_query(&view.search.query));
        }
    }
}

impl Dialog for CaptionSearchForm {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        fields::handle_form_key(&mut self.max_score_focused, &[false, true], chord).unwrap_or_else(
            || {
                edit(self.focused_input(), chord);
                KeyResult::Stay
            },
        )
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (72, if screen.0 < 72 { 9 } else { 6 })
    }

    fn hints(&self) -> &'static str {
        "Tab max score   Enter search   Esc close"
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        Some(self.focused_input())
    }

    fn select_item(&mut self, index: usize, _: &App) {
        self.max_score_focused = index > 0;
    }

    /// Searches by the caption. Enabled filters stay enabled.
    fn accept(self: Box<Self>, app: &mut App) {
        let Some(search) = app.results.view().map(|view| view.search.clone()) else { return };
        match self.to_query() {
            Ok(query) => app.open_search(Search { query, order: None, page: 0, ..search }),
            Err(reason) => {
                app.outbox.notify(Level::Warning, reason);
                app.overlays.open(*self);
            }
        }
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, "Search by caption");
        let theme = ctx.theme;
        let (text, style) = match self.parse_max_score() {
            Err(reason) => (format!("! the max score must be {reason}"), theme.failure),
            Ok(bound) => match bound.and_then(|bound| ctx.app.results().count_below(bound)) {
                Some((below, all)) => {
                    (format!("{below} of {all} on this page are below"), theme.text)
                }
                None => (enrichment_warning(ctx), theme.attention),
            },
        };
        let focused = usize::from(self.max_score_focused);
        ctx.form(inside, &FormOptions::new(FIELD_COLUMN, &[], focused), |rows| {
            rows.input("caption", &self.caption, "");
            let max_score = rows.field(&Span::styled("max score", theme.text));
            rows.clickable(max_score, false);
            let (number, _) = split_columns(max_score, NUMBER_WIDTH);
            rows.ctx.text_field(number, &self.max_score, self.max_score_focused);
            let hint = "lower is stricter; empty for no limit";
            rows.note_beside(max_score, NUMBER_WIDTH, hint, theme.dim);
            rows.note(&text, style);
        });
    }
}

impl QueryBuilder {
    /// Warns once when the service finds scores above the max score.
    pub(in crate::app) fn warn_if_max_score_violated(
        &mut self,
        search: &Search,
        page: &Page,
        outbox: &mut Outbox,
    ) {
        let violation = page.max_score_violation(search).filter(|_| !self.max_score_warned);
        if let Some(violation) = violation {
            self.max_score_warned = true;
            outbox.notify(Level::Warning, violation.text());
        }
    }
}

impl Results {
    /// Counts the clusters of the loaded page that have a score below `bound`, and the clusters that have a score.
    /// Returns `None` unless the page is ranked by captions, because the max score applies only to those scores.
    pub fn count_below(&self, bound: Fraction) -> Option<(usize, usize)> {
        let Query::Caption { .. } = self.view()?.search.query else { return None };
        let clusters = self.page()?.clusters.iter();
        let scores = clusters.filter_map(|cluster| Some(cluster.relevance.as_ref()?.score));
        let below = scores.clone().filter(|score| *score < bound.value()).count();
        Some((below, scores.count()))
    }
}

const FIELD_COLUMN: u16 = 14;
const NUMBER_WIDTH: u16 = 8;

/// Warns if the dataset is known to have few captions or none. The search is allowed nevertheless.
fn enrichment_warning(ctx: &DrawContext) -> String {
    let (results, data) = (&ctx.app.results, &ctx.app.service_data);
    let coverage = results.view().and_then(|view| {
        let dataset = view.search.dataset;
        data.enrichment(dataset)?.caption_coverage(data.dataset(dataset)?.media_count())
    });
    if let Some(coverage) = coverage {
        let is_rare = coverage.covered * 2 < coverage.all;
        return if is_rare { format!("? {}", coverage.captions_text()) } else { String::new() };
    }
    missing_enrichment(ctx.app, EnrichmentModel::ANY_FOR_CAPTIONS)
        .map_or_else(String::new, |missing| format!("? {missing}"))
}
