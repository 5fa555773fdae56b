//! What the client has read, as lines of text: `-` for what a response does not say.

use std::fmt::Display;

use tessera_model::{
    Cluster, Dataset, DatasetList, ExportTask, Facet, Link, MediaMap, Overview, Page, Preview,
    Relevance, SafeText, ScoreKind, VideoFrame,
};

fn shown(value: Option<impl Display>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

fn list(names: &[SafeText]) -> String {
    names.iter().map(SafeText::as_str).collect::<Vec<_>>().join(", ")
}

fn score(relevance: Option<&Relevance>) -> String {
    shown(relevance.map(|Relevance { score, kind, .. }| match kind {
        ScoreKind::CosineDistance => format!("{score} cosine_distance"),
        ScoreKind::Other(kind) => format!("{score} {kind}"),
    }))
}

pub(crate) fn dataset_line(dataset: &Dataset) -> String {
    let legacy = if dataset.status_is_legacy { " (legacy)" } else { "" };
    let missing = if dataset.folder_missing { ", folder missing" } else { "" };
    let frames = dataset.n_frames.map_or_else(String::new, |count| format!(" with {count} frames"));
    format!(
        "{} {} {}{legacy}, {} %, images {}, videos {}{frames}, objects {}, owner {}, created {}, error {}{missing}",
        dataset.id,
        dataset.name,
        dataset.status.as_str(),
        shown(dataset.progress),
        shown(dataset.n_images),
        shown(dataset.n_videos),
        shown(dataset.n_objects),
        shown(dataset.owner.as_ref()),
        shown(dataset.created_at.as_ref()),
        shown(dataset.error.as_ref()),
    )
}

pub(crate) fn list_lines(list: &DatasetList) -> Vec<String> {
    let mut lines: Vec<String> = list.datasets.iter().map(dataset_line).collect();
    lines.push(format!("{} skipped", list.unreadable));
    lines
}

pub(crate) fn task_line(task: &ExportTask) -> String {
    let end = match task.failure() {
        Some(_) => "failed",
        None if task.has_ended() => "ready",
        None => "running",
    };
    format!(
        "{} {} ({end}), {} %, link {}, message {}",
        task.id,
        task.state.as_str(),
        shown(task.progress),
        shown(task.download.as_ref().map(Link::expose)),
        shown(task.message.as_ref()),
    )
}

pub(crate) fn page_lines(page: &Page) -> Vec<String> {
    let of_cluster = |cluster: &Cluster| {
        let previews = cluster.previews.iter().map(preview_line);
        std::iter::once(cluster_line(cluster)).chain(previews).collect::<Vec<_>>()
    };
    let mut lines: Vec<String> = page.clusters.iter().flat_map(of_cluster).collect();
    lines.push(format!("{} skipped", page.skipped));
    lines.extend((page.repeated > 0).then(|| format!("{} repeated", page.repeated)));
    lines
}

fn cluster_line(cluster: &Cluster) -> String {
    let tag = |tag: &tessera_model::Tag| format!("{} {}", shown(tag.id), tag.name);
    format!(
        "{} {}: images {}, objects {}, videos {}, frames {}, threshold {}, score {}, labels [{}], \
         tags [{}], captions [{}]",
        cluster.id,
        cluster.entity.as_str(),
        shown(cluster.n_images),
        shown(cluster.n_objects),
        shown(cluster.n_videos),
        shown(cluster.n_frames),
        shown(cluster.similarity_threshold.as_ref()),
        score(cluster.relevance.as_ref()),
        list(&cluster.labels),
        cluster.tags.iter().map(tag).collect::<Vec<_>>().join(", "),
        list(&cluster.captions),
    )
}

pub(crate) fn preview_line(preview: &Preview) -> String {
    format!(
        "  {} {} {} of {}, frame {}: {} {}, caption {}, region {}, score {}, size {}",
        preview.media,
        preview.kind,
        preview.file_name,
        shown(preview.original_uri.as_ref()),
        shown(preview.frame.as_ref().map(frame)),
        shown(preview.original.as_ref().map(Link::expose)),
        shown(preview.thumbnail.as_ref().map(Link::expose)),
        shown(preview.caption.as_ref()),
        shown(preview.region.map(tessera_wire::preview::write_region)),
        score(preview.relevance.as_ref()),
        shown(preview.dimensions.map(|(width, height)| format!("{width}x{height}"))),
    )
}

fn frame(frame: &VideoFrame) -> String {
    let link = shown(frame.link.as_ref().map(Link::expose));
    format!("{} s of {} ({link})", shown(frame.seconds), frame.video)
}

pub(crate) fn overview_lines(overview: &Overview) -> Vec<String> {
    let facet = |facet: &Facet| match facet.tag {
        Some(tag) => format!("{tag} {} {}", facet.name, facet.count),
        None => format!("{} {}", facet.name, facet.count),
    };
    let line = |name, facets: &[Facet]| {
        format!("{name} [{}]", facets.iter().map(facet).collect::<Vec<_>>().join(", "))
    };
    let mut lines = vec![
        format!("media {}", shown(overview.media)),
        line("labels", &overview.labels),
        line("tags", &overview.tags),
        line("words", &overview.words),
    ];
    for distribution in &overview.distributions {
        lines.extend(distribution.bars.iter().map(|bar| {
            let property = distribution.property.as_str();
            format!("{property} {} to {}: {}", bar.from, bar.to, bar.count)
        }));
    }
    lines
}

pub(crate) fn map_lines(map: &MediaMap) -> Vec<String> {
    let names = |names: &[SafeText], of_point: &[u32]| {
        list(&of_point.iter().map(|name| names[*name as usize].clone()).collect::<Vec<_>>())
    };
    let mut lines = vec![format!("{} media", map.media)];
    lines.extend(map.points.iter().map(|point| {
        let ([x, y], labels) = (point.position, names(&map.labels, &point.labels));
        let (media, path, tags) = (point.media, &point.path, names(&map.tags, &point.tags));
        format!("{media} {path} at {x} {y}, labels [{labels}], tags [{tags}]")
    }));
    lines.extend(map.issues.iter().map(|issue| format!("{} {:?}", issue.name, issue.percents)));
    lines
}
