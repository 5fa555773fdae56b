//! Tests the histogram of scores and the facets of the loaded results.

use tessera_interface::{
    app::{
        Event, Mouse, MouseKind,
        overlay::{
            facets::{FacetSection, Facets},
            score_histogram::{ScoreHistogram, SplitClusters},
        },
    },
    message::{Lane, Payload, Request},
};
use tessera_model::{
    Anchor, AnchorKind, Distribution, EntityType, Facet, Filter, Fraction, MediaId, Overview, Page,
    Query, Relevance, SafeText, ScoreKind, Search, Tag, TagId,
    vql::{ColumnValue, FileProperty, IssueKind, IssueMode, LabelRule, Operator, Property},
};
use uuid::Uuid;

use crate::support::app_harness::{AppHarness, page};

/// Returns clusters with these scores, numbered from `first`.
fn scored(first: u128, scores: &[f64]) -> Page {
    let mut page = page(first, scores.len());
    for (cluster, &score) in page.clusters.iter_mut().zip(scores) {
        cluster.relevance = Some(Relevance::new(score, ScoreKind::CosineDistance));
    }
    page
}

/// Opens the results of a caption search with five scores.
fn caption_search() -> AppHarness {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("c");
    harness.type_text("a van");
    harness.press("enter");
    harness.answer_page(scored(50, &[0.31, 0.34, 0.42, 0.42, 0.58]));
    harness
}

fn plot(harness: &AppHarness) -> ScoreHistogram {
    match harness.app.dialog() {
        Some(plot) => *plot,
        None => panic!("{:?}", harness.app.overlay()),
    }
}

/// Returns how many loaded clusters are kept, and how many are dropped.
fn kept_and_dropped(harness: &AppHarness) -> (usize, usize) {
    let SplitClusters { kept, dropped } = plot(harness).split(harness.app.results());
    (kept.len(), dropped.len())
}

fn search(harness: &AppHarness) -> Search {
    harness.app.results().view().unwrap().search.clone()
}

fn max_score(harness: &AppHarness) -> Option<Fraction> {
    match search(harness).query {
        Query::Caption { max_score, .. } => max_score,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_cut_starts_without_a_limit_and_steps_by_results() {
    let mut harness = caption_search();
    harness.press("g h");
    assert_eq!(kept_and_dropped(&harness), (5, 0));
    assert_eq!(plot(&harness).limit(), None);
    harness.press("down");
    assert_eq!(kept_and_dropped(&harness), (4, 1));
    // Equal scores are dropped together.
    harness.press("down");
    assert_eq!(kept_and_dropped(&harness), (2, 3));
    harness.press("up up");
    assert_eq!(kept_and_dropped(&harness), (5, 0));
    harness.press("home left");
    assert_eq!(kept_and_dropped(&harness), (0, 5));
}

#[test]
fn what_falls_out_is_known_to_the_tiles_at_once() {
    let mut harness = caption_search();
    harness.press("g h down down");
    let tiles = harness.app.results().tiles();
    let out: Vec<bool> = tiles
        .iter()
        .map(|tile| ScoreHistogram::falls_out(harness.app.overlays(), tile.cluster))
        .collect();
    assert_eq!(out, [false, false, true, true, true]);
    let boundary = plot(&harness)
        .boundary(harness.app.results())
        .map(|it| it.unwrap().relevance.clone().unwrap());
    assert_eq!(boundary.map(|relevance| relevance.score.to_string()), ["0.34", "0.42"]);
}

#[test]
fn enter_makes_the_cut_the_max_score_and_esc_returns() {
    let mut harness = caption_search();
    harness.press("g h down enter");
    assert_eq!(max_score(&harness), Fraction::new(0.58));
    harness.answer_page(scored(50, &[0.31, 0.34, 0.42, 0.42]));
    harness.press("g h");
    assert_eq!(plot(&harness).limit(), Fraction::new(0.58), "nothing that is loaded falls out");
    harness.press("enter");
    assert_eq!((max_score(&harness), harness.requests().len()), (Fraction::new(0.58), 0));
    harness.press("g h end enter");
    assert_eq!(max_score(&harness), None);
    harness.press("esc esc");
    assert_eq!((max_score(&harness), harness.steps()), (None, 2));
}

#[test]
fn the_cut_of_a_search_by_a_picture_becomes_its_max_distance() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("f");
    harness.answer_page(scored(50, &[0.0, 0.12, 1.3]));
    harness.press("g h left");
    // A limit is at most 1.
    assert_eq!(plot(&harness).limit(), Fraction::new(1.0));
    harness.press("down enter");
    let Query::Similar(anchor) = search(&harness).query else { panic!() };
    let filter = |max_distance| Filter::Similar { anchor, max_distance };
    assert_eq!(search(&harness).filters, [filter(Fraction::new(0.12))]);
    harness.answer_page(scored(50, &[0.0]));
    // Another cut replaces the filter.
    harness.press("g h left enter");
    assert_eq!(search(&harness).filters, [filter(Fraction::new(0.11))]);
    harness.answer_page(scored(50, &[0.0]));
    harness.press("g h home");
    assert_eq!((plot(&harness).limit(), kept_and_dropped(&harness)), (Fraction::new(0.0), (0, 1)));
}

#[test]
fn a_saved_cut_by_a_file_follows_the_file_when_it_is_registered_again() {
    let mut harness = AppHarness::with_clusters(9);
    let anchor =
        |number| Anchor { media: MediaId(Uuid::from_u128(number)), kind: AnchorKind::Upload };
    harness.press("F");
    harness.type_text("~/a.jpg");
    harness.press("enter");
    harness.answer(Lane::Anchor, Payload::Anchor(anchor(1)));
    harness.answer_page(scored(50, &[0.0, 0.12, 1.3]));
    harness.press("g h left down enter");
    harness.answer_page(scored(50, &[0.0]));
    harness.press("3 w");
    harness.type_text("near");
    harness.press("enter W enter");
    harness.answer(Lane::Anchor, Payload::Anchor(anchor(2)));
    let filter = Filter::Similar { anchor: anchor(2), max_distance: Fraction::new(0.12) };
    assert_eq!(search(&harness).filters, [filter]);
    assert_eq!(
        harness.app.query().draft(harness.app.results()).filters(),
        Ok(search(&harness).filters)
    );
}

#[test]
fn a_click_in_the_plot_moves_the_cut() {
    let mut harness = caption_search();
    harness.press("g h");
    let dialog = harness.app.overlay().unwrap().area(&harness.app);
    let plot_area = ScoreHistogram::areas(dialog).plot;
    let mouse = Mouse { column: plot_area.x, row: plot_area.y, kind: MouseKind::Click };
    harness.happen(Event::Mouse(mouse));
    assert_eq!(kept_and_dropped(&harness), (0, 5));
    let right = Mouse { column: plot_area.right() - 1, kind: MouseKind::Drag, ..mouse };
    harness.happen(Event::Mouse(right));
    assert_eq!(kept_and_dropped(&harness), (5, 0));
}

#[test]
fn all_loaded_pages_are_in_the_histogram() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("f");
    harness.answer_page(scored(50, &[0.2; 100]));
    harness.press("n");
    harness.answer_page(scored(200, &[0.3; 40]));
    harness.press("g h");
    assert_eq!(kept_and_dropped(&harness), (140, 0));
}

#[test]
fn browsing_has_no_histogram() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("g h");
    assert_eq!(harness.notice(), "only searches by a picture or a caption have scores");
    harness.press("f");
    let mut unknown = scored(50, &[0.2]);
    unknown.clusters[0].relevance.as_mut().unwrap().kind = ScoreKind::Other(SafeText::name("rank"));
    harness.answer_page(unknown);
    harness.press("g h");
    assert_eq!(harness.notice(), "these results have no scores to sort by");
}

/// Opens clusters with labels, a tag and captions.
fn described() -> AppHarness {
    let mut harness = AppHarness::new();
    let list = vec![crate::support::app_harness::dataset(1, tessera_model::Status::Ready)];
    harness.answer(
        tessera_interface::message::Lane::Datasets,
        tessera_interface::message::Payload::Datasets(list, 0),
    );
    let mut page = page(0, 3);
    for (cluster, labels) in page.clusters.iter_mut().zip([&["van", "road"][..], &["van"], &[]]) {
        cluster.labels = labels.iter().map(|label| SafeText::name(label)).collect();
        cluster.captions = vec![SafeText::caption("A red van on the road")];
    }
    let id = Some(TagId(Uuid::from_u128(5)));
    page.clusters[2].tags = vec![Tag { id, name: SafeText::name("keep") }];
    harness.answer_page(page);
    harness
}

#[test]
fn enter_requires_a_label_and_x_excludes_it() {
    let mut harness = described();
    harness.press("g f enter");
    assert_eq!(search(&harness).filters, [Filter::labels(LabelRule::OneOf, ["van"]).unwrap()]);
    harness.press("esc g f down x");
    assert_eq!(search(&harness).filters, [Filter::labels(LabelRule::NotOneOf, ["road"]).unwrap()]);
}

#[test]
fn a_label_that_is_not_printable_is_searched_exactly() {
    let mut harness = described();
    let exact = "van\u{a0}\u{202e}red";
    harness.press("r");
    let mut changed = page(0, 3);
    changed.clusters[0].labels = vec![SafeText::name(exact)];
    harness.take(|lane| matches!(lane, Lane::Datasets));
    harness.answer_page(changed);
    harness.press("g f enter");
    assert_eq!(search(&harness).filters, [Filter::labels(LabelRule::OneOf, [exact]).unwrap()]);
}

#[test]
fn tags_and_words_are_required_and_local_folders_exclude_tags() {
    let mut harness = described();
    harness.press("g f tab x");
    assert_eq!(harness.notice(), "only local folders exclude tags; x excludes labels and issues");
    harness.press("enter");
    let tag = TagId(Uuid::from_u128(5));
    assert_eq!(search(&harness).filters, [Filter::tags(vec![tag]).unwrap()]);
    harness.press("esc g f tab tab enter");
    assert_eq!(search(&harness).filters, [Filter::full_text("red").unwrap()]);
    harness.app.setup_mut().deployment = tessera_config::DeploymentKind::Local;
    harness.press("esc g f tab x");
    let excluded = Filter::tags(vec![tag]).and_then(Filter::negated);
    assert_eq!(search(&harness).filters, [excluded.unwrap()]);
}

#[test]
fn results_are_filtered_by_issues_that_they_do_not_carry() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("g f j x");
    let issue = |kind, mode| Filter::issue(kind, mode, None, None).unwrap();
    assert_eq!(search(&harness).filters, [issue(IssueKind::Dark, IssueMode::Out)]);
    harness.press("esc g f enter");
    assert_eq!(search(&harness).filters, [issue(IssueKind::Blur, IssueMode::In)]);
}

#[test]
fn facets_count_the_media_items_of_the_dataset() {
    let mut harness = caption_search();
    harness.press("g f");
    let dialog = |harness: &AppHarness| *harness.app.dialog::<Facets>().unwrap();
    let unit = |harness: &AppHarness| dialog(harness).unit(&harness.app).unwrap().description();
    assert_eq!(dialog(&harness).section, FacetSection::Issues, "the clusters have no labels");
    let facet = |name: &str, count| Facet { name: SafeText::name(name), tag: None, count };
    for entity in [EntityType::Images, EntityType::Objects] {
        let (ticket, request) =
            harness.take(|lane| matches!(lane, Lane::Overview(_, of) if *of == entity));
        assert_eq!(request, Request::Overview(search(&harness).dataset, entity));
        let labels = match entity {
            EntityType::Images => vec![facet("day", 120)],
            EntityType::Objects => vec![facet("wheel", 64)],
        };
        let overview = Overview { media: Some(240), labels, ..Overview::default() };
        harness.respond(ticket, Ok(Payload::Overview(overview)));
    }
    harness.press("tab");
    assert_eq!(unit(&harness), "all 240 media items");
    assert_eq!(dialog(&harness).values(&harness.app)[0].count, Some(120));
    harness.press("tab");
    assert_eq!(dialog(&harness).section, FacetSection::ObjectLabels);
    assert_eq!(unit(&harness), "all 240 objects");
    harness.press("enter");
    let wheel = Filter::labels(LabelRule::OneOf, ["wheel"]).unwrap();
    assert_eq!(
        (search(&harness).entity, &search(&harness).filters[..]),
        (EntityType::Objects, &[wheel][..])
    );
}

/// Opens the facets with dates and sizes that the service has counted.
fn with_distributions() -> AppHarness {
    let mut harness = caption_search();
    harness.app.setup_mut().deployment = tessera_config::DeploymentKind::Local;
    harness.press("g f");
    let days = [("2024-03-01", 3), ("2024-05-20", 9)].into_iter();
    let overview = Overview {
        media: Some(12),
        distributions: vec![
            Distribution::of_days(days),
            Distribution::of_numbers(FileProperty::Size, [(70_000, 12)].into_iter()),
        ],
        ..Overview::default()
    };
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Overview(_, EntityType::Images)));
    harness.respond(ticket, Ok(Payload::Overview(overview)));
    harness
}

#[test]
fn dates_and_sizes_of_the_dataset_are_bars_that_filter() {
    let property = |property, operator, value: ColumnValue| {
        Filter::property(Property::File(property), operator, &[value]).unwrap()
    };
    let mut harness = with_distributions();
    harness.press("tab");
    let facets = *harness.app.dialog::<Facets>().unwrap();
    assert_eq!(facets.section, FacetSection::Distribution(FileProperty::Date));
    let values = facets.values(&harness.app);
    let values: Vec<(&str, u64)> =
        values.iter().map(|value| (value.name.as_str(), value.count.unwrap())).collect();
    let days = values.iter().filter(|(name, _)| name.starts_with("2024-0"));
    assert_eq!((values.len(), days.count()), (3, 3), "{values:?}");
    assert_eq!(facets.unit(&harness.app).unwrap().description(), "all 12 media items");
    harness.press("j j enter");
    let may = property(FileProperty::Date, Operator::Is, ColumnValue::Text("2024-05".to_owned()));
    assert_eq!(search(&harness).filters, [may]);
    harness.press("esc g f tab tab enter");
    let bounds = [(Operator::AtLeast, 65_536.0), (Operator::AtMost, 131_071.0)];
    let bounds = bounds.map(|(operator, bytes)| {
        property(FileProperty::Size, operator, ColumnValue::Number(bytes))
    });
    assert_eq!(search(&harness).filters, bounds);
}

#[test]
fn sizes_of_loaded_pictures_are_counted_if_the_service_does_not_count_them() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("g f tab");
    let facets = *harness.app.dialog::<Facets>().unwrap();
    assert_eq!(facets.section, FacetSection::Distribution(FileProperty::Width));
    assert_eq!(facets.unit(&harness.app).unwrap().description(), "9 loaded pictures");
    assert_eq!(facets.values(&harness.app)[0].count, Some(9));
    harness.press("enter");
    assert_eq!(harness.notice(), "only local folders are filtered by date and size");
}

#[test]
fn folders_and_columns_are_facets_of_a_local_deployment() {
    let mut harness = caption_search();
    harness.app.setup_mut().deployment = tessera_config::DeploymentKind::Local;
    harness.press("g f");
    let facet = |name: &str, count| Facet { name: SafeText::name(name), tag: None, count };
    let weather = tessera_model::ColumnFacets {
        name: tessera_model::vql::ColumnName::new("weather").unwrap(),
        values: vec![(tessera_model::vql::ColumnValue::Text("sun".to_owned()), 7)],
    };
    let overview = Overview {
        media: Some(240),
        folders: vec![facet("train", 200), facet("val", 40)],
        columns: vec![weather],
        ..Overview::default()
    };
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Overview(_, EntityType::Images)));
    harness.respond(ticket, Ok(Payload::Overview(overview)));
    let sections: Vec<String> =
        Facets::sections(&harness.app).into_iter().map(|it| it.label(&harness.app)).collect();
    assert_eq!(sections, ["folders", "weather", "issues"]);
    harness.press("tab");
    harness.press("x");
    let excluded = Filter::negated(Filter::in_folder("train").unwrap()).unwrap();
    assert_eq!(search(&harness).filters, [excluded]);
}

#[test]
fn the_facets_are_as_wide_as_the_names_of_their_kinds() {
    let mut harness = caption_search();
    harness.app.setup_mut().deployment = tessera_config::DeploymentKind::Local;
    harness.happen(Event::Resize(200, 60));
    harness.press("g f");
    assert_eq!(harness.app.overlay_area().unwrap().width, 72);
    let column = |number| tessera_model::ColumnFacets {
        name: tessera_model::vql::ColumnName::new(&format!("a column {number}")).unwrap(),
        values: vec![(ColumnValue::Flag(true), 7)],
    };
    let overview = Overview { columns: (0..9).map(column).collect(), ..Overview::default() };
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Overview(_, EntityType::Images)));
    harness.respond(ticket, Ok(Payload::Overview(overview)));
    // Nine names of ten columns and "issues", each between blanks, in a frame.
    assert_eq!(harness.app.overlay_area().unwrap().width, 9 * 12 + 8 + 3);
    harness.press("tab");
    assert_eq!(harness.app.overlay_area().unwrap().width, 9 * 12 + 8 + 3);
}
