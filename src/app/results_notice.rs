//! What the program waits for, or what has failed: it takes the place of the query above the tiles.

use ratatui::layout::Rect;
use tessera_model::text::format_duration;

use crate::{
    app::{App, Remote},
    drawing::wrapped_rows,
};

impl App {
    pub fn results_notice(&self) -> Option<String> {
        if let Some(waited) = self.wait_time() {
            let stop = if waited.as_secs() >= 5 { "   Ctrl-C cancel" } else { "" };
            let target = match self.pending_search() {
                _ if self.results.registering.is_some() => "the query image".to_owned(),
                Some(search) => format!("page {}", u64::from(search.page) + 1),
                None => "a response".to_owned(),
            };
            return Some(format!("waiting for {target} since {} s{stop}", waited.as_secs()));
        }
        if self.results.registering.is_some() {
            return Some("uploading the query image".to_owned());
        }
        if self.login.rejection.is_some() {
            return Some("as last loaded: the service rejects the login (L)".to_owned());
        }
        self.pending_page_notice().or_else(|| self.stale_page_notice())
    }

    /// The rows of the notice, or of the query: a failure is not cut while tiles keep most of the rows.
    pub fn results_notice_rows(&self, inside: Rect) -> u16 {
        let Some(text) = self.results_notice() else { return 1 };
        wrapped_rows(&text, inside.width.saturating_sub(1)).min((inside.height / 2).max(1))
    }

    /// What keeps the requested page from the screen.
    fn pending_page_notice(&self) -> Option<String> {
        let search = self.pending_search()?;
        let number = u64::from(search.page) + 1;
        let failure = self.results.pages.get(&search).and_then(Remote::failure);
        Some(match failure {
            Some(failure) => format!("page {number}: r tries again, Esc stays here: {failure}"),
            None => format!("loading page {number}   Esc stay here"),
        })
    }

    fn stale_page_notice(&self) -> Option<String> {
        let page = self.remote_page().filter(|page| page.value().is_some())?;
        let age = format_duration(self.outbox.now.saturating_sub(page.updated_at()));
        page.failure().map(|failure| format!("loaded {age} ago; r tries again: {failure}"))
    }
}
