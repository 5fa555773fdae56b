//! The sentences of the accessible interface, with the most important part first.

use tessera_model::{Cluster, Dataset, Page, Query, ScoreScale, Search, text::count_with_noun};

pub(super) fn dataset(position: usize, count: usize, dataset: &Dataset) -> String {
    let images = dataset.n_images.map(|images| count_with_noun(images, "image", "images"));
    let error = dataset.error.as_ref().map(|error| format!("error: {error}"));
    let name = format!("{position} of {count}. Dataset {}", dataset.name);
    join_phrases([Some(name), Some(status(dataset)), images, error])
}

pub(super) fn status(dataset: &Dataset) -> String {
    match dataset.progress {
        Some(percent) if dataset.status.is_busy() => {
            format!("{} {percent} percent", dataset.status.as_str())
        }
        _ => dataset.status.as_str().to_owned(),
    }
}

pub(super) fn search(search: &Search, similar_to: &str, page: &Page) -> String {
    let about = match &search.query {
        Query::Browse => "the whole dataset".to_owned(),
        Query::Similar(_) => format!("similar to {similar_to}"),
        Query::Caption { text, .. } => format!("captions matching {}", text.as_str()),
    };
    let clusters = count_with_noun(page.clusters.len(), "cluster", "clusters");
    let more = if page.may_have_next() { ", and there may be more" } else { "" };
    let score = match search.query {
        Query::Browse => "",
        Query::Similar(_) | Query::Caption { .. } => " A lower score is closer.",
    };
    let (number, level) = (search.page + 1, search.granularity.level());
    format!("{about}: page {number}, granularity {level}, {clusters}{more}.{score}")
}

pub(super) fn cluster(
    position: usize,
    count: usize,
    cluster: &Cluster,
    scale: ScoreScale,
    selected: bool,
) -> String {
    let score = cluster.relevance.as_ref().map(|relevance| {
        let band =
            relevance.band(scale).map_or_else(String::new, |band| format!(" {}", band.label()));
        format!("score {:.2}{band}", relevance.score)
    });
    join_phrases([
        Some(format!("{position} of {count}. Cluster c{position:02}")),
        selected.then(|| "selected".to_owned()),
        score,
        cluster.size().map(|members| count_with_noun(members, "member", "members")),
        cluster.contents_with_frames(),
        cluster.previews.first().map(|first| match first.frame {
            Some(_) => format!("first frame {}", first.title()),
            None => format!("first file {}", first.file_name),
        }),
        cluster.caption().map(|caption| format!("caption: {caption}")),
    ])
}

fn join_phrases<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
