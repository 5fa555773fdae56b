//! Tests searches by words, by filters and by a part of a picture, and tabs, members and combined results.

use tessera::state::StateFolder;
use tessera_model::{StateKey, StateValue};

use crate::journeys::harness::{Person, Service};

#[tokio::test(flavor = "multi_thread")]
async fn write_filters_run_them_switch_one_off_and_keep_the_query() {
    let service = Service::over_paintings(24).await;
    let mut person = Person::at(&service).await;
    person.press("3 a 6").await;
    person.paste("2");
    person.sees("uniqueness.value must be a number from 0.0 to 1.0");
    person.press("f5 3").await;
    person.sees("filter 1, uniqueness.value: must be a number from 0.0 to 1.0");
    person.press("enter ctrl-u 0 f5").await;
    person.sees("✓ uniqueness >0");
    assert!(!person.session.app.results().page().unwrap().clusters.is_empty());
    // No uniqueness is above 1, so nothing matches both filters.
    person.press("3 a 6 1 f5").await;
    person.sees("Nothing matches all of this: uniqueness >0 · uniqueness >1");
    person.sees("g l searches again with uniqueness 1.00 → 0.80");
    person.press("3 k space").await;
    person.sees("1 disabled (kept, not sent)");
    person.press("w v enter W enter").await;
    person.sees("✓ uniqueness >1");
    person.sees("○ uniqueness >0");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_service_refuses_stands_under_its_filter() {
    let service = Service::over_paintings(12).await;
    let mut person = Person::at(&service).await;
    person.press("3 a 4").await;
    person.paste("grain");
    person.sees("“grain” is not a published issue name");
    person.press("f5 3").await;
    person
        .sees("row 1: the service reports: query.vql: filter 1, issues.value: must be one of blur");
    assert_eq!(
        person.session.app.query().draft(person.session.app.results()).rows.len(),
        1,
        "the query stays"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_a_picture_is_searched_by_a_copy_of_it() {
    let service = Service::over_paintings(24).await;
    let mut person = Person::at(&service).await;
    person.press("b").await;
    person.sees("Pick a region   desert-0");
    person.press("3").await;
    person.sees("area    25%");
    person.press("enter").await;
    person.sees("part of desert-0");
    assert!(person.session.app.results().page().is_some_and(|page| !page.clusters.is_empty()));
    // Another granularity sends the same part again.
    person.press("<").await;
    person.sees("granularity 1");
    person.sees("part of desert-0");
    person.press("B").await;
    person.sees("Pick a region   desert-0");
}

// The test has one thread, so the worker does nothing until the end of the program waits for it.
#[tokio::test]
async fn a_tab_that_was_opened_just_before_the_end_is_saved() {
    let service = Service::over_paintings(4).await;
    let folder = tempfile::tempdir().unwrap();
    let state = || StateFolder::in_dir(folder.path().to_owned());
    Person::keeping(&service, state()).await.press_and_quit("ctrl-t").await;
    let saved = state().load(&StateKey::Session).unwrap();
    let Some(StateValue::Session(session)) = saved else { panic!("no session: {saved:?}") };
    assert_eq!(session.tabs.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_similar_to_one_picture_and_not_to_another() {
    let service = Service::over_paintings(40).await;
    let mut person = Person::at(&service).await;
    person.press("< < f").await;
    let all = person.session.app.results().tiles().len();
    assert!(all > 1, "a search ranks clusters:\n{}", person.screen());
    let nearest = person.session.app.results().cluster().unwrap().id;
    // The second tab is filtered to one picture. The filter itself sends no request.
    person.press("ctrl-t < <").await;
    let name = person.session.app.results().preview().unwrap().file_name.to_string();
    person.press("/").await;
    person.paste(&name);
    person.press("enter").await;
    person.sees("1 of");
    person.press("esc alt-1 = 1").await;
    person.sees("of loaded pages");
    assert!(
        person.session.app.results().tiles().is_empty(),
        "the whole dataset without itself leaves nothing"
    );
    person.press("ctrl-w alt-1 = 2").await;
    assert_eq!(person.session.app.results().tiles().len(), all);
    assert_eq!(
        person.session.app.results().cluster().unwrap().id,
        nearest,
        "in the order of the first tab"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn members_and_a_search_run_again() {
    let service = Service::over_paintings(40).await.with_documented_operations().await;
    let mut person = Person::at(&service).await;
    person.press("> > , 4").await;
    person.press("enter").await;
    assert!(person.session.app.results().shows_members(), "{}", person.screen());
    person.sees("9 of 15 members: ");
    person.press("l f").await;
    person.sees("similar to");
    let found = person.session.app.results().view().unwrap().search.clone();
    person.press("esc esc H enter").await;
    assert_eq!(person.session.app.results().view().unwrap().search, found);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_members_of_a_cluster_are_shown() {
    let service = Service::over_paintings(40).await.with_compat().await;
    let mut person = Person::at(&service).await;
    person.press("> > , 4").await;
    person.press("enter").await;
    person.sees("all 15 members of this cluster");
    assert_eq!(person.session.app.results().tiles().len(), 15);
}
