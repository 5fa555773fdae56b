//! The plots in words: the histogram of scores as counts per range, and facets as a list with counts.

use tessera_model::{Cluster, Histogram, text::count_with_noun};

use crate::{
    accessible::{
        Reading,
        sentences::{join_phrases, score},
    },
    app::{
        App,
        overlay::{
            facets::{FacetSection, Facets},
            score_histogram::ScoreHistogram,
        },
    },
};

/// Ranges of the histogram.
const RANGES: usize = 10;

pub(super) fn facets(app: &App, facets: Facets) -> Reading {
    let loaded = app.results().loaded_clusters().len();
    let list = facets.values(app);
    let sections = Facets::sections(app).into_iter().filter(|it| *it != facets.section);
    let others: Vec<&str> = sections.map(FacetSection::label).collect();
    let values = count_with_noun(list.len(), "value", "values");
    let within = match facets.section {
        FacetSection::Counted(_) => {
            format!(" in {}", count_with_noun(loaded, "loaded cluster", "loaded clusters"))
        }
        FacetSection::Issues => "; results do not carry issues, so there are no counts".to_owned(),
    };
    let mut above = vec![format!("{}: {values}{within}", facets.section.label())];
    if !others.is_empty() {
        above.push(format!("tab reads the other kinds: {}", others.join(", ")));
    }
    let count = list.len();
    let items = (1..).zip(&list).map(|(number, facet)| {
        let clusters = facet.clusters.map(|it| count_with_noun(it, "cluster", "clusters"));
        let clusters = clusters.map_or_else(String::new, |clusters| format!(": {clusters}"));
        format!("{number} of {count}. {}{clusters}", facet.name)
    });
    Reading::with_items("Facets", above, items.collect(), facets.cursor)
}

pub(super) fn score_histogram(app: &App, plot: &ScoreHistogram) -> Reading {
    let (kept, dropped) = plot.split(app);
    let all = kept.len() + dropped.len();
    let headline = match plot.limit() {
        Some(_) => format!(
            "the limit is {:.2}: {} of {all} stay, {} fall out",
            plot.cut_score(),
            kept.len(),
            dropped.len()
        ),
        None => format!("no limit: all {all} stay"),
    };
    let mut lines = vec![
        headline,
        "a number keeps that many of the closest; an empty line searches with the limit".to_owned(),
    ];
    let sides = plot.boundary(app).into_iter().zip(["last kept", "first left out"]);
    lines.extend(sides.filter_map(|(cluster, name)| Some(boundary(app, cluster?, name))));
    lines.extend(app.results().score_histogram(RANGES).iter().flat_map(ranges));
    Reading::with_items("Scores of the loaded results", lines, Vec::new(), 0)
}

fn boundary(app: &App, cluster: &Cluster, name: &str) -> String {
    let score = cluster.relevance.as_ref().map(|it| score(it, app.results().score_scale()));
    let picture = cluster.previews.first().map(|preview| preview.title().to_string());
    format!("{name}: {}", join_phrases([picture, score]))
}

/// The ranges that have results.
fn ranges(histogram: &Histogram) -> Vec<String> {
    let (start, end) = histogram.range;
    let mut from = start;
    let mut lines = Vec::new();
    for (left, count) in (1..=histogram.counts.len()).rev().zip(&histogram.counts) {
        // Equal steps through what is left, so that the last range ends at the end.
        let steps = u32::try_from(left).unwrap_or(u32::MAX);
        let to = from + (end - from) / f64::from(steps);
        if *count > 0 {
            let results = count_with_noun(*count, "result", "results");
            lines.push(format!("{from:.2} to {to:.2}: {results}"));
        }
        from = to;
    }
    lines
}
