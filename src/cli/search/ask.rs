//! From a question to its answer: the gate, the anchor, the pages, and what is told beside them.

use serde_json::Value;

use super::{
    Question, Ranking, anchor,
    answer::{self, Rows},
    keep,
    options::{Form, Options},
    pages::{Pages, Reach},
    picture,
    sheet::Sheet,
};
use crate::cli::{Connection, Context, Ended, Exit};
use tessera_model::{
    Applied, Dataset, EnrichmentModel, Failure, Mark, Operation, PastSearch, Query, Search, Status,
    basket::cluster_mark,
};
use tessera_wire::explore::read_page;

/// What was found, as far as it came.
pub struct Found {
    /// How far the pages are.
    pub pages: Pages,
    /// The rows of the answer, unless they are printed already.
    pub rows: Vec<Value>,
    clusters: usize,
    marks: Vec<Mark>,
    /// The pictures of `--show`.
    sheet: Option<Sheet>,
    /// The page that did not come, and why.
    pub missing: Option<(u32, Failure)>,
    /// Whether the service reads the max score the other way.
    defied: bool,
    /// What the service says beside the clusters of the first page.
    pub metadata: Value,
}

/// Searches, and answers.
///
/// # Errors
/// Whatever keeps the first page away.
pub async fn ask(
    context: &Context,
    connection: &Connection,
    question: Question,
) -> Result<Exit, Ended> {
    let Question { kind, ranking, filters, dataset, options, .. } = question;
    let sheet = options.form.show.then(|| Sheet::new(context)).transpose()?;
    let of_view = dataset.map(|id| id.to_string());
    let dataset = context.dataset(connection, of_view.as_deref()).await?;
    let before = match &options.mark {
        Some(name) => keep::marked_before(connection, name, &dataset)?,
        None => None,
    };
    let only_anchor = matches!(ranking, Ranking::Picture(_, true));
    let search = options.search(dataset.id, filters, &context.settings.search);
    let past = match ranking {
        Ranking::Ready(query) => {
            let search = Search { query, ..search };
            PastSearch { search, similar_to: None, file: None, region: None }
        }
        Ranking::Anchor(anchor) => anchor::again(context, connection, anchor, search, &options)?,
        Ranking::Picture(picture, _) => {
            context.allow(&dataset, Operation::VisualSearch, options.force)?;
            picture.register(&connection.client, &dataset, search).await?
        }
    };
    context.allow(&dataset, past.search.operation(), options.force)?;
    keep::in_history(context, connection, &past);
    if only_anchor {
        context.answer(&answer::anchor(&past))?;
        return Ok(Exit::Done);
    }
    let mut found = gather(context, connection, &dataset, &past, (&options, sheet)).await?;
    if let Some(name) = &options.save {
        keep::as_view(context, connection, name, &past)?;
    }
    let sheet = found.sheet.take();
    let asked = Asked { kind, dataset, past, options, before };
    let exit = conclude(context, connection, asked, found).await?;
    if let Some(sheet) = sheet {
        sheet.draw(context, connection).await?;
    }
    Ok(exit)
}

/// Fetches the pages. With `--jsonl` each is printed when it is there.
async fn gather(
    context: &Context,
    connection: &Connection,
    dataset: &Dataset,
    past: &PastSearch,
    (options, sheet): (&Options, Option<Sheet>),
) -> Result<Found, Ended> {
    let rows = options.form.rows();
    let scale = past.search.query.scale();
    let mut found = Found::new(Pages::new(past.search.clone(), options.extent), sheet);
    let mut progress = context.note.progress("search");
    while let Some(search) = found.pages.next().cloned() {
        let body = match connection.client.explore_raw(&search).await {
            Ok(body) => body,
            Err(failure) if found.pages.fetched == 0 => {
                return Err(match search.operation() {
                    Operation::VisualSearch => picture::refused(dataset, failure),
                    _ => failure.into(),
                });
            }
            Err(failure) => {
                found.missing = Some((search.page, failure));
                break;
            }
        };
        let Some(page) = read_page(&body) else {
            return Err(without_clusters(context, options, &body)?);
        };
        found.defied |= page.defies(&search);
        let clusters = found.pages.take(page);
        found.clusters += clusters.len();
        if let Some(sheet) = &mut found.sheet {
            sheet.take(&clusters);
        }
        if options.mark.is_some() {
            found.marks.extend(clusters.iter().map(|cluster| cluster_mark(cluster, &search)));
        }
        let new = rows.of(&clusters, scale, search.page, &body);
        if context.out.is_jsonl() {
            context.answer(&rows.alone(new))?;
            continue;
        }
        found.rows.extend(new);
        if found.metadata.is_null() {
            found.metadata = body.get("metadata").cloned().unwrap_or_default();
        }
        if found.pages.next().is_some() {
            let pages = found.pages.fetched;
            progress.percent(
                None,
                &format!("{} so far, from {pages} of the pages", clusters_in_words(found.clusters)),
            );
        }
    }
    Ok(found)
}

/// The service answers in another shape: nothing describes that of text searches (M68).
fn without_clusters(context: &Context, options: &Options, body: &Value) -> Result<Ended, Ended> {
    let sentence = "the answer of the service holds no `clusters`";
    if options.form.raw {
        context.answer(&answer::body(body))?;
        return Ok(Ended::new(Exit::Failed, format!("{sentence}: printed is what came")));
    }
    Ok(Ended::new(Exit::Failed, format!("{sentence}; --raw shows what it holds")))
}

/// A search that was answered.
struct Asked {
    kind: &'static str,
    dataset: Dataset,
    past: PastSearch,
    options: Options,
    /// Marks of the selection that this answer replaces.
    before: Option<usize>,
}

/// Keeps the marks, prints the answer, and tells what it does not say itself.
async fn conclude(
    context: &Context,
    connection: &Connection,
    asked: Asked,
    mut found: Found,
) -> Result<Exit, Ended> {
    let Asked { kind, dataset, past, options, before } = asked;
    if let Some(name) = &options.mark {
        let marks = std::mem::take(&mut found.marks);
        keep::as_selection(context, connection, name, &dataset, marks, before)?;
    }
    tell(context, &dataset, &past, &found);
    let exit = match (&found.missing, found.clusters) {
        (Some(_), _) => Exit::Partly,
        (None, 0) => {
            tell_empty(context, connection, &past).await;
            if options.fail_empty { Exit::Empty } else { Exit::Done }
        }
        (None, _) => Exit::Done,
    };
    if !context.out.is_jsonl() {
        context.answer(&options.form.rows().whole(kind, &past, found))?;
    }
    Ok(exit)
}

/// What the rows do not tell: never silent where something is left out.
fn tell(context: &Context, dataset: &Dataset, past: &PastSearch, found: &Found) {
    let note = context.note;
    let Pages { repeated, skipped, fetched, reach, .. } = found.pages;
    let clusters = clusters_in_words(found.clusters);
    if dataset.status == Status::PartialIndex {
        note.say(format!(
            "{}: new media are not in its clusters yet; searches may show them outside",
            dataset.name
        ));
    }
    if found.defied {
        note.warn("this service reads the max score the other way: it keeps scores above it");
    }
    if repeated > 0 {
        let repeated = clusters_in_words(repeated);
        note.say(format!("{repeated} came again on later pages and are left out"));
    }
    if skipped > 0 {
        note.warn(format!("{} could not be read and left out", clusters_in_words(skipped)));
    }
    match (&found.missing, reach) {
        (Some((page, failure)), _) => note.warn(format!(
            "page {page} did not come, so the answer ends after {clusters}: {failure}"
        )),
        (None, Reach::Most) => note.warn(format!(
            "stopped after {fetched} pages; go on with --page {}",
            past.search.page.saturating_add(fetched)
        )),
        (None, Reach::Enough) => {
            note.warn(format!("{clusters} shown; more may exist (--all gets them)"));
        }
        (None, Reach::Last | Reach::Next) => {}
    }
}

/// So many clusters, in words.
pub fn clusters_in_words(count: usize) -> String {
    if count == 1 { "1 cluster".to_owned() } else { format!("{count} clusters") }
}

/// Why nothing may have been found.
async fn tell_empty(context: &Context, connection: &Connection, past: &PastSearch) {
    context.note.say("nothing was found");
    if !matches!(past.search.query, Query::Caption { .. }) {
        return;
    }
    // Only a reason is looked for: without it the answer is as good.
    if let Ok(enrichment) = connection.client.enrichment(past.search.dataset).await
        && enrichment.of(EnrichmentModel::CaptionImages) == Applied::No
    {
        context.note.say("the dataset has no captions: CAPTION_IMAGES was not applied");
    }
}

impl Found {
    fn new(pages: Pages, sheet: Option<Sheet>) -> Self {
        Self {
            pages,
            rows: Vec::new(),
            clusters: 0,
            marks: Vec::new(),
            sheet,
            missing: None,
            defied: false,
            metadata: Value::Null,
        }
    }
}

impl Form {
    fn rows(self) -> Rows {
        match (self.flat, self.raw) {
            (true, _) => Rows::Previews,
            (false, true) => Rows::Raw,
            (false, false) => Rows::Clusters,
        }
    }
}
