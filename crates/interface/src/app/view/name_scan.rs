//! Searches all names of a dataset on a service that has no such search: every page is loaded, and the clusters whose
//! names contain the text are collected in a view. The pages are loaded while that view is on screen.

use std::collections::HashSet;

use tessera_model::{
    ClusterId, search_form,
    text::{capitalize, count_with_noun, group_digits, grouped_with_noun},
};

use crate::app::prelude::*;
use crate::app::view::sort_filter::has_name;

/// A search of all names, and how far it is.
#[derive(Clone, Debug, PartialEq)]
pub struct NameScan {
    text: String,
    /// The page that is looked at next.
    next_page: Search,
    state: ScanState,
    known: HashSet<ClusterId>,
    /// How many members the service has not listed. Their names are unknown.
    unlisted: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::app) enum ScanState {
    Running,
    Stopped,
    Failed(SafeText),
    Complete,
}

impl NameScan {
    /// Begins with the first page of a search.
    pub(in crate::app) fn new(search: Search, text: &str) -> Self {
        Self {
            text: text.trim().to_owned(),
            next_page: search,
            state: ScanState::Running,
            known: HashSet::new(),
            unlisted: 0,
        }
    }

    /// Returns the page to look at, while the scan runs.
    pub(in crate::app) fn page_to_scan(&self) -> Option<&Search> {
        self.is_running().then_some(&self.next_page)
    }

    /// Ends a running scan. Returns whether it ran.
    pub(in crate::app) fn end(&mut self, state: ScanState) -> bool {
        let is_running = self.is_running();
        if is_running {
            self.state = state;
        }
        is_running
    }

    /// Continues after a stop or a failure.
    pub(in crate::app) fn resume(&mut self) {
        if self.state != ScanState::Complete {
            self.state = ScanState::Running;
        }
    }

    /// Looks at a page, and adds the clusters with the text in a name.
    pub(in crate::app) fn look_at(&mut self, mut page: Page, found: &mut Page) {
        page.drop_repeated(&mut self.known);
        let is_last = !page.may_have_next();
        found.skipped += page.skipped;
        let needle = search_form(&self.text);
        for mut cluster in page.clusters {
            let listed = cluster.previews.len() as u64;
            let unlisted = cluster.size().unwrap_or(listed).saturating_sub(listed);
            self.unlisted = self.unlisted.saturating_add(unlisted);
            if put_named_first(&mut cluster, &needle) {
                found.clusters.push(cluster);
            }
        }
        self.next_page.page += 1;
        if is_last {
            self.state = ScanState::Complete;
        }
    }

    pub fn is_running(&self) -> bool {
        self.state == ScanState::Running
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what is searched for: `“cat” in names`.
    pub(in crate::app) fn subject(&self) -> String {
        format!("“{}” in names", SafeText::name(&self.text))
    }

    pub(in crate::app) fn label(&self, found: usize) -> SafeText {
        let clusters = count_with_noun(found, "cluster", "clusters");
        SafeText::detail(&format!("{}: {clusters}, {}", self.subject(), self.pages_text()))
    }

    /// Says on which pages the scan has looked, and how it continues.
    fn pages_text(&self) -> String {
        let looked_at = match self.next_page.page {
            0 => "no page looked at".to_owned(),
            1 => "only the first page looked at".to_owned(),
            count => {
                let count = group_digits(count.into());
                format!("only the first {count} pages looked at")
            }
        };
        match (&self.state, self.next_page.page) {
            (ScanState::Running, count) => {
                format!("{} looked at so far", grouped_with_noun(count.into(), "page", "pages"))
            }
            (ScanState::Stopped, _) => format!("{looked_at}; r continues"),
            (ScanState::Failed(why), _) => format!("{looked_at}; r continues: {why}"),
            (ScanState::Complete, 1) => "the only page looked at".to_owned(),
            (ScanState::Complete, count) => {
                format!("all {} pages looked at", group_digits(count.into()))
            }
        }
    }

    /// Describes the running scan, with how it is stopped.
    pub fn progress(&self) -> String {
        let pages = grouped_with_noun(self.next_page.page.into(), "page", "pages");
        format!("searching {}: {pages} looked at   Esc stop", self.subject())
    }

    /// Says why nothing is on screen.
    pub fn empty_lines(&self) -> Vec<String> {
        let name = SafeText::name(&self.text);
        let mut lines = vec![match self.state {
            ScanState::Running => format!("Searching for files called “{name}”."),
            _ => format!("No file that was looked at is called “{name}”."),
        }];
        let clusters = grouped_with_noun(self.known.len() as u64, "cluster", "clusters");
        lines.push(capitalize(&format!("{}, with {clusters}.", self.pages_text())));
        if self.unlisted > 0 {
            let members = grouped_with_noun(self.unlisted, "member", "members");
            lines.push(format!(
                "The service does not list the names of {members} of large clusters."
            ));
        }
        lines.push(if self.is_running() { "Esc stops" } else { "Esc goes back" }.to_owned());
        lines
    }
}

/// Puts the previews with the text in their names first, because the first one is on the tile. Returns whether there
/// are any.
fn put_named_first(cluster: &mut Cluster, needle: &str) -> bool {
    cluster.previews.sort_by_key(|preview| !has_name(preview, needle));
    cluster.previews.first().is_some_and(|preview| has_name(preview, needle))
}
