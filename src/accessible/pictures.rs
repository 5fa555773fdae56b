//! Describes pictures and plots in words: what a picture shows, how compared pictures differ, a histogram as counts per
//! range, and facets as a list with counts.

use std::cmp::Ordering;

use tessera_interface::app::{
    App, Results, ServiceData,
    overlay::{
        facets::Facets,
        map::MapView,
        region_picker::RegionPicker,
        score_histogram::{ScoreHistogram, SplitClusters},
    },
};
use tessera_model::{
    Cluster, Histogram, Preview, Region,
    text::{count_with_noun, format_bytes},
};

use crate::accessible::{
    Reading,
    sentences::{self, join_phrases, picture, score},
};

pub(super) fn viewed(app: &App) -> Reading {
    let title = "Picture at full size";
    let Some(preview) = app.viewed_preview() else {
        let nothing = vec!["no picture is loaded here yet".to_owned()];
        return Reading::with_items(title, nothing, Vec::new(), 0);
    };
    let place = app.viewer_position().filter(|(_, count)| *count > 0);
    let place = place.map_or_else(String::new, |(at, count)| format!("{} of {count}. ", at + 1));
    let mut lines = vec![format!("{place}{}", picture(app, preview))];
    lines.extend(facts(app.results(), preview));
    let boxes = app.results().boxes_in(preview);
    if app.viewer().is_some_and(|viewer| !viewer.boxes) && !boxes.is_empty() {
        lines.push("the boxes of its objects are not listed".to_owned());
    } else {
        lines.extend(boxes.into_iter().map(|region| format!("box {}", region_text(region))));
    }
    if let Some((at, count)) = app.results().frame_position() {
        lines.push(format!("frame {} of {count} of its video on this page", at + 1));
    }
    Reading::with_items(title, lines, Vec::new(), 0)
}

/// Returns what is known about a picture besides its name and size.
fn facts(results: &Results, preview: &Preview) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(preview.relevance.as_ref().map(|it| score(it, results.score_scale())));
    facts.extend(preview.caption.as_ref().map(|caption| format!("caption: {caption}")));
    if !preview.labels.is_empty() {
        let labels: Vec<&str> = preview.labels.iter().map(AsRef::as_ref).collect();
        facts.push(format!("labels: {}", labels.join(", ")));
    }
    if let Some((cluster, _)) = results.loaded_member(preview.media) {
        let labels: Vec<&str> = cluster.labels.iter().map(AsRef::as_ref).collect();
        if !labels.is_empty() {
            facts.push(format!("labels in the whole cluster: {}", labels.join(", ")));
        }
    }
    facts.extend(preview.file.bytes.map(format_bytes));
    facts.extend(preview.file.date.as_ref().map(|date| format!("date {date}")));
    facts.extend(preview.file.camera.as_ref().map(|camera| format!("camera {camera}")));
    facts.extend(preview.region.map(|region| format!("matching part {}", region_text(region))));
    facts.extend(preview.original_uri.as_ref().map(|uri| format!("original: {uri}")));
    facts
}

/// Describes where a region is, in percent of the picture.
fn region_text(region: Region) -> String {
    let percent = |part: f64| format!("{:.0}", 100.0 * part);
    let [left, top, width, height] = [region.x, region.y, region.width, region.height].map(percent);
    format!(
        "at {left} percent from the left and {top} from the top, {width} wide and {height} high"
    )
}

pub(super) fn compared(app: &App) -> Reading {
    let previews = app.comparison().map(|it| it.previews(app.results())).unwrap_or_default();
    let active = app.comparison().map_or(0, |comparison| comparison.active);
    let items = previews.iter().map(|preview| {
        [vec![picture(app, preview)], facts(app.results(), preview)].concat().join(", ")
    });
    let items: Vec<String> = items.collect();
    let above = vec![differences(app, &previews).join("; "), advice(app.service_data(), &previews)];
    Reading::with_items("Compared pictures", above, items, active)
}

/// Describes which facts differ and which are equal.
fn differences(app: &App, previews: &[&Preview]) -> Vec<String> {
    let score_of =
        |it: &Preview| it.relevance.as_ref().map(|it| score(it, app.results().score_scale()));
    let caption = |it: &Preview| it.caption.as_ref().map(ToString::to_string);
    let size = |it: &Preview| {
        app.service_data()
            .viewed_size(it)
            .map(|(width, height)| format!("{width} by {height} pixels"))
    };
    let name = |it: &Preview| Some(it.title().to_string());
    [
        compare("name", previews, name),
        compare("size", previews, size),
        compare("score", previews, score_of),
        compare("caption", previews, caption),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn compare(
    property: &str,
    previews: &[&Preview],
    value: impl Fn(&Preview) -> Option<String>,
) -> Option<String> {
    let values: Vec<Option<String>> = previews.iter().map(|it| value(it)).collect();
    if values.iter().all(Option::is_none) {
        return None;
    }
    if values.windows(2).all(|pair| pair[0] == pair[1]) {
        return Some(format!("same {property}"));
    }
    let known = values.into_iter().map(|value| value.unwrap_or_else(|| "unknown".to_owned()));
    Some(format!("different {property}: {}", known.collect::<Vec<_>>().join(" and ")))
}

/// Suggests which picture to keep: the one with the most pixels, or otherwise the one with the
/// lowest score.
fn advice(service_data: &ServiceData, previews: &[&Preview]) -> String {
    let pixels =
        |it: &Preview| service_data.viewed_size(it).map(|(w, h)| u64::from(w) * u64::from(h));
    let sizes: Vec<Option<u64>> = previews.iter().map(|it| pixels(it)).collect();
    if let Some(index) = single_best(&sizes, u64::cmp) {
        return format!("suggestion: keep {}, which has the most pixels", index + 1);
    }
    let score_of = |it: &&Preview| it.relevance.as_ref().map(|it| it.score);
    let scores: Vec<Option<f64>> = previews.iter().map(score_of).collect();
    match single_best(&scores, |one, other| other.total_cmp(one)) {
        Some(index) => format!("suggestion: keep {}, which has the lowest score", index + 1),
        None => "no suggestion: size and score are equal or unknown".to_owned(),
    }
}

/// Returns the index of the greatest value, if all values are known and no other value is as great.
fn single_best<T: Copy>(values: &[Option<T>], order: impl Fn(&T, &T) -> Ordering) -> Option<usize> {
    let known: Vec<T> = values.iter().copied().collect::<Option<_>>()?;
    let best = known.iter().max_by(|one, other| order(one, other))?;
    let mut equal = (0..).zip(&known).filter(|(_, value)| order(value, best) == Ordering::Equal);
    let (index, _) = equal.next()?;
    equal.next().is_none().then_some(index)
}

/// The number of ranges that a histogram is read as.
const RANGES: usize = 10;

pub(super) fn facets(app: &App, facets: Facets) -> Reading {
    let list = facets.values(app);
    let unit = facets.unit(app);
    let sections = Facets::sections(app).into_iter().filter(|it| *it != facets.section);
    let others: Vec<String> = sections.map(|section| section.label(app)).collect();
    let values = count_with_noun(list.len(), "value", "values");
    let within = match unit {
        Some(unit) => format!(" in {}", unit.description()),
        None => "; results do not carry issues, so there are no counts".to_owned(),
    };
    let mut above = vec![format!("{}: {values}{within}", facets.section.label(app))];
    if !others.is_empty() {
        above.push(format!("tab reads the other kinds: {}", others.join(", ")));
    }
    let items = list.iter().map(|facet| {
        let with_unit = facet.count.zip(unit).map(|(count, unit)| {
            let (one, many) = unit.nouns();
            format!(": {}", count_with_noun(count, one, many))
        });
        format!("{}{}", facet.name, with_unit.unwrap_or_default())
    });
    Reading::with_items("Facets", above, items.collect(), facets.cursor)
}

/// Describes a map by its classes, and where the points of each class are.
pub(super) fn map(view: &MapView) -> Reading {
    let title = view.title();
    if view.map().is_none_or(|map| map.points.is_empty()) {
        return Reading::with_items(title, vec![view.empty_text()], Vec::new(), 0);
    }
    let above = [
        "a number shows one group alone; `a` selects what is shown; `c` groups by another property",
        "an empty line opens the neighbors of the media item at the cursor",
    ];
    let mut above: Vec<String> = above.map(str::to_owned).into();
    above.extend(view.hovered().map(|point| format!("at the cursor: {}", point.file_name())));
    let count = view.classes.len();
    let items = view.classes.iter().enumerate().map(|(index, class)| {
        let points = count_with_noun(class.points, "media item", "media items");
        let place = view.place_of(index).map_or_else(String::new, |at| format!(", {at}"));
        format!("{}: {points}{place}", class.name)
    });
    Reading::with_items(title, above, items.collect(), view.only.unwrap_or(count))
}

/// Describes the region, and the presets by number.
pub(super) fn region(picker: &RegionPicker) -> Reading {
    let mut above = vec![
        format!("the region is {}", region_text(picker.region)),
        format!("a step is {}", picker.step.name()),
    ];
    let numbers = picker.number_input.as_ref();
    above.extend(numbers.and_then(|numbers| numbers.error).map(|error| format!("error: {error}")));
    let items = Region::PRESETS.map(|(name, _)| name.to_owned()).into();
    let current = Region::PRESETS.iter().position(|(_, preset)| *preset == picker.region);
    let title = format!("Pick a region of {}", picker.image.name);
    let field = numbers.map(|numbers| {
        sentences::text_field(
            numbers.field.name(),
            numbers.text.value(),
            (numbers.field as usize, 4),
            "",
        )
    });
    Reading { field, ..Reading::with_items(title, above, items, current.unwrap_or(usize::MAX)) }
}

pub(super) fn score_histogram(app: &App, plot: &ScoreHistogram) -> Reading {
    let SplitClusters { kept, dropped } = plot.split(app.results());
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
    let sides = plot.boundary(app.results()).into_iter().zip(["last kept", "first omitted"]);
    lines.extend(sides.filter_map(|(cluster, name)| Some(boundary(app.results(), cluster?, name))));
    lines.extend(app.results().score_histogram(RANGES).iter().flat_map(ranges));
    Reading::with_items("Scores of the loaded results", lines, Vec::new(), 0)
}

fn boundary(results: &Results, cluster: &Cluster, name: &str) -> String {
    let score = cluster.relevance.as_ref().map(|it| score(it, results.score_scale()));
    let picture = cluster.previews.first().map(|preview| preview.title().to_string());
    format!("{name}: {}", join_phrases([picture, score]))
}

/// Describes the ranges that have results.
fn ranges(histogram: &Histogram) -> Vec<String> {
    let (start, end) = histogram.range;
    let mut from = start;
    let mut lines = Vec::new();
    for (left, count) in (1..=histogram.counts.len()).rev().zip(&histogram.counts) {
        // The rest of the range is divided into equal steps, so that the last range ends exactly at
        // the end.
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
