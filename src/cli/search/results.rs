//! The results of a search so far, and what they omit.

use serde_json::Value;

use super::{
    contact_sheet::ContactSheet,
    page_cursor::{PageCursor, PageState},
};
use crate::cli::Context;
use tessera_model::{
    Cluster, Dataset, Failure, Page, Search, SelectionEntry, Status, text::count_with_noun,
};

pub struct SearchResults {
    pub pages: PageCursor,
    /// The rows, unless they are already printed.
    pub rows: Vec<Value>,
    pub clusters: usize,
    pub selected: Vec<SelectionEntry>,
    pub contact_sheet: Option<ContactSheet>,
    /// What `--plot` shows.
    pub plotted: Option<Vec<Cluster>>,
    /// The number of the page that failed, and why.
    pub missing_page: Option<(u32, Failure)>,
    /// Whether the service interprets the maximum score inversely.
    max_score_inverted: bool,
    is_bounded: bool,
    /// What the service sent beside the clusters of the first page.
    pub metadata: Value,
}

impl SearchResults {
    pub fn new(pages: PageCursor, contact_sheet: Option<ContactSheet>, plots: bool) -> Self {
        Self {
            pages,
            rows: Vec::new(),
            clusters: 0,
            selected: Vec::new(),
            contact_sheet,
            plotted: plots.then(Vec::new),
            missing_page: None,
            max_score_inverted: false,
            is_bounded: false,
            metadata: Value::Null,
        }
    }

    pub fn accept(&mut self, page: Page, search: &Search) -> Vec<Cluster> {
        self.max_score_inverted |= page.violates_max_score(search);
        self.is_bounded |= page.is_bounded;
        let clusters = self.pages.accept(page);
        self.clusters += clusters.len();
        if let Some(sheet) = &mut self.contact_sheet {
            sheet.add_clusters(&clusters);
        }
        if let Some(plotted) = &mut self.plotted {
            plotted.extend_from_slice(&clusters);
        }
        clusters
    }

    pub fn add_rows(&mut self, rows: Vec<Value>, body: &Value) {
        self.rows.extend(rows);
        if self.metadata.is_null() {
            self.metadata = body.get("metadata").cloned().unwrap_or_default();
        }
    }

    pub fn progress(&self) -> String {
        format!("{} so far, from {} pages", count_clusters(self.clusters), self.pages.fetched)
    }

    pub fn report(&self, context: &Context, dataset: &Dataset, first_page: u32) {
        let messages = context.messages;
        let PageCursor { repeated, skipped, fetched, state, .. } = self.pages;
        let clusters = count_clusters(self.clusters);
        if dataset.status == Status::PartialIndex {
            messages.info(format!(
                "{}: new media are not clustered yet; searches may show them separately",
                dataset.name
            ));
        }
        if self.is_bounded {
            messages.info(format!(
                "{} is so large that the service searched only the nearest media; filters that leave fewer media \
                 make the search exact",
                dataset.name
            ));
        }
        if self.max_score_inverted {
            messages.warn(
                "this service interprets the maximum score inversely: it keeps scores above it",
            );
        }
        if repeated > 0 {
            let repeated = count_clusters(repeated);
            messages.info(format!("skipped {repeated} repeated on later pages"));
        }
        if skipped > 0 {
            let skipped = count_clusters(skipped);
            messages.warn(format!("skipped {skipped} that could not be read"));
        }
        match (&self.missing_page, state) {
            (Some((page, failure)), _) => messages.warn(format!(
                "page {page} failed, so the results end after {clusters}: {failure}"
            )),
            (None, PageState::PageLimitReached) => messages.warn(format!(
                "stopped after {fetched} pages; continue with --page {}",
                first_page.saturating_add(fetched)
            )),
            (None, PageState::LimitReached) => {
                messages.warn(format!("{clusters} shown; more may exist (use --all)"));
            }
            (None, PageState::Last | PageState::Next) => {}
        }
    }
}

pub fn count_clusters(count: usize) -> String {
    count_with_noun(count, "cluster", "clusters")
}
