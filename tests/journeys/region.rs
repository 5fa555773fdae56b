//! Tests a search by a part of a picture.

use crate::journeys::harness::{Person, Service};

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
