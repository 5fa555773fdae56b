//! Tests searches by words and by filters.

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
