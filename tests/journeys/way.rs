//! Tests what the menus, the record, the log and the copies show about a real service.

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
