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

use crate::support::desk::{Desk, page};

/// Returns clusters with these scores, numbered from `first`.
fn scored(first: u128, scores: &[f64]) -> Page {
    let mut page = page(first, scores.len());
    for (cluster, &score) in page.clusters.iter_mut().zip(scores) {
        cluster.relevance = Some(Relevance::new(score, ScoreKind::CosineDistance));
    }
    page
}

/// Opens the results of a caption search with five scores.
fn caption_search() -> Desk {
    let mut desk = Desk::with_clusters(9);
    desk.press("c");
    desk.type_text("a van");
    desk.press("enter");
    desk.answer_page(scored(50, &[0.31, 0.34, 0.42, 0.42, 0.58]));
    desk
}

fn plot(desk: &Desk) -> ScoreHistogram {
    match desk.app.dialog() {
        Some(plot) => *plot,
        None => panic!("{:?}", desk.app.overlay()),
    }
}

/// Returns how many loaded clusters are kept, and how many are dropped.
fn kept_and_dropped(desk: &Desk) -> (usize, usize) {
    let SplitClusters { kept, dropped } = plot(desk).split(desk.app.results());
    (kept.len(), dropped.len())
}

fn search(desk: &Desk) -> Search {
    desk.app.results().view().unwrap().search.clone()
}

fn max_score(desk: &Desk) -> Option<Fraction> {
    match search(desk).query {
        Query::Caption { max_score, .. } => max_score,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_cut_starts_without_a_limit_and_steps_by_results() {
    let mut desk = caption_search();
    desk.press("g h");
    assert_eq!(kept_and_dropped(&desk), (5, 0));
    assert_eq!(plot(&desk).limit(), None);
    desk.press("down");
    assert_eq!(kept_and_dropped(&desk), (4, 1));
    // Equal scores are dropped together.
    desk.press("down");
    assert_eq!(kept_and_dropped(&desk), (2, 3));
    desk.press("up up");
    assert_eq!(kept_and_dropped(&desk), (5, 0));
    desk.press("home left");
    assert_eq!(kept_and_dropped(&desk), (0, 5));
}

#[test]
fn what_falls_out_is_known_to_the_tiles_at_once() {
    let mut desk = caption_search();
    desk.press("g h down down");
    let tiles = desk.app.results().tiles();
    let out: Vec<bool> = tiles
        .iter()
        .map(|tile| ScoreHistogram::falls_out(desk.app.overlays(), tile.cluster))
        .collect();
    assert_eq!(out, [false, false, true, true, true]);
    let boundary =
        plot(&desk).boundary(desk.app.results()).map(|it| it.unwrap().relevance.clone().unwrap());
    assert_eq!(boundary.map(|relevance| relevance.score.to_string()), ["0.34", "0.42"]);
}

#[test]
fn enter_makes_the_cut_the_max_score_and_esc_returns() {
    let mut desk = caption_search();
    desk.press("g h down enter");
    assert_eq!(max_score(&desk), Fraction::new(0.58));
    desk.answer_page(scored(50, &[0.31, 0.34, 0.42, 0.42]));
    desk.press("g h");
    assert_eq!(plot(&desk).limit(), Fraction::new(0.58), "nothing that is loaded falls out");
    desk.press("enter");
    assert_eq!((max_score(&desk), desk.requests().len()), (Fraction::new(0.58), 0));
    desk.press("g h end enter");
    assert_eq!(max_score(&desk), None);
    desk.press("esc esc");
    assert_eq!((max_score(&desk), desk.steps()), (None, 2));
}

#[test]
fn the_cut_of_a_search_by_a_picture_becomes_its_max_distance() {
    let mut desk = Desk::with_clusters(9);
    desk.press("f");
    desk.answer_page(scored(50, &[0.0, 0.12, 1.3]));
    desk.press("g h left");
    // A limit is at most 1.
    assert_eq!(plot(&desk).limit(), Fraction::new(1.0));
    desk.press("down enter");
    let Query::Similar(anchor) = search(&desk).query else { panic!() };
    let filter = |max_distance| Filter::Similar { anchor, max_distance };
    assert_eq!(search(&desk).filters, [filter(Fraction::new(0.12))]);
    desk.answer_page(scored(50, &[0.0]));
    // Another cut replaces the filter.
    desk.press("g h left enter");
    assert_eq!(search(&desk).filters, [filter(Fraction::new(0.11))]);
    desk.answer_page(scored(50, &[0.0]));
    desk.press("g h home");
    assert_eq!((plot(&desk).limit(), kept_and_dropped(&desk)), (Fraction::new(0.0), (0, 1)));
}

#[test]
fn a_saved_cut_by_a_file_follows_the_file_when_it_is_registered_again() {
    let mut desk = Desk::with_clusters(9);
    let anchor =
        |number| Anchor { media: MediaId(Uuid::from_u128(number)), kind: AnchorKind::Upload };
    desk.press("F");
    desk.type_text("~/a.jpg");
    desk.press("enter");
    desk.answer(Lane::Anchor, Payload::Anchor(anchor(1)));
    desk.answer_page(scored(50, &[0.0, 0.12, 1.3]));
    desk.press("g h left down enter");
    desk.answer_page(scored(50, &[0.0]));
    desk.press("3 w");
    desk.type_text("near");
    desk.press("enter W enter");
    desk.answer(Lane::Anchor, Payload::Anchor(anchor(2)));
    let filter = Filter::Similar { anchor: anchor(2), max_distance: Fraction::new(0.12) };
    assert_eq!(search(&desk).filters, [filter]);
    assert_eq!(desk.app.query().draft(desk.app.results()).filters(), Ok(search(&desk).filters));
}

#[test]
fn a_click_in_the_plot_moves_the_cut() {
    let mut desk = caption_search();
    desk.press("g h");
    let dialog = desk.app.overlay().unwrap().area(&desk.app);
    let plot_area = ScoreHistogram::areas(dialog).plot;
    let mouse = Mouse { column: plot_area.x, row: plot_area.y, kind: MouseKind::Click };
    desk.happen(Event::Mouse(mouse));
    assert_eq!(kept_and_dropped(&desk), (0, 5));
    let right = Mouse { column: plot_area.right() - 1, kind: MouseKind::Drag, ..mouse };
    desk.happen(Event::Mouse(right));
    assert_eq!(kept_and_dropped(&desk), (5, 0));
}

#[test]
fn all_loaded_pages_are_in_the_histogram() {
    let mut desk = Desk::with_clusters(9);
    desk.press("f");
    desk.answer_page(scored(50, &[0.2; 100]));
    desk.press("n");
    desk.answer_page(scored(200, &[0.3; 40]));
    desk.press("g h");
    assert_eq!(kept_and_dropped(&desk), (140, 0));
}

#[test]
fn browsing_has_no_histogram() {
    let mut desk = Desk::with_clusters(9);
    desk.press("g h");
    assert_eq!(desk.notice(), "only searches by a picture or a caption have scores");
    desk.press("f");
    let mut unknown = scored(50, &[0.2]);
    unknown.clusters[0].relevance.as_mut().unwrap().kind = ScoreKind::Other(SafeText::name("rank"));
    desk.answer_page(unknown);
    desk.press("g h");
    assert_eq!(desk.notice(), "these results have no scores to sort by");
}

/// Opens clusters with labels, a tag and captions.
fn described() -> Desk {
    let mut desk = Desk::new();
    let list = vec![crate::support::desk::dataset(1, tessera_model::Status::Ready)];
    desk.answer(
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
    desk.answer_page(page);
    desk
}

#[test]
fn enter_requires_a_label_and_x_excludes_it() {
    let mut desk = described();
    desk.press("g f enter");
    assert_eq!(search(&desk).filters, [Filter::labels(LabelRule::OneOf, ["van"]).unwrap()]);
    desk.press("esc g f down x");
    assert_eq!(search(&desk).filters, [Filter::labels(LabelRule::NotOneOf, ["road"]).unwrap()]);
}

#[test]
fn a_label_that_is_not_printable_is_searched_exactly() {
    let mut desk = described();
    let exact = "van\u{a0}\u{202e}red";
    desk.press("r");
    let mut changed = page(0, 3);
    changed.clusters[0].labels = vec![SafeText::name(exact)];
    desk.take(|lane| matches!(lane, Lane::Datasets));
    desk.answer_page(changed);
    desk.press("g f enter");
    assert_eq!(search(&desk).filters, [Filter::labels(LabelRule::OneOf, [exact]).unwrap()]);
}

#[test]
fn tags_and_words_are_required_and_local_folders_exclude_tags() {
    let mut desk = described();
    desk.press("g f tab x");
    assert_eq!(desk.notice(), "only local folders exclude tags; x excludes labels and issues");
    desk.press("enter");
    let tag = TagId(Uuid::from_u128(5));
    assert_eq!(search(&desk).filters, [Filter::tags(vec![tag]).unwrap()]);
    desk.press("esc g f tab tab enter");
    assert_eq!(search(&desk).filters, [Filter::full_text("red").unwrap()]);
    desk.app.setup_mut().deployment = tessera_config::DeploymentKind::Local;
    desk.press("esc g f tab x");
    let excluded = Filter::tags(vec![tag]).and_then(Filter::negated);
    assert_eq!(search(&desk).filters, [excluded.unwrap()]);
}

#[test]
fn results_are_filtered_by_issues_that_they_do_not_carry() {
    let mut desk = Desk::with_clusters(3);
    desk.press("g f j x");
    let issue = |kind, mode| Filter::issue(kind, mode, None, None).unwrap();
    assert_eq!(search(&desk).filters, [issue(IssueKind::Dark, IssueMode::Out)]);
    desk.press("esc g f enter");
    assert_eq!(search(&desk).filters, [issue(IssueKind::Blur, IssueMode::In)]);
}

#[test]
fn facets_count_the_media_items_of_the_dataset() {
    let mut desk = caption_search();
    desk.press("g f");
    let dialog = |desk: &Desk| *desk.app.dialog::<Facets>().unwrap();
    let unit = |desk: &Desk| dialog(desk).unit(&desk.app).unwrap().description();
    assert_eq!(dialog(&desk).section, FacetSection::Issues, "the clusters have no labels");
    let facet = |name: &str, count| Facet { name: SafeText::name(name), tag: None, count };
    for entity in [EntityType::Images, EntityType::Objects] {
        let (ticket, request) =
            desk.take(|lane| matches!(lane, Lane::Overview(_, of) if *of == entity));
        assert_eq!(request, Request::Overview(search(&desk).dataset, entity));
        let labels = match entity {
            EntityType::Images => vec![facet("day", 120)],
            EntityType::Objects => vec![facet("wheel", 64)],
        };
        let overview = Overview { media: Some(240), labels, ..Overview::default() };
        desk.respond(ticket, Ok(Payload::Overview(overview)));
    }
    desk.press("tab");
    assert_eq!(unit(&desk), "all 240 media items");
    assert_eq!(dialog(&desk).values(&desk.app)[0].count, Some(120));
    desk.press("tab");
    assert_eq!(dialog(&desk).section, FacetSection::ObjectLabels);
    assert_eq!(unit(&desk), "all 240 objects");
    desk.press("enter");
    let wheel = Filter::labels(LabelRule::OneOf, ["wheel"]).unwrap();
    assert_eq!(
        (search(&desk).entity, &search(&desk).filters[..]),
        (EntityType::Objects, &[wheel][..])
    );
}

/// Opens the facets with dates and sizes that the service has counted.
fn with_distributions() -> Desk {
    let mut desk = caption_search();
    desk.app.setup_mut().deployment = tessera_config::DeploymentKind::Local;
    desk.press("g f");
    let days = [("2024-03-01", 3), ("2024-05-20", 9)].into_iter();
    let overview = Overview {
        media: Some(12),
        distributions: vec![
            Distribution::of_days(days),
            Distribution::of_numbers(FileProperty::Size, [(70_000, 12)].into_iter()),
        ],
        ..Overview::default()
    };
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Overview(_, EntityType::Images)));
    desk.respond(ticket, Ok(Payload::Overview(overview)));
    desk
}

#[test]
fn dates_and_sizes_of_the_dataset_are_bars_that_filter() {
    let property = |property, operator, value: ColumnValue| {
        Filter::property(Property::File(property), operator, &[value]).unwrap()
    };
    let mut desk = with_distributions();
    desk.press("tab");
    let facets = *desk.app.dialog::<Facets>().unwrap();
    assert_eq!(facets.section, FacetSection::Distribution(FileProperty::Date));
    let values = facets.values(&desk.app);
    let values: Vec<(&str, u64)> =
        values.iter().map(|value| (value.name.as_str(), value.count.unwrap())).collect();
    let days = values.iter().filter(|(name, _)| name.starts_with("2024-0"));
    assert_eq!((values.len(), days.count()), (3, 3), "{values:?}");
    assert_eq!(facets.unit(&desk.app).unwrap().description(), "all 12 media items");
    desk.press("j j enter");
    let may = property(FileProperty::Date, Operator::Is, ColumnValue::Text("2024-05".to_owned()));
    assert_eq!(search(&desk).filters, [may]);
    desk.press("esc g f tab tab enter");
    let bounds = [(Operator::AtLeast, 65_536.0), (Operator::AtMost, 131_071.0)];
    let bounds = bounds.map(|(operator, bytes)| {
        property(FileProperty::Size, operator, ColumnValue::Number(bytes))
    });
    assert_eq!(search(&desk).filters, bounds);
}

#[test]
fn sizes_of_loaded_pictures_are_counted_if_the_service_does_not_count_them() {
    let mut desk = Desk::with_clusters(3);
    desk.press("g f tab");
    let facets = *desk.app.dialog::<Facets>().unwrap();
    assert_eq!(facets.section, FacetSection::Distribution(FileProperty::Width));
    assert_eq!(facets.unit(&desk.app).unwrap().description(), "9 loaded pictures");
    assert_eq!(facets.values(&desk.app)[0].count, Some(9));
    desk.press("enter");
    assert_eq!(desk.notice(), "only local folders are filtered by date and size");
}

#[test]
fn folders_and_columns_are_facets_of_a_local_deployment() {
    let mut desk = caption_search();
    desk.app.setup_mut().deployment = tessera_config::DeploymentKind::Local;
    desk.press("g f");
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
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Overview(_, EntityType::Images)));
    desk.respond(ticket, Ok(Payload::Overview(overview)));
    let sections: Vec<String> =
        Facets::sections(&desk.app).into_iter().map(|it| it.label(&desk.app)).collect();
    assert_eq!(sections, ["folders", "weather", "issues"]);
    desk.press("tab");
    desk.press("x");
    let excluded = Filter::negated(Filter::in_folder("train").unwrap()).unwrap();
    assert_eq!(search(&desk).filters, [excluded]);
}

#[test]
fn the_facets_are_as_wide_as_the_names_of_their_kinds() {
    let mut desk = caption_search();
    desk.app.setup_mut().deployment = tessera_config::DeploymentKind::Local;
    desk.happen(Event::Resize(200, 60));
    desk.press("g f");
    assert_eq!(desk.app.overlay_area().unwrap().width, 72);
    let column = |number| tessera_model::ColumnFacets {
        name: tessera_model::vql::ColumnName::new(&format!("a column {number}")).unwrap(),
        values: vec![(ColumnValue::Flag(true), 7)],
    };
    let overview = Overview { columns: (0..9).map(column).collect(), ..Overview::default() };
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Overview(_, EntityType::Images)));
    desk.respond(ticket, Ok(Payload::Overview(overview)));
    // Nine names of ten columns and "issues", each between blanks, in a frame.
    assert_eq!(desk.app.overlay_area().unwrap().width, 9 * 12 + 8 + 3);
    desk.press("tab");
    assert_eq!(desk.app.overlay_area().unwrap().width, 9 * 12 + 8 + 3);
}
