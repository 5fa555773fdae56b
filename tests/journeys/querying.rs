//! Tests searches by words, by filters and by a part of a picture, and tabs, members and combined results.

use tessera::state::StateFolder;
use tessera_model::{StateKey, StateValue};

use crate::journeys::harness::{Service, UserHarness};

#[tokio::test(flavor = "multi_thread")]
async fn write_filters_run_them_switch_one_off_and_keep_the_query() {
    let service = Service::over_paintings(24).await;
    let mut user = UserHarness::at(&service).await;
    user.press("3 a 6").await;
    user.paste("2");
    user.sees("uniqueness.value must be a number from 0.0 to 1.0");
    user.press("f5 3").await;
    user.sees("filter 1, uniqueness.value: must be a number from 0.0 to 1.0");
    user.press("enter ctrl-u 0 f5").await;
    user.sees("✓ uniqueness >0");
    assert!(!user.session.app.results().page().unwrap().clusters.is_empty());
    // No uniqueness is above 1, so nothing matches both filters.
    user.press("3 a 6 1 f5").await;
    user.sees("Nothing matches all of this: uniqueness >0 · uniqueness >1");
    user.sees("g l searches again with uniqueness 1.00 → 0.80");
    user.press("3 k space").await;
    user.sees("1 disabled (kept, not sent)");
    user.press("w v enter W enter").await;
    user.sees("✓ uniqueness >1");
    user.sees("○ uniqueness >0");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_service_refuses_stands_under_its_filter() {
    let service = Service::over_paintings(12).await;
    let mut user = UserHarness::at(&service).await;
    user.press("3 a 4").await;
    user.paste("grain");
    user.sees("“grain” is not a published issue name");
    user.press("f5 3").await;
    user.sees("row 1: the service reports: query.vql: filter 1, issues.value: must be one of blur");
    assert_eq!(
        user.session.app.query().draft(user.session.app.results()).rows.len(),
        1,
        "the query stays"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_a_picture_is_searched_by_a_copy_of_it() {
    let service = Service::over_paintings(24).await;
    let mut user = UserHarness::at(&service).await;
    user.press("b").await;
    user.sees("Pick a region   desert-0");
    user.press("3").await;
    user.sees("area    25%");
    user.press("enter").await;
    user.sees("part of desert-0");
    assert!(user.session.app.results().page().is_some_and(|page| !page.clusters.is_empty()));
    // Another granularity sends the same part again.
    user.press("<").await;
    user.sees("granularity 1");
    user.sees("part of desert-0");
    user.press("B").await;
    user.sees("Pick a region   desert-0");
}

// The test has one thread, so the worker does nothing until the end of the program waits for it.
#[tokio::test]
async fn a_tab_that_was_opened_just_before_the_end_is_saved() {
    let service = Service::over_paintings(4).await;
    let folder = tempfile::tempdir().unwrap();
    let state = || StateFolder::in_dir(folder.path().to_owned());
    UserHarness::keeping(&service, state()).await.press_and_quit("ctrl-t").await;
    let saved = state().load(&StateKey::Session).unwrap();
    let Some(StateValue::Session(session)) = saved else { panic!("no session: {saved:?}") };
    assert_eq!(session.tabs.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_similar_to_one_picture_and_not_to_another() {
    let service = Service::over_paintings(40).await;
    let mut user = UserHarness::at(&service).await;
    user.press("< < f").await;
    let all = user.session.app.results().tiles().len();
    assert!(all > 1, "a search ranks clusters:\n{}", user.screen());
    let nearest = user.session.app.results().cluster().unwrap().id;
    // The second tab is filtered to one picture. The filter itself sends no request.
    user.press("ctrl-t < <").await;
    let name = user.session.app.results().preview().unwrap().file_name.to_string();
    user.press("/").await;
    user.paste(&name);
    user.press("enter").await;
    user.sees("1 of");
    user.press("esc alt-1 = 1").await;
    user.sees("of loaded pages");
    assert!(
        user.session.app.results().tiles().is_empty(),
        "the whole dataset without itself leaves nothing"
    );
    user.press("ctrl-w alt-1 = 2").await;
    assert_eq!(user.session.app.results().tiles().len(), all);
    assert_eq!(
        user.session.app.results().cluster().unwrap().id,
        nearest,
        "in the order of the first tab"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn members_and_a_search_run_again() {
    let service = Service::over_paintings(40).await.with_documented_operations().await;
    let mut user = UserHarness::at(&service).await;
    user.press("> > , 4").await;
    user.press("enter").await;
    assert!(user.session.app.results().shows_members(), "{}", user.screen());
    user.sees("9 of 15 members: ");
    user.press("l f").await;
    user.sees("similar to");
    let found = user.session.app.results().view().unwrap().search.clone();
    user.press("esc esc H enter").await;
    assert_eq!(user.session.app.results().view().unwrap().search, found);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_members_of_a_cluster_are_shown() {
    let service = Service::over_paintings(40).await.with_compat().await;
    let mut user = UserHarness::at(&service).await;
    user.press("> > , 4").await;
    user.press("enter").await;
    user.sees("all 15 members of this cluster");
    assert_eq!(user.session.app.results().tiles().len(), 15);
}
