//! Tests what the menus, the record, the log and the copies show about a real service, and what the user sees while the
//! service goes away and comes back.

use tessera_interface::app::Effect;

use crate::journeys::harness::{Person, Service};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_copied_and_logged_names_the_service_and_no_secret() {
    let service = Service::over_paintings(12).await;
    let mut person = Person::at(&service).await;
    person.press("y c").await;
    let copied = person.effects.iter().rev().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.clone()),
        _ => None,
    });
    let copied = copied.unwrap().to_string();
    assert!(copied.contains("$TESSERA_TOKEN") && copied.contains("/api/v1/explore/"), "{copied}");
    person.press("@").await;
    person.sees("GET /api/v1/datasets");
    person.sees("200");
    person.press("esc 1 i").await;
    person.sees("Record of paintings");
    person.sees("status_new");
    person.sees("(zone not given)");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_id_is_reported_and_the_list_stays() {
    let service = Service::over_paintings(12).await;
    let mut person = Person::at(&service).await;
    person.press("1 I").await;
    person.paste("00000000-0000-0000-0000-00000000abcd");
    person.press("enter").await;
    person.sees("dataset not found, or no access");
    person.sees("● paintings");
}

#[tokio::test(flavor = "multi_thread")]
async fn lose_and_regain_the_service() {
    let mut service = Service::over_paintings(40).await;
    let mut person = Person::at(&service).await;
    let clusters = person.session.app.results().page().unwrap().clusters.len();

    service.stop().await;
    person.wait(20).await;
    person.wait(20).await;
    person.sees("no response for");
    assert_eq!(
        person.session.app.results().page().unwrap().clusters.len(),
        clusters,
        "what was seen stays"
    );
    person.press("l j h k").await;
    person.press("f").await;
    person.sees("r tries again");

    service.start().await;
    person.wait(31).await;
    person.sees("the service responds again");
    person.wait(31).await;
    person.sees("lower is closer");
    assert!(
        person.session.app.results().page().is_some_and(|page| !page.clusters.is_empty()),
        "{}",
        person.screen()
    );
}
