//! Turns search results into documents, the rows of clusters and previews as they are printed, and draws the first
//! pictures below them.

use futures_util::{StreamExt as _, stream};
use tessera_model::{
    Cluster, Fraction, HistoryEntry, Link, MaxScoreViolation, Page, Query, Relevance,
    RelevanceBand, ScoreScale, SelectionEntry, Status,
};
use tessera_picture::Crop;
use tessera_wire::{
    explore::ClusterBody,
    preview::{BoundingBoxBody, LinkForm, PreviewBody},
    query_image::AnchorBody,
    vql,
};

use crate::cli::prelude::*;
use crate::{
    cli::{
        TerminalInfo,
        image::{DrawOptions, NamedPicture, draw_pictures, terminal_info},
        search::{
            found_media::FoundMedia,
            pages::{PageCursor, PageState},
            request::DisplayOptions,
        },
    },
    subprocess::is_called_by_assistant,
};

/// The number of columns for clusters and previews without frames. The columns of frames come after
/// these, because scripts read columns by position.
const COLUMNS_WITHOUT_FRAMES: usize = 6;

pub fn anchor_document(entry: &HistoryEntry) -> Document {
    let mut fields = query_json(entry);
    fields["dataset_id"] = json!(entry.search.dataset);
    Document::new("tessera.anchor/1", fields)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    Clusters,
    /// One row per cluster, with the fields as the service sent them.
    Raw,
    /// One row per media item.
    Media,
}

impl RowFormat {
    pub fn new(options: DisplayOptions) -> Self {
        match (options.is_flat(), options.raw) {
            (true, _) => Self::Media,
            (false, true) => Self::Raw,
            (false, false) => Self::Clusters,
        }
    }

    /// Returns the schema of the documents with these rows.
    pub fn schema(self) -> &'static str {
        match self {
            Self::Clusters | Self::Raw => "tessera.clusters/1",
            Self::Media => "tessera.previews/1",
        }
    }

    pub fn rows_document(self, rows: Vec<Value>) -> Document {
        self.document(json!({}), rows)
    }

    pub fn search_document(
        self,
        kind: &str,
        entry: &HistoryEntry,
        results: SearchResults,
    ) -> Document {
        let is_last = results.pages.state == PageState::Last;
        let mut fields = json!({
            "kind": kind,
            "dataset_id": entry.search.dataset,
            "query": query_json(entry),
            "page_number": entry.search.page,
            "last_page": is_last,
            "truncated": !is_last || results.missing_media > 0,
            "_pages": results.pages.fetched,
            "_repeated": results.pages.repeated,
            "_skipped": results.pages.skipped,
            "_missing_page": results.missing_page.map(|(page, _)| page),
        });
        if self == Self::Raw {
            fields["metadata"] = results.metadata;
        }
        if self == Self::Media {
            fields["_missing"] = results.missing_media.into();
        }
        self.document(fields, results.rows)
    }

    fn document(self, mut fields: Value, rows: Vec<Value>) -> Document {
        let has_frames = rows.iter().any(|row| {
            let preview = row.pointer("/previews/0").unwrap_or(row);
            preview["frame_timestamp"].is_number()
        });
        let list = if self == Self::Media { "previews" } else { "clusters" };
        fields[list] = Value::Array(rows);
        let document = Document::new(self.schema(), fields);
        if has_frames { document } else { document.with_first_columns(COLUMNS_WITHOUT_FRAMES) }
    }

    /// Returns the rows for media items.
    pub fn media_rows(found: &[FoundMedia], links: LinkForm, scale: ScoreScale) -> Vec<Value> {
        found.iter().map(|found| media_row(found, links, scale)).collect()
    }

    /// Returns the rows for the clusters of a page. `body` is the page as the service sent it.
    pub fn rows(
        self,
        clusters: &[Cluster],
        links: LinkForm,
        scale: ScoreScale,
        page: u32,
        body: &Value,
    ) -> Vec<Value> {
        let row = |cluster: &Cluster| {
            let fields = match self {
                Self::Raw => cluster_as_sent(cluster, body),
                Self::Clusters | Self::Media => None,
            };
            let fields = fields.unwrap_or_else(|| json!(ClusterBody::new(cluster, links)));
            with_own_fields(fields, cluster, scale, page)
        };
        clusters.iter().map(row).collect()
    }
}

/// Returns the query in the API's terms. Only the granularity differs, because the API expresses it
/// as one of three thresholds.
fn query_json(entry: &HistoryEntry) -> Value {
    let search = &entry.search;
    let mut query = match &search.query {
        Query::Browse => json!({}),
        Query::Similar(anchor) => {
            let mut query = json!(AnchorBody::from(*anchor));
            query["bounding_box"] = json!(entry.region.map(BoundingBoxBody::new));
            query["file"] = json!(entry.file.as_deref().map(Path::to_string_lossy));
            query
        }
        Query::Caption { text, max_score } => json!({
            "caption": text.as_str(),
            "textual_similarity_threshold": max_score.map(Fraction::value),
        }),
    };
    query["entity_type"] = search.entity.as_str().into();
    query["granularity"] = search.granularity.level().into();
    query["vql"] = vql::to_json(&search.filters);
    if let Some(order) = search.order {
        query["sort"] = order.to_string().into();
    }
    query
}

fn cluster_as_sent(cluster: &Cluster, body: &Value) -> Option<Value> {
    let has_id =
        |row: &&Value| row["cluster_id"].as_str().is_some_and(|id| id.parse() == Ok(cluster.id));
    body["clusters"].as_array()?.iter().find(has_id).cloned()
}

fn with_own_fields(mut fields: Value, cluster: &Cluster, scale: ScoreScale, page: u32) -> Value {
    fields["_band"] = band(cluster.relevance.as_ref(), scale);
    fields["_members"] = json!(cluster.size());
    fields["_page"] = page.into();
    fields
}

fn media_row(found: &FoundMedia, links: LinkForm, scale: ScoreScale) -> Value {
    let mut row = json!(PreviewBody::new(&found.preview, links));
    row["_band"] = band(found.preview.relevance.as_ref(), scale);
    row["_cluster_id"] = json!(found.cluster);
    row["_page"] = found.page.into();
    row
}

fn band(relevance: Option<&Relevance>, scale: ScoreScale) -> Value {
    relevance.and_then(|relevance| relevance.band(scale)).map(RelevanceBand::label).into()
}

pub struct SearchResults {
    pub pages: PageCursor,
    /// The rows, or none if they are already printed.
    pub rows: Vec<Value>,
    pub clusters: usize,
    /// The number of media items that were found, if the rows are media items.
    pub media: Option<usize>,
    /// The number of matching media items that the service counted but did not list.
    pub missing_media: u64,
    /// Whether something that was found is not among the rows, which was reported.
    pub is_incomplete: bool,
    pub selected: Vec<SelectionEntry>,
    pub contact_sheet: Option<ContactSheet>,
    /// The clusters that `--plot` shows.
    pub plotted: Option<Vec<Cluster>>,
    /// The number of the page that failed, and the reason.
    pub missing_page: Option<(u32, Failure)>,
    max_score_violation: Option<MaxScoreViolation>,
    is_bounded: bool,
    /// What the service sent in addition to the clusters of the first page.
    pub metadata: Value,
}

impl SearchResults {
    pub fn new(pages: PageCursor, contact_sheet: Option<ContactSheet>, plots: bool) -> Self {
        Self {
            pages,
            rows: Vec::new(),
            clusters: 0,
            media: None,
            missing_media: 0,
            is_incomplete: false,
            selected: Vec::new(),
            contact_sheet,
            plotted: plots.then(Vec::new),
            missing_page: None,
            max_score_violation: None,
            is_bounded: false,
            metadata: Value::Null,
        }
    }

    pub fn accept(&mut self, page: Page, search: &Search) -> Vec<Cluster> {
        self.max_score_violation = self.max_score_violation.or(page.max_score_violation(search));
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
        format!("{} so far, from {} pages", self.count(), self.pages.fetched)
    }

    /// Counts the rows.
    fn count(&self) -> String {
        match self.media {
            Some(media) => count_with_noun(media, "media item", "media items"),
            None => count_clusters(self.clusters),
        }
    }

    pub fn report(&self, context: &Context, dataset: &Dataset, first_page: u32, has_limit: bool) {
        let messages = context.messages;
        let PageCursor { repeated, skipped, fetched, state, .. } = self.pages;
        let found = self.count();
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
        if let Some(violation) = self.max_score_violation {
            messages.warn(violation.text());
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
            (Some((page, failure)), _) => messages
                .warn(format!("page {page} failed, so the results end after {found}: {failure}")),
            (None, PageState::PageLimitReached) => messages.warn(format!(
                "stopped after {fetched} pages; continue with --page {}",
                first_page.saturating_add(fetched)
            )),
            // The server of an assistant has its own limit, and says how to get more.
            (None, PageState::LimitReached) if is_called_by_assistant() => {}
            (None, PageState::LimitReached) => {
                let option = if has_limit { "raise --limit" } else { "use --all" };
                messages.warn(format!("{found} shown; more may exist ({option})"));
            }
            (None, PageState::Last | PageState::Next) => {}
        }
    }
}

pub fn count_clusters(count: usize) -> String {
    count_with_noun(count, "cluster", "clusters")
}

const MAX_PICTURES: usize = 24;

const PICTURES_PER_ROW: u16 = 4;

const CONCURRENT_DOWNLOADS: usize = 6;

const MAX_THUMBNAIL_BYTES: usize = 16 << 20;

pub struct ContactSheet {
    terminal: TerminalInfo,
    pictures: Vec<(SafeText, Link)>,
}

impl ContactSheet {
    /// Creates a contact sheet. Fails early if there is nothing to draw on, or if programs read the
    /// output.
    pub fn new(context: &Context) -> CliResult<Self> {
        if context.out.is_machine() {
            return Err(CliError::usage("--show draws pictures; remove --json, --jsonl and --jq"));
        }
        Ok(Self { terminal: terminal_info(context)?, pictures: Vec::new() })
    }

    pub fn add_clusters(&mut self, clusters: &[Cluster]) {
        let first = |cluster: &Cluster| {
            let preview = cluster.previews.first()?;
            Some((preview.title(), preview.thumbnail.clone()?))
        };
        let room = MAX_PICTURES.saturating_sub(self.pictures.len());
        self.pictures.extend(clusters.iter().filter_map(first).take(room));
    }

    /// Downloads and draws the pictures. A failed download is reported and skipped.
    pub async fn draw(self, connection: &Connection<'_>) -> CliResult<()> {
        let context = connection.context;
        let fetch = async |(name, link): (SafeText, Link)| {
            let fetched = connection.client.fetch_picture(&link, MAX_THUMBNAIL_BYTES).await;
            fetched.map(|bytes| NamedPicture { bytes: bytes.into(), crop: Crop::Full, name })
        };
        let fetched = stream::iter(self.pictures).map(fetch).buffered(CONCURRENT_DOWNLOADS);
        let (mut tiles, mut missing) = (Vec::new(), None);
        for tile in fetched.collect::<Vec<_>>().await {
            match tile {
                Ok(tile) => tiles.push(tile),
                Err(failure) => missing = missing.or(Some(failure)),
            }
        }
        if let Some(failure) = missing {
            context.messages.warn(format!("some pictures are missing: {failure}"));
        }
        let options = DrawOptions { across: PICTURES_PER_ROW, width: None, by_viuer: false };
        if let Some(damaged) = draw_pictures(context, &self.terminal, &tiles, options)? {
            context.messages.warn(&damaged.message);
        }
        Ok(())
    }
}
