//! Tests caption searches, the query builder and saved views.

use tessera_interface::{
    app::{
        Effect, Event, Pane,
        overlay::{command_list::CommandList, pick_list::Command},
        query::{FilterKind, QueryDraft, chips, diagnostics},
    },
    message::{Lane, Payload},
};
use tessera_model::{
    EntityType, Failure, FailureKind, Filter, Fraction, Overview, Page, Query, QueryText,
    Relevance, SafeText, SavedView, ScoreKind, StateKey, StateValue, Status, Tag, vql::LabelRule,
};

use crate::support::app_harness::{AppHarness, dataset, page};

fn caption(text: &str, max_score: Option<f64>) -> Query {
    let max_score = max_score.map(|score| Fraction::new(score).unwrap());
    Query::Caption { text: QueryText::new(text).unwrap(), max_score }
}

/// Returns a page with these scores, in this order.
fn scored(scores: &[f64]) -> Page {
    let mut page = page(0, scores.len());
    for (cluster, &score) in page.clusters.iter_mut().zip(scores) {
        cluster.relevance = Some(Relevance::new(score, ScoreKind::CosineDistance));
    }
    page
}

#[test]
fn one_line_searches_by_caption() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("c");
    harness.type_text("red van");
    harness.press("enter");
    assert_eq!(harness.open_searches()[0].query, caption("red van", None));
    assert_eq!((harness.app.panes().focus, harness.steps()), (Pane::Results, 2));
}

#[test]
fn an_empty_caption_is_rejected_and_the_form_stays() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("c space enter");
    assert!(harness.notice().contains("must not be empty"), "{}", harness.notice());
    assert!(harness.requests().is_empty() && harness.app.overlay().is_some());
}

#[test]
fn a_max_score_outside_0_to_1_is_rejected_at_its_field() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("c");
    harness.type_text("van");
    harness.press("tab");
    harness.type_text("1.5");
    harness.press("enter");
    assert!(harness.notice().starts_with("the max score must be a number from 0 to 1"));
    assert!(harness.requests().is_empty());
    harness.press("ctrl-u 0 . 5 enter");
    assert_eq!(harness.open_searches()[0].query, caption("van", Some(0.5)));
}

#[test]
fn scores_below_the_bound_are_counted_on_the_loaded_page() {
    let mut harness = AppHarness::with_clusters(9);
    let half = Fraction::new(0.5).unwrap();
    assert_eq!(harness.app.results().count_below(half), None, "nothing is ranked by captions yet");
    harness.press("c v enter");
    harness.answer_page(scored(&[0.2, 0.4, 0.5, 0.9]));
    assert_eq!(
        harness.app.results().count_below(half),
        Some((2, 4)),
        "0.5 itself is not below 0.5"
    );
}

#[test]
fn an_ignored_or_inverted_max_score_is_warned_about_once() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("c v tab 0 . 5 enter");
    harness.answer_page(scored(&[0.2, 0.9]));
    assert!(harness.notice().contains("does not apply the maximum score"), "{}", harness.notice());
    let mut harness = AppHarness::with_clusters(9);
    harness.press("c v tab 0 . 5 enter");
    harness.answer_page(scored(&[0.7, 0.9]));
    assert!(
        harness.notice().contains("interprets the maximum score inversely"),
        "{}",
        harness.notice()
    );
    harness.wait(20);
    harness.press("c enter r");
    harness.answer_page(scored(&[0.7, 0.9]));
    assert_eq!(harness.notice(), "");
}

/// Opens the query builder and adds the filter with this number in the list of kinds.
fn add(harness: &mut AppHarness, kind: &str) {
    harness.press(&format!("3 a {kind}"));
}

fn draft(harness: &AppHarness) -> &QueryDraft {
    harness.app.query().draft(harness.app.results())
}

fn query_json(harness: &AppHarness) -> Option<String> {
    harness.app.query().query_json(harness.app.results())
}

#[track_caller]
fn assert_diagnosed(harness: &AppHarness, words: &str) {
    let found = first_diagnostic(harness);
    assert!(found.contains(words), "{found}");
}

fn first_diagnostic(harness: &AppHarness) -> String {
    diagnostics(&harness.app).into_iter().map(|remark| remark.text + "\n").collect()
}

#[test]
fn filters_are_written_run_and_combined_with_the_caption() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("c v a n enter");
    harness.answer_page(page(0, 4));
    add(&mut harness, "5");
    harness.type_text("0.95");
    harness.press("f5");
    let search = harness.open_searches().remove(0);
    assert_eq!(search.query, caption("van", None));
    assert_eq!(search.filters, [Filter::duplicates(0.95).unwrap()]);
    assert_eq!(harness.app.panes().focus, Pane::Results);
    assert_eq!(
        query_json(&harness).unwrap(),
        r#"[{"duplicates":{"op":"duplicates","value":0.95}}]"#
    );
}

#[test]
fn an_invalid_field_is_reported_and_the_query_cannot_run() {
    let mut harness = AppHarness::with_clusters(9);
    add(&mut harness, "5");
    harness.type_text("0.9x");
    assert!(
        first_diagnostic(&harness).starts_with("duplicates.value must be a number"),
        "{}",
        first_diagnostic(&harness)
    );
    harness.press("f5");
    assert_eq!(harness.notice(), "row 1: duplicates.value: must be a number");
    assert!(harness.requests().is_empty());
    harness.press("backspace f5");
    assert_eq!(harness.open_searches()[0].filters, [Filter::duplicates(0.9).unwrap()]);
}

#[test]
fn a_disabled_filter_is_kept_and_not_sent() {
    let mut harness = AppHarness::with_clusters(9);
    add(&mut harness, "6");
    harness.type_text("0.8");
    harness.press("esc");
    add(&mut harness, "4");
    harness.type_text("blur");
    harness.press("esc space f5");
    assert_eq!(harness.open_searches()[0].filters, [Filter::uniqueness(0.8).unwrap()]);
    assert_eq!(draft(&harness).rows.len(), 2);
    assert_diagnosed(&harness, "1 enabled, 1 disabled (kept, not sent)");
}

#[test]
fn full_text_has_no_bound_and_a_semantic_filter_has_a_minimum() {
    let mut harness = AppHarness::with_clusters(9);
    add(&mut harness, "1");
    harness.type_text("red van");
    harness.press("tab 0 . 3 5 esc");
    assert_eq!(
        draft(&harness).filters().unwrap(),
        [Filter::semantic("red van", Some(0.35)).unwrap()]
    );
    harness.press("right");
    assert_eq!(draft(&harness).filters().unwrap(), [Filter::full_text("red van").unwrap()]);
    assert_eq!(draft(&harness).selected_row().unwrap().fields().count(), 1);
}

/// Returns a page whose first cluster has labels and a tag.
fn labeled() -> Page {
    let mut page = page(0, 2);
    page.clusters[0].labels = vec![SafeText::name("truck"), SafeText::name("van")];
    let id = TAG.parse().unwrap();
    page.clusters[0].tags = vec![Tag { id: Some(id), name: SafeText::name("night") }];
    page
}

const TAG: &str = "95233006-eddc-11ef-b303-76dbc3993eb2";

#[test]
fn loaded_values_are_suggested_and_accepted() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("r");
    harness.answer(Lane::Datasets, answer_of_datasets());
    harness.answer_page(labeled());
    add(&mut harness, "2");
    harness.press("t down v down esc");
    let labels = Filter::labels(LabelRule::OneOf, ["truck", "van"]).unwrap();
    assert_eq!(draft(&harness).filters().unwrap(), [labels]);
    // A tag is typed by its name and sent by its id.
    add(&mut harness, "3");
    harness.type_text("night");
    harness.press("enter esc");
    let tags = Filter::tags(vec![TAG.parse().unwrap()]).unwrap();
    assert_eq!(draft(&harness).filters().unwrap()[1], tags);
}

fn answer_of_datasets() -> Payload {
    use crate::support::app_harness::dataset;
    Payload::Datasets(vec![dataset(1, tessera_model::Status::Ready)], 0)
}

#[test]
fn an_unpublished_issue_has_a_warning_until_the_service_accepts_it() {
    let mut harness = AppHarness::with_clusters(9);
    add(&mut harness, "4");
    harness.type_text("grain");
    assert_diagnosed(&harness, "“grain” is not a published issue name");
    harness.press("f5");
    let json = r#"[{"issues":{"op":"issue","value":"grain","mode":"in"}}]"#;
    assert_eq!(query_json(&harness).unwrap(), json);
    harness.answer_page(page(0, 1));
    assert!(
        !first_diagnostic(&harness).contains("not a published issue name"),
        "{}",
        first_diagnostic(&harness)
    );
}

#[test]
fn a_rejection_is_shown_at_the_filter_that_it_names() {
    let mut harness = AppHarness::with_clusters(9);
    add(&mut harness, "6");
    harness.type_text("0.8");
    harness.press("esc space");
    add(&mut harness, "4");
    harness.type_text("grain");
    harness.press("f5");
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Page(_)));
    let words = "query.vql: filter 0, issues.value: must be one of blur";
    let failure = Failure::new(FailureKind::Invalid, "the request was refused (422)");
    harness.respond(ticket, Err(failure.with_detail(Some(SafeText::detail(words)))));
    let pinned =
        diagnostics(&harness.app).into_iter().find(|remark| remark.text.contains("must be one"));
    // Filter 0 is the second row, because the first row is disabled.
    assert_eq!(pinned.unwrap().row, Some(1));
    assert_eq!(draft(&harness).rows.len(), 2);
    harness.press("3 G k enter x");
    let remarks = first_diagnostic(&harness);
    assert!(!remarks.contains("must be one of blur"), "it was about another query: {remarks}");
}

#[test]
fn the_json_and_the_form_are_one_query() {
    let mut harness = AppHarness::with_clusters(9);
    add(&mut harness, "6");
    harness.type_text("0.8");
    harness.press("esc tab");
    assert_eq!(
        draft(&harness).json.as_ref().unwrap().text.text(),
        r#"[{"uniqueness":{"op":"uniqueness","value":0.8}}]"#
    );
    harness.press("end backspace");
    harness.type_text(r#",{"text":{"op":"fts","value":"a AND b"}}]"#);
    harness.press("tab");
    assert_eq!(draft(&harness).rows.len(), 2, "{}", first_diagnostic(&harness));
    assert_eq!(draft(&harness).filters().unwrap()[1], Filter::full_text("a AND b").unwrap());
}

#[test]
fn invalid_json_is_kept_with_the_position_of_the_error() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("3 tab end enter ]");
    assert_diagnosed(&harness, "line 2 column");
    harness.press("tab");
    assert!(harness.notice().starts_with("cannot show this as a form yet"), "{}", harness.notice());
    harness.press("f5");
    assert!(harness.requests().is_empty(), "nothing is run that cannot be read");
    harness.press("esc 3 backspace tab");
    assert_eq!(draft(&harness).rows.len(), 0);
    assert!(draft(&harness).json.is_none(), "{}", first_diagnostic(&harness));
}

#[test]
fn another_search_does_not_lose_json_that_is_not_valid_yet() {
    let mut draft = QueryDraft::default();
    draft.write_json("[{");
    draft.adopt_filters(&[Filter::uniqueness(0.8).unwrap()]);
    assert_eq!((draft.json.unwrap().text.text().as_str(), draft.rows.len()), ("[{", 1));
}

#[test]
fn the_editor_returns_the_json() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("3 f8");
    assert_eq!(harness.other.last(), Some(&Effect::Edit("[]\n".to_owned())));
    let text = r#"[{"uniqueness":{"op":"uniqueness","value":0.5}}]"#;
    harness.happen(Event::Edited(Ok(format!("{text}\n"))));
    assert_eq!(query_json(&harness).as_deref(), Some(text));
    harness.happen(Event::Edited(Ok("[{".to_owned())));
    assert_eq!(draft(&harness).json.as_ref().unwrap().text.text(), "[{");
}

#[test]
fn chips_show_enabled_disabled_and_not_yet_run_filters() {
    let mut harness = AppHarness::with_clusters(9);
    let line = harness.app.areas().chips;
    add(&mut harness, "6");
    harness.type_text("0.8");
    harness.press("f5");
    harness.answer_page(page(0, 4));
    add(&mut harness, "5");
    harness.type_text("0.9");
    harness.press("esc 2");
    let chip_text = |harness: &AppHarness| {
        let chips = chips(&harness.app);
        let words = chips.iter().map(|chip| format!("{} {}; ", chip.state.symbol(), chip.text));
        words.collect::<Vec<_>>().concat()
    };
    let shown = "✓ uniqueness >0.8; · images; · granularity 2; ";
    assert_eq!(chip_text(&harness), format!("{shown}… draft: duplicates ≥0.9; "));
    harness.press("3 space 2");
    assert_eq!(chip_text(&harness), format!("{shown}○ duplicates ≥0.9; "));
    // A search by a picture does not use the filters, so they are a draft there.
    harness.press("f");
    harness.answer_page(page(0, 4));
    assert!(chip_text(&harness).starts_with("✓ ≈ 0.jpg; "), "{}", chip_text(&harness));
    assert_eq!(harness.app.areas().chips, line, "the line is always there");
    harness.press("esc");
    // A click on a chip opens its row.
    let chips = chips(&harness.app);
    let places: Vec<_> = tessera_interface::app::query::chip_areas(&chips, line).collect();
    let kind = tessera_interface::app::MouseKind::Click;
    let mouse = tessera_interface::app::Mouse { column: places[3].x + 1, row: line.y, kind };
    harness.happen(Event::Mouse(mouse));
    assert_eq!((harness.app.panes().focus, draft(&harness).cursor), (Pane::Query, 1));
}

#[test]
fn the_strictest_condition_is_relaxed_when_nothing_is_found() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("c v tab 0 . 2 enter");
    harness.answer_page(Page::default());
    assert_eq!(
        harness.app.results().relaxed_search().unwrap().description,
        "with max score 0.20 → 0.40"
    );
    harness.press("g l");
    assert_eq!(harness.open_searches()[0].query, caption("v", Some(0.4)));
}

#[test]
fn t_switches_between_images_and_objects() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("t");
    assert_eq!(harness.open_searches()[0].entity, EntityType::Objects);
    harness.answer_page(page(0, 2));
    harness.press("t");
    assert_eq!(harness.app.results().view().unwrap().search.entity, EntityType::Images);
}

#[test]
fn every_dataset_has_its_own_draft_with_undo() {
    let mut harness = AppHarness::with_clusters(9);
    add(&mut harness, "6");
    harness.type_text("0.8");
    harness.press("esc d");
    assert!(draft(&harness).rows.is_empty());
    harness.press("u");
    assert_eq!(draft(&harness).rows.len(), 1);
}

#[test]
fn a_saved_view_keeps_disabled_filters() {
    let mut harness = AppHarness::with_clusters(9);
    add(&mut harness, "6");
    harness.type_text("0.8");
    harness.press("esc space");
    add(&mut harness, "5");
    harness.type_text("0.9");
    harness.press("esc w");
    harness.type_text("twins");
    harness.press("enter");
    let kept = harness.kept.remove(&StateKey::Views).unwrap();
    let StateValue::Views(views) = &kept else { panic!("views are kept") };
    assert_eq!(views[0].filters, [Filter::duplicates(0.9).unwrap()]);
    assert_eq!(views[0].disabled_filters, [Filter::uniqueness(0.8).unwrap()]);
    // This is another run of the program.
    let mut harness = AppHarness::with_clusters(9);
    let mut elsewhere = AppHarness::new();
    elsewhere.kept.insert(StateKey::Views, kept.clone());
    elsewhere.answer(Lane::Datasets, Payload::Datasets(vec![dataset(2, Status::Ready)], 0));
    elsewhere.press("W enter");
    assert!(elsewhere.notice().contains("this view is of a dataset"), "{}", elsewhere.notice());
    harness.kept.insert(StateKey::Views, kept);
    harness.press("W enter");
    assert_eq!(harness.open_searches()[0].filters, [Filter::duplicates(0.9).unwrap()]);
    assert_eq!(draft(&harness).rows.len(), 2, "what is off is there, too");
}

#[test]
fn a_search_of_the_history_brings_its_filters_into_the_query_builder() {
    let mut harness = AppHarness::with_clusters(9);
    add(&mut harness, "6");
    harness.type_text("0.8");
    harness.press("esc f5");
    harness.answer_page(page(20, 3));
    harness.press("3 d");
    add(&mut harness, "5");
    harness.type_text("0.9");
    harness.press("esc f5");
    harness.answer_page(page(30, 3));
    harness.press("H 2");
    let filters = vec![Filter::uniqueness(0.8).unwrap()];
    assert_eq!(harness.app.results().view().unwrap().search.filters, filters);
    assert_eq!(draft(&harness).filters(), Ok(filters));
}

#[test]
fn views_and_counts_of_other_windows_are_loaded_again() {
    let mut harness = local_desk();
    harness.press("3 w");
    harness.type_text("mine");
    harness.press("enter");
    let Some(StateValue::Views(mut views)) = harness.kept.remove(&StateKey::Views) else {
        panic!()
    };
    views[0].name = SafeText::name("theirs");
    harness.kept.insert(StateKey::Views, StateValue::Views(views));
    harness.press("W");
    assert_eq!(filter_list(&harness).0, ["theirs"]);
    harness.press("esc 2 g f");
    let is_overview = |lane: &Lane| matches!(lane, Lane::Overview(..));
    let (ticket, _) = harness.take(is_overview);
    harness.respond(ticket, Ok(Payload::Overview(Overview::default())));
    harness.press("esc r g f");
    harness.take(is_overview);
}

#[test]
fn views_are_renamed_and_deleted() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("3 w a enter w b enter W f2 ctrl-u c enter");
    let names = |harness: &AppHarness| {
        harness
            .app
            .service_data()
            .saved_views()
            .iter()
            .map(|view| view.name.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&harness), ["b", "c"]);
    harness.press("W delete enter");
    assert_eq!(names(&harness), ["b", "c"], "Enter deletes nothing");
    harness.press("y");
    assert_eq!(names(&harness), ["c"]);
}

#[test]
fn views_that_print_the_same_are_renamed_and_deleted_alone() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("3 w a enter");
    let kept = harness.kept.remove(&StateKey::Views).unwrap();
    let StateValue::Views(mut views) = kept else { panic!("views are kept") };
    let names = ["a\u{202e}", "a<U+202E>"].map(SafeText::name);
    views = names.map(|name| SavedView { name, ..views[0].clone() }).to_vec();
    let names = |harness: &AppHarness| {
        let views = harness.app.service_data().saved_views().iter();
        views.map(|view| view.name.received().to_owned()).collect::<Vec<_>>()
    };
    for (keys, left) in
        [("delete y", &["a<U+202E>"][..]), ("f2 ctrl-u c enter", &["a<U+202E>", "c"])]
    {
        let mut harness = AppHarness::with_clusters(9);
        harness.kept.insert(StateKey::Views, StateValue::Views(views.clone()));
        harness.press("W");
        harness.press(keys);
        assert_eq!(names(&harness), left);
    }
}

/// Returns the matches in the list of the filters that can be added, and the selected one.
fn filter_list(harness: &AppHarness) -> (Vec<&str>, Option<&Command>) {
    let Some(open) = harness.app.dialog::<CommandList>() else { panic!("the list is open") };
    (open.list.matches().iter().map(|item| item.label.as_str()).collect(), open.list.selected())
}

fn filter_list_after(keys: &str) -> AppHarness {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("3 a");
    harness.type_text(keys);
    harness
}

#[test]
fn typing_in_a_list_filters_and_sorts_by_score() {
    let mut harness = filter_list_after("tags");
    assert_eq!(filter_list(&harness).0[0], "tags");
    harness.press("ctrl-u");
    harness.type_text("image");
    let (matches, _) = filter_list(&harness);
    assert!(matches.contains(&"labels") && matches.contains(&"similarity"), "{matches:?}");
    let second = matches[1].to_owned();
    harness.press("down");
    let Some(Command::AddFilter(kind)) = filter_list(&harness).1 else { panic!("a filter") };
    assert_eq!(kind.keyword(), second);
    harness.type_text("zzz");
    assert!(filter_list(&harness).1.is_none());
    harness.press("enter");
    assert_eq!(filter_list(&harness).0.len(), 0, "the list stays open");
    harness.press("ctrl-u");
    harness.type_text("near-duplicate");
    assert_eq!(filter_list(&harness).0, ["duplicates"], "the note is searched, too");
}

#[test]
fn a_digit_picks_only_while_the_filter_is_empty() {
    let kinds = |harness: &AppHarness| -> Vec<FilterKind> {
        draft(harness).rows.iter().map(|row| row.kind).collect()
    };
    assert_eq!(kinds(&filter_list_after("2")), [FilterKind::Labels]);
    assert!(filter_list_after("e2").app.overlay().is_some());
    assert!(filter_list_after("9").app.overlay().is_some());
}

#[test]
fn a_digit_filters_a_list_of_actions() {
    for list in [".", ":"] {
        let mut harness = AppHarness::with_clusters(3);
        harness.press(list);
        harness.press("2");
        assert!(harness.app.overlay().is_some(), "{list}");
        assert!(harness.requests().is_empty(), "{list}");
    }
}

#[test]
fn a_filter_without_a_value_is_removed_when_it_is_left() {
    let mut harness = filter_list_after("1");
    assert_eq!(draft(&harness).rows.len(), 1);
    harness.press("esc");
    assert_eq!(draft(&harness).rows.len(), 0);
    let mut harness = filter_list_after("1");
    harness.type_text("dog");
    harness.press("esc");
    assert_eq!(draft(&harness).rows.len(), 1, "a filter with a value stays");
}

fn local_desk() -> AppHarness {
    let mut harness = AppHarness::with_clusters(9);
    harness.app.setup_mut().deployment = tessera_config::DeploymentKind::Local;
    harness
}

#[test]
fn a_suggested_folder_is_that_folder_whatever_its_name() {
    let mut harness = local_desk();
    let mut page = page(0, 1);
    page.clusters[0].previews[0].original_uri = Some(SafeText::file_name("[old] a*/x.jpg"));
    harness.press("r");
    harness.answer_page(page);
    add(&mut harness, "8");
    harness.press("[ down esc");
    let folder = Filter::in_folder("[old] a*").unwrap();
    assert_eq!(draft(&harness).filters(), Ok(vec![folder]));
}

/// Lets the editor return the JSON of a query.
fn write_query(harness: &mut AppHarness, json: &str) {
    harness.happen(Event::Edited(Ok(json.to_owned())));
}

fn filters(json: &str) -> Vec<Filter> {
    tessera_wire::vql::read(json).unwrap()
}

#[test]
fn only_the_local_deployment_offers_filters_by_what_files_are() {
    let documented = FilterKind::known_by(false);
    assert_eq!(documented, FilterKind::DOCUMENTED);
    let local = FilterKind::known_by(true);
    let undescribed = local.iter().find(|kind| kind.description().is_empty());
    assert!(undescribed.is_none(), "{undescribed:?}");
    let words: Vec<&str> = local.iter().skip(7).map(|kind| kind.keyword()).collect();
    assert_eq!(
        words,
        [
            "path", "name", "size", "width", "height", "aspect", "format", "date", "rating",
            "column", "any_of", "not",
        ]
    );
}

#[test]
fn a_column_is_asked_for_before_its_value() {
    let mut harness = local_desk();
    harness.press("3 a");
    harness.type_text("column");
    harness.press("enter");
    harness.type_text("weather");
    harness.press("enter");
    harness.type_text("sun");
    harness.press("enter");
    let row = draft(&harness).rows.first().unwrap().clone();
    let expected = filters(r#"[{"column":{"name":"weather","op":"is","value":"sun"}}]"#);
    assert_eq!(row.filter().ok().as_ref(), expected.first());
}

#[test]
fn a_value_that_becomes_a_list_stays_apart_from_the_name_of_its_column() {
    let mut harness = local_desk();
    write_query(&mut harness, r#"[{"column":{"name":"quality","op":"is","value":0.5}}]"#);
    harness.press("3 right right");
    let one_of = r#"[{"column":{"name":"quality","op":"one_of","value":[0.5]}}]"#;
    for keys in ["enter tab", "enter enter", "enter esc"] {
        harness.press(keys);
        let draft = draft(&harness);
        assert_eq!(draft.filters(), Ok(filters(one_of)), "{keys}");
        assert_eq!(draft.rows[0].text(1), "quality");
    }
    let mut row = draft(&harness).rows[0].clone();
    for entry in ["a", "b", "a"] {
        row.set_value(entry);
    }
    assert_eq!(row.entries, ["0.5", "a", "b"]);
}

#[test]
fn typed_spaces_belong_to_the_name_of_a_file() {
    let mut harness = local_desk();
    harness.press("3 a");
    harness.type_text("name");
    harness.press("enter");
    harness.type_text("copy ");
    harness.press("enter");
    let row = draft(&harness).rows.first().unwrap().clone();
    let expected = filters(r#"[{"name":{"op":"is","value":"copy "}}]"#);
    assert_eq!(row.filter().ok().as_ref(), expected.first());
    for (json, value) in [
        (r#"[{"name":{"op":"one_of","value":["a"]}}]"#, " b"),
        (r#"[{"name":{"op":"contains","value":"a"}}]"#, " "),
    ] {
        let mut draft = QueryDraft::default();
        draft.adopt_filters(&filters(json));
        *draft.rows[0].input_mut(0).unwrap() = value.into();
        let written = draft.filters().unwrap();
        assert!(tessera_wire::vql::write(&written).contains(&format!("\"{value}\"")));
    }
}

#[test]
fn a_row_of_each_added_filter_becomes_the_filter_again() {
    let mut harness = local_desk();
    let all = filters(
        r#"[{"path":{"op":"is","value":"train/*"}},
            {"name":{"op":"one_of","value":["a*","b"]}},
            {"width":{"op":"at_least","value":1000}},
            {"date":{"op":"at_most","value":"2024-05"}},
            {"column":{"name":"weather","op":"not_one_of","value":["sun","5",5,true]}},
            {"column":{"name":"distance","op":"at_least","value":-1.5}},
            {"any_of":[{"format":{"op":"is","value":"png"}},{"height":{"op":"is","value":7}}]},
            {"not":{"path":{"op":"is","value":"val"}}}]"#,
    );
    write_query(&mut harness, &tessera_wire::vql::write(&all));
    assert_eq!(draft(&harness).filters(), Ok(all));
    let texts: Vec<String> = chips(&harness.app).iter().map(|chip| chip.text.to_string()).collect();
    for text in [
        "path train/*",
        "name a*, b",
        "width ≥ 1000",
        "date ≤ 2024-05",
        "format png or height 7",
        "not path val",
    ] {
        assert!(texts.iter().any(|chip| chip == &format!("draft: {text}")), "{text}: {texts:?}");
    }
}

#[test]
fn changing_the_operator_of_a_list_keeps_its_first_value() {
    let mut draft = QueryDraft::default();
    draft.adopt_filters(&filters(r#"[{"format":{"op":"one_of","value":["jpeg","png"]}}]"#));
    draft.cycle_choice(-1);
    assert_eq!(draft.filters(), Ok(filters(r#"[{"format":{"op":"is_not","value":"jpeg"}}]"#)));
    assert!(draft.undo());
    assert_eq!(draft.rows[0].entries, ["jpeg", "png"]);
}

#[test]
fn another_deployment_warns_about_an_added_filter() {
    let mut harness = AppHarness::with_clusters(9);
    write_query(&mut harness, r#"[{"path":{"op":"is","value":"train"}}]"#);
    let texts: Vec<String> = diagnostics(&harness.app).into_iter().map(|it| it.text).collect();
    assert!(texts.iter().any(|text| text.starts_with("path is an addition of local")), "{texts:?}");
}

#[test]
fn errors_in_the_json_count_filters_from_1_as_the_form_does() {
    let mut harness = AppHarness::with_clusters(9);
    let half = r#"[{"uniqueness":{"op":"uniqueness","value":0.5}},{"tags":{}}]"#;
    write_query(&mut harness, half);
    assert!(
        first_diagnostic(&harness).starts_with("filter 2, tags"),
        "{}",
        first_diagnostic(&harness)
    );
}
