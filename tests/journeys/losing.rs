//! Tests what the user sees while the service goes away and comes back.

use crate::journeys::harness::{Person, Service};

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
