//! Builds the sentences of the accessible interface. The most important part of a sentence comes
//! first.

use std::slice;

use tessera_interface::{
    app::{
        App, Job, Pane, Remote, Results, Tile, View,
        basket::SelectionState,
        jobs::rows,
        overlay::duplicate_groups::{DuplicateGroups, ReviewGroup},
        pane::distinction,
        query::{Chip, ChipState, JsonEditor, QueryDraft},
        results_header::browsed_text,
    },
    ui,
};
use tessera_model::{
    Cluster, Dataset, EntityType, Preview, Query, Relevance, ScoreScale, SelectionEntry, Status,
    text::{count_with_noun, format_bytes, grouped_with_noun},
};

use crate::accessible::announcements;

pub(super) fn dataset(app: &App, dataset: &Dataset) -> String {
    let media = dataset.media_text();
    let error = dataset.error.as_ref().map(|error| format!("error: {error}"));
    let distinction = distinction(app, dataset).map(|it| format!(" in {it}")).unwrap_or_default();
    let name = format!("Dataset {}{distinction}", dataset.name);
    let status = if dataset.folder_missing {
        "its folder is missing or empty".to_owned()
    } else {
        status(dataset)
    };
    join_phrases([Some(name), Some(status), media, error])
}

pub(super) fn status(dataset: &Dataset) -> String {
    match dataset.progress {
        Some(percent) if dataset.status.is_busy() => {
            format!("{} {percent} percent", dataset.status.as_str())
        }
        _ => dataset.status.as_str().to_owned(),
    }
}

pub(super) fn search(app: &App, view: &View) -> String {
    let search = &view.search;
    let about = match (&search.query, &view.computed) {
        (_, Some(computed)) => computed.label.to_string(),
        (Query::Browse, None) => browsed_text(search).to_owned(),
        (Query::Similar(_), None) => {
            let name = view.similar_to.as_ref().map_or("a picture", |name| name.as_str());
            format!("similar to {name}")
        }
        (Query::Caption { text, .. }, None) => format!("captions matching {}", text.as_str()),
    };
    let score = match search.query {
        Query::Browse => "",
        Query::Similar(_) | Query::Caption { .. } => " A lower score is closer.",
    };
    let (number, level) = (u64::from(search.page) + 1, search.granularity.level());
    let entity = match search.entity {
        EntityType::Objects => ", objects",
        EntityType::Images => "",
    };
    let tabs = match (app.results().tabs().map(|tabs| tabs.active() + 1), app.results().tab_count())
    {
        (Some(active), count) if count > 1 => format!("tab {active} of {count}, "),
        _ => String::new(),
    };
    format!(
        "{tabs}{about}: page {number}, granularity {level}{entity}, {}.{score}",
        found(app.results())
    )
}

/// Describes how many clusters or members are listed.
fn found(results: &Results) -> String {
    if results.page().is_none() {
        let failed = results.remote_page().and_then(Remote::failure).is_some();
        return if failed { "not loaded" } else { "loading" }.to_owned();
    }
    let count = results.tiles().len();
    if results.shows_members() {
        return format!("{} of one cluster", count_with_noun(count, "member", "members"));
    }
    let clusters = count_with_noun(count, "cluster", "clusters");
    if results.may_have_next_page() { clusters + ", and there may be more" } else { clusters }
}

/// Explains why a dataset that is not READY may have no results yet.
pub(super) fn unavailable_dataset(app: &App) -> Option<String> {
    let dataset = app.dataset().filter(|dataset| dataset.status != Status::Ready)?;
    let wait = if dataset.status.is_busy() { "; type wait to wait for its end" } else { "" };
    Some(format!("{} is {}{wait}", dataset.name, dataset.status.as_str()))
}

/// Describes the range that the user has started to select, up to the cursor.
pub(super) fn open_range(app: &App) -> Option<String> {
    let is_here = app.panes().focus == Pane::Results;
    let range = app.baskets().selected_tile_range(app.results()).filter(|_| is_here)?;
    let (first, last) = (range.start() + 1, range.end() + 1);
    Some(format!("range from {first} to {last}; select-range selects it"))
}

pub(super) fn cluster(app: &App, number: usize, tile: &Tile) -> String {
    let cluster = tile.cluster;
    join_phrases([
        Some(format!("Cluster c{number:02}")),
        selection(app.baskets().tile_selection_state(tile, app.results())),
        marks(app, cluster, None),
        cluster.relevance.as_ref().map(|relevance| score(relevance, app.results().score_scale())),
        cluster.size().map(|members| count_with_noun(members, "member", "members")),
        cluster.contents_with_frames(),
        cluster.previews.first().map(|first| match first.frame {
            Some(_) => format!("first frame {}", first.title()),
            None => format!("first file {}", first.file_name),
        }),
        cluster.caption().map(|caption| format!("caption: {caption}")),
        (tile.folded > 0).then(|| format!("with {} of the same score", tile.folded)),
    ])
}

pub(super) fn member(app: &App, tile: &Tile) -> String {
    let preview = tile.preview;
    join_phrases([
        Some("Picture".to_owned()),
        preview.map(|preview| preview.title().to_string()),
        selection(app.baskets().tile_selection_state(tile, app.results())),
        preview.and_then(|preview| marks(app, tile.cluster, Some(preview))),
        preview
            .and_then(|it| it.relevance.as_ref())
            .map(|it| score(it, app.results().score_scale())),
        preview.and_then(|it| it.caption.as_ref()).map(|caption| format!("caption: {caption}")),
    ])
}

/// Describes a picture: its name and size, whether it is selected, and its tags.
pub(super) fn picture(app: &App, preview: &Preview) -> String {
    let size = app.service_data().viewed_size(preview);
    let member = app.results().loaded_member(preview.media);
    let selected = member.and_then(|(cluster, member)| {
        selection(app.baskets().selection_state(cluster, Some(member), app.results()))
    });
    join_phrases([
        Some(preview.title().to_string()),
        size.map(|(width, height)| format!("{width} by {height} pixels")),
        selected,
        member.and_then(|(cluster, member)| marks(app, cluster, Some(member))),
    ])
}

/// Describes whether a cluster, or a picture in it, is picked or rejected, its rating, and its other tags.
fn marks(app: &App, cluster: &Cluster, picture: Option<&Preview>) -> Option<String> {
    let marks = ui::tag_marks(app, cluster, picture).into_iter().map(|(mark, is_whole)| {
        if is_whole { mark.words() } else { format!("some {}", mark.words()) }
    });
    let marks: Vec<String> = marks.collect();
    (!marks.is_empty()).then(|| marks.join(", "))
}

/// Describes a job. Times are omitted, because each of them would be a change.
pub(super) fn job(app: &App, job: &Job) -> String {
    let state = if app.login().waits_for_login(job) { ", needs login" } else { "" };
    format!("{}{state}, {}", announcements::job_text(job), rows::summary(app.login(), job))
}

/// Describes an entry of the selection.
pub(super) fn entry(app: &App, entry: &SelectionEntry) -> String {
    let cluster = entry.cluster();
    let members = cluster.map(|cluster| match cluster.member_count {
        Some(members) => {
            let at_least = if cluster.count_is_minimum { "at least " } else { "" };
            format!("{at_least}{}", grouped_with_noun(members, "member", "members"))
        }
        None => "size unknown".to_owned(),
    });
    let excluded = cluster.map_or(0, |cluster| cluster.excluded.len());
    let place = match (cluster, app.results().tile_of_entry(entry)) {
        (Some(cluster), _) if cluster.stale => "selected before the dataset was reindexed",
        (_, Some(_)) => "on this page",
        (_, None) => "not on this page",
    };
    join_phrases([
        Some(entry.name.to_string()),
        members.or_else(|| Some("1 media item".to_owned())),
        (excluded > 0).then(|| format!("{excluded} excluded")),
        (entry.entity == EntityType::Objects).then(|| "objects".to_owned()),
        Some(place.to_owned()),
    ])
}

/// Describes a group of near-duplicates, and what was decided about it.
pub(super) fn duplicates(found: &DuplicateGroups, group: &ReviewGroup) -> String {
    let totals = found.totals(slice::from_ref(group));
    let images = count_with_noun(group.images.len(), "image", "images");
    let freed = format_bytes(totals.freed_bytes);
    let decided = match (found.is_decided(group), found.is_undecided(group)) {
        (true, _) => ", decided",
        (_, true) => ", undecided, nothing goes",
        _ => "",
    };
    format!("{}, {images}, keeps {}, frees {freed}{decided}", group.name(), totals.kept)
}

/// Describes a field for text, with its position among the fields, and what a typed line does with it.
pub(super) fn text_field(
    label: &str,
    text: &str,
    (index, count): (usize, usize),
    note: &str,
) -> String {
    let text = if text.is_empty() { "empty" } else { text };
    let note = if note.is_empty() { String::new() } else { format!("; {note}") };
    let place = format!("field {} of {count}", index + 1);
    format!("{label}: {text}, {place}{note}; a typed line replaces its text")
}

/// Describes the field or the line of JSON that is edited in the query.
pub(super) fn query_field(draft: &QueryDraft) -> Option<String> {
    if let Some(JsonEditor { text, .. }) = &draft.json {
        let (line, count) = (text.lines().get(text.line)?, text.lines().len());
        let (number, column) = (text.line + 1, text.column + 1);
        let place = format!("a typed line is inserted at character {column}");
        return Some(format!("JSON, line {number} of {count}: {line}; {place}"));
    }
    let row = draft.selected_row()?;
    let fields: Vec<_> = row.fields().collect();
    let index = draft.field?;
    let (part, input) = fields.get(index)?;
    let label = if part.label.is_empty() { row.kind.keyword() } else { part.label };
    Some(text_field(label, input.value(), (index, fields.len()), ""))
}

/// Describes a part of the search, and whether it applies to the results.
pub(super) fn chip(chip: &Chip) -> String {
    let state = match chip.state {
        ChipState::On | ChipState::Context => "",
        ChipState::Off => " (off)",
        ChipState::NotRun => " (not run yet)",
    };
    format!("{}{state}", chip.text)
}

pub(super) fn score(relevance: &Relevance, scale: ScoreScale) -> String {
    let band = relevance.band(scale).map_or_else(String::new, |band| format!(" {}", band.label()));
    format!("score {:.2}{band}", relevance.score)
}

fn selection(state: SelectionState) -> Option<String> {
    Some(match state {
        SelectionState::Unselected => return None,
        SelectionState::Whole => "selected".to_owned(),
        SelectionState::Items(items) => {
            format!("{} selected", count_with_noun(items, "item", "items"))
        }
        SelectionState::Partial(excluded) => format!("selected, {excluded} excluded"),
        SelectionState::Stale => "selected before the dataset was reindexed".to_owned(),
    })
}

pub(super) fn join_phrases<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
