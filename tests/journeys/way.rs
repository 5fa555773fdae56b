//! Tests what the menus, the record, the log and the copies show about a real service, and what the user sees while the
//! service goes away and comes back.

use tessera_interface::app::Effect;

use crate::journeys::harness::{Service, UserHarness};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_copied_and_logged_names_the_service_and_no_secret() {
    let service = Service::over_paintings(12).await;
    let mut user = UserHarness::at(&service).await;
    user.press("y c").await;
    let copied = user.effects.iter().rev().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.clone()),
        _ => None,
    });
    let copied = copied.unwrap().to_string();
    assert!(copied.contains("$TESSERA_TOKEN") && copied.contains("/api/v1/explore/"), "{copied}");
    user.press("@").await;
    user.sees("GET /api/v1/datasets");
    user.sees("200");
    user.press("esc 1 i").await;
    user.sees("Record of paintings");
    user.sees("status_new");
    user.sees("(zone not given)");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_id_is_reported_and_the_list_stays() {
    let service = Service::over_paintings(12).await;
    let mut user = UserHarness::at(&service).await;
    user.press("1 I").await;
    user.paste("00000000-0000-0000-0000-00000000abcd");
    user.press("enter").await;
    user.sees("dataset not found, or no access");
    user.sees("● paintings");
}

#[tokio::test(flavor = "multi_thread")]
async fn lose_and_regain_the_service() {
    let mut service = Service::over_paintings(40).await;
    let mut user = UserHarness::at(&service).await;
    let clusters = user.session.app.results().page().unwrap().clusters.len();

    service.stop().await;
    user.wait(20).await;
    user.wait(20).await;
    user.sees("no response for");
    assert_eq!(
        user.session.app.results().page().unwrap().clusters.len(),
        clusters,
        "what was seen stays"
    );
    user.press("l j h k").await;
    user.press("f").await;
    user.sees("r tries again");

    service.start().await;
    user.wait(31).await;
    user.sees("the service responds again");
    user.wait(31).await;
    user.sees("lower is closer");
    assert!(
        user.session.app.results().page().is_some_and(|page| !page.clusters.is_empty()),
        "{}",
        user.screen()
    );
}
