//! What makes a filter valid.

use tessera_model::vql::*;

fn field(result: Result<Filter, InvalidField>) -> &'static str {
    result.expect_err("refused").field
}

#[test]
fn invalid_filter_values_are_rejected() {
    assert_eq!(field(Filter::full_text(" \t")), "value");
    assert_eq!(field(Filter::full_text(&"x".repeat(1_001))), "value");
    assert!(Filter::full_text(&"ü".repeat(1_000)).is_ok());
    assert_eq!(field(Filter::labels(LabelRule::OneOf, [])), "value");
    assert_eq!(field(Filter::labels(LabelRule::Is, ["cat", " "])), "value");
    assert_eq!(field(Filter::labels(LabelRule::Is, vec!["cat"; 101])), "value");
    assert_eq!(field(Filter::tags(Vec::new())), "value");
    for wrong in [-0.01, 1.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(field(Filter::semantic("x", Some(wrong))), "threshold");
        assert_eq!(field(Filter::duplicates(wrong)), "value");
        assert_eq!(field(Filter::uniqueness(wrong)), "value");
    }
}

#[test]
fn confidence_bounds_must_be_in_order() {
    let issue = |min, max| Filter::issue(IssueKind::Blur, IssueMode::In, min, max);
    assert_eq!(field(issue(Some(0.9), Some(0.1))), "confidence_min");
    assert_eq!(field(issue(None, Some(2.0))), "confidence_max");
    assert!(issue(Some(0.5), Some(0.5)).is_ok());
}

#[test]
fn equivalent_filters_are_equal() {
    let labels = |list: &[&str]| Filter::labels(LabelRule::OneOf, list.iter().copied());
    assert_eq!(labels(&["van", "truck"]), labels(&["truck", " van", "van "]));
    assert_eq!(Filter::uniqueness(-0.0), Filter::uniqueness(0.0));
    assert!(Fraction::new(0.25) < Fraction::new(0.5));
}
