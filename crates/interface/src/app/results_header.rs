//! Computes the lines above the tiles, which say what the program waits for, what has failed, or what ranks the
//! results, with the legend of the scores.

use tessera_model::text::format_duration;
use unicode_width::UnicodeWidthStr;

use crate::app::{prelude::*, waiting::results_retry};
use crate::drawing::wrapped_rows;

pub fn results_notice(app: &App) -> Option<String> {
    if let Some(waited) = app.results.wait_time(&app.outbox) {
        let stop = if waited.as_secs() >= 5 { "   Ctrl-C cancel" } else { "" };
        let target = match app.results.pending_search() {
            _ if app.results.registering.is_some() => "the query image".to_owned(),
            Some(search) => format!("page {}", u64::from(search.page) + 1),
            None => "a response".to_owned(),
        };
        let retry = results_retry(app);
        let retry = retry.map_or_else(String::new, |retry| format!(": {retry}"));
        return Some(format!("waiting for {target} since {} s{retry}{stop}", waited.as_secs()));
    }
    let view = app.results.view();
    if let Some(scan) = view.and_then(View::scan).filter(|scan| scan.is_running()) {
        return Some(scan.progress());
    }
    if app.results.registering.is_some() {
        return Some("uploading the query image".to_owned());
    }
    if app.login.rejection.is_some() {
        return Some("as last loaded: the service rejects the login (L)".to_owned());
    }
    app.results.pending_page_notice().or_else(|| app.results.stale_page_notice(app.outbox.now))
}

/// Returns the rows of the notice, or 1 if there is none. The notice takes as many rows as its text needs, up to half
/// of the area.
pub fn results_notice_rows(app: &App, inside: Rect) -> u16 {
    let Some(text) = results_notice(app) else { return 1 };
    wrapped_rows(&text, inside.width.saturating_sub(1)).min((inside.height / 2).max(1))
}

impl Results {
    /// Says why the requested page is not on screen yet.
    fn pending_page_notice(&self) -> Option<String> {
        let search = self.pending_search()?;
        let number = u64::from(search.page) + 1;
        let failure = self.pages.get(&search).and_then(Remote::failure);
        Some(match failure {
            Some(failure) if failure.may_succeed_later() => {
                format!("page {number}: r tries again, Esc stays here: {failure}")
            }
            Some(failure) => format!("page {number}: Esc stays here: {failure}"),
            None => format!("loading page {number}   Esc stay here"),
        })
    }

    fn stale_page_notice(&self, now: Uptime) -> Option<String> {
        let page = self.remote_page().filter(|page| page.value().is_some())?;
        let age = format_duration(now.saturating_sub(page.updated_at()));
        page.failure().map(|failure| {
            let again = if failure.may_succeed_later() { "; r tries again" } else { "" };
            format!("loaded {age} ago{again}: {failure}")
        })
    }
}

/// The numbers of result rows from which the legend may have a line of its own, and from which it may have several.
const MIN_ROWS: (u16, u16) = (16, 24);
/// The number of blank columns between the query and the legend.
pub const LEGEND_GAP: usize = 3;

/// A ranking query in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankingText<'a> {
    /// What the results are compared with: its kind, and its name.
    pub subject: (&'static str, &'a str),
    pub legend: &'static str,
}

/// Describes what a search without a query finds.
pub fn browsed_text(search: &Search) -> &'static str {
    if search.filters.is_empty() { "the whole dataset" } else { "all that matches the filters" }
}

impl Results {
    /// Describes what ranks the results. Returns `None` if the results are not ranked.
    pub fn ranking_text(&self) -> Option<RankingText<'_>> {
        let view = self.view().filter(|view| view.computed.is_none())?;
        let subject = match (&view.search.query, &view.similar_to) {
            (Query::Similar(_), Some(name)) => ("similar to ", name.as_str()),
            (Query::Similar(_), None) => ("similar to ", "a picture"),
            (Query::Caption { text, .. }, _) => ("captions matching ", text.as_str()),
            (Query::Browse, _) => return None,
        };
        Some(RankingText { subject, legend: view.search.query.score_scale().legend() })
    }

    fn legend_rows(&self, inside: Rect) -> u16 {
        let Some(text) = self.ranking_text() else { return 0 };
        let (kind, name) = text.subject;
        let used = kind.width() + name.width() + LEGEND_GAP + text.legend.width();
        if used < usize::from(inside.width) {
            return 0;
        }
        match wrapped_rows(text.legend, inside.width.saturating_sub(1)) {
            1 if inside.height >= MIN_ROWS.0 => 1,
            rows if inside.height >= MIN_ROWS.1 => rows,
            _ => 0,
        }
    }
}

/// Returns the number of rows above the tiles. There are further rows for a long notice, and for the legend if a single
/// row is too short for both.
pub fn results_header_rows(app: &App, inside: Rect) -> u16 {
    results_notice_rows(app, inside) + app.results.legend_rows(inside)
}
