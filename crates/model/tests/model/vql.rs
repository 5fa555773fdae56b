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
        // A service may have another scale for these.
        assert_eq!(Filter::duplicates(wrong).is_ok(), wrong.is_finite());
        assert_eq!(Filter::uniqueness(wrong).is_ok(), wrong.is_finite());
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

#[test]
fn a_rejected_value_is_named_with_the_reason() {
    for (result, message) in [
        (Filter::full_text(" "), "value: a text must not be empty"),
        (Filter::full_text(&"x".repeat(1_001)), "value: a text has at most 1000 characters"),
        (Filter::labels(LabelRule::Is, [""]), "value: a label must not be empty"),
        (
            Filter::labels(LabelRule::Is, [&*"x".repeat(257)]),
            "value: a label has at most 256 characters",
        ),
        (Filter::tags(vec![]), "value: must be a list of 1 to 100 entries"),
        (Filter::semantic("x", Some(2.0)), "threshold: must be a number from 0.0 to 1.0"),
        (
            Filter::issue(IssueKind::Dark, IssueMode::In, Some(0.6), Some(0.5)),
            "confidence_min: must not be above confidence_max",
        ),
        (
            Filter::issue(IssueKind::Dark, IssueMode::In, Some(-0.1), None),
            "confidence_min: must be a number from 0.0 to 1.0",
        ),
    ] {
        assert_eq!(result.unwrap_err().to_string(), message);
    }
}

#[test]
fn values_as_long_and_as_many_as_allowed_are_kept() {
    let text = "ü".repeat(1_000);
    assert_eq!(QueryText::new(&format!(" {text}\n")).unwrap().as_str(), text);
    let label = "ü".repeat(256);
    assert_eq!(Label::new(&label).unwrap().as_str(), label);
    let labels = |count: usize| (0..count).map(|number| format!("{number:03}"));
    let filter = |count| {
        let labels: Vec<String> = labels(count).collect();
        Filter::labels(LabelRule::OneOf, labels.iter().map(String::as_str))
    };
    let Ok(Filter::Labels(_, kept)) = filter(100) else { panic!("100 labels are allowed") };
    assert!(kept.as_slice().iter().map(Label::as_str).eq(labels(100)));
    assert_eq!(field(filter(101)), "value");
}

#[test]
fn a_fraction_is_a_number_from_0_to_1() {
    for (number, value) in [
        (0.0, Some(0.0)),
        (-0.0, Some(0.0)),
        (0.25, Some(0.25)),
        (1.0, Some(1.0)),
        (1.000_001, None),
        (-0.000_001, None),
        (f64::NAN, None),
    ] {
        assert_eq!(Fraction::new(number).map(Fraction::value), value, "{number}");
    }
}

#[test]
fn a_name_of_an_issue_is_known_or_kept_as_it_is() {
    assert_eq!(IssueName::new(" blur ").unwrap(), IssueName::Known(IssueKind::Blur));
    for name in ["odd_aspect", "label_outlier", "glare", "BLUR"] {
        assert_eq!(IssueName::new(name).unwrap().as_str(), name);
    }
    assert!(matches!(IssueName::new("BLUR"), Ok(IssueName::Other(_))));
    assert_eq!(IssueName::new("").unwrap_err().to_string(), "value: an issue must not be empty");
}

#[test]
fn a_filter_needs_the_model_whose_result_it_reads() {
    use tessera_model::{Anchor, AnchorKind, EnrichmentModel, MediaId, TagId};
    let id = uuid::Uuid::nil();
    let anchor = Anchor { media: MediaId(id), kind: AnchorKind::Media };
    for (filter, models) in [
        (Filter::full_text("a"), EnrichmentModel::ANY_FOR_CAPTIONS),
        (Filter::semantic("a", None), EnrichmentModel::ANY_FOR_SEMANTIC),
        (Filter::labels(LabelRule::Is, ["a"]), EnrichmentModel::ANY_FOR_LABELS),
        (Filter::tags(vec![TagId(id)]), &[]),
        (Filter::issue(IssueKind::Blur, IssueMode::In, None, None), &[]),
        (Filter::duplicates(0.5), &[]),
        (Filter::uniqueness(0.5), &[]),
        (Filter::similar(anchor, None), &[]),
    ] {
        let filter = filter.unwrap();
        assert_eq!(filter.required_models(), models, "{filter}");
    }
}

#[test]
fn an_issue_that_the_interface_does_not_publish_is_warned_about() {
    for name in ["blur", " blur ", "", "  "] {
        assert_eq!(unpublished_issue_warning(name), None, "{name:?}");
    }
    assert_eq!(
        unpublished_issue_warning(" dark\u{1b}").as_deref(),
        Some("“dark␛” is not a published issue name: this service may reject it")
    );
}

#[test]
fn a_query_of_more_than_4000_characters_may_be_too_long_for_a_proxy() {
    assert_eq!(long_query_warning(4_000), None);
    assert_eq!(
        long_query_warning(4_001).as_deref(),
        Some("4001 characters in the URL; some proxies reject URLs this long")
    );
    assert_eq!(
        long_query_warning(65_535).as_deref(),
        Some(
            "65535 characters in the URL; a URL has at most 65534, so use fewer or shorter filters"
        )
    );
}

#[test]
fn filters_are_explained_as_sentences() {
    let explained = |filter: Result<Filter, InvalidField>| filter.unwrap().to_string();
    assert_eq!(
        explained(Filter::semantic("red van", Some(0.35))),
        "its caption or picture is similar in meaning to “red van”, with a similarity of at least \
         0.35 (higher is stricter)"
    );
    assert_eq!(
        explained(Filter::labels(LabelRule::NotOneOf, ["van", "bus"])),
        "it has none of the labels “bus”, “van”"
    );
    let word = IssueName::new("blur").unwrap();
    assert_eq!(
        explained(Filter::issue(word, IssueMode::Out, Some(0.5), None)),
        "it does not have the issue “blur”, found with a confidence of 0.5 to 1"
    );
    assert_eq!(explained(Filter::full_text("a\u{1b}[2J")), {
        "its caption says “a␛[2J”, read as a full-text query"
    });
}

#[test]
fn every_kind_of_filter_has_a_sentence_of_its_own() {
    use tessera_model::{Anchor, AnchorKind, MediaId, TagId};
    let id = uuid::Uuid::from_u128(1);
    let name = "00000000-0000-0000-0000-000000000001";
    let anchor = |kind| Anchor { media: MediaId(id), kind };
    let issue = |mode, min, max| Filter::issue(IssueKind::Dark, mode, min, max);
    for (filter, sentence) in [
        (
            Filter::semantic("red van", None),
            "its caption or picture is similar in meaning to “red van”".to_owned(),
        ),
        (
            Filter::labels(LabelRule::OneOf, ["van"]),
            "it has at least one of the labels “van”".to_owned(),
        ),
        (Filter::labels(LabelRule::Is, ["van"]), "it has all of the labels “van”".to_owned()),
        (
            Filter::labels(LabelRule::IsNot, ["van"]),
            "it does not have all of the labels “van”".to_owned(),
        ),
        (Filter::tags(vec![TagId(id)]), format!("it carries every one of the tags {name}")),
        (issue(IssueMode::In, None, None), "it has the issue “dark”".to_owned()),
        (
            issue(IssueMode::In, None, Some(0.5)),
            "it has the issue “dark”, found with a confidence of 0 to 0.5".to_owned(),
        ),
        (
            issue(IssueMode::Out, Some(0.25), Some(0.5)),
            "it does not have the issue “dark”, found with a confidence of 0.25 to 0.5".to_owned(),
        ),
        (
            Filter::duplicates(0.95),
            "it has a near-duplicate with a similarity of at least 0.95".to_owned(),
        ),
        (Filter::uniqueness(0.8), "its uniqueness score is above 0.8".to_owned()),
        (
            Filter::similar(anchor(AnchorKind::Media), None),
            format!("it is similar to the image {name}"),
        ),
        (
            Filter::similar(anchor(AnchorKind::Upload), Some(0.3)),
            format!(
                "it is similar to the uploaded image {name}, at a distance below 0.3 (lower \
                 is stricter)"
            ),
        ),
    ] {
        assert_eq!(filter.unwrap().to_string(), sentence);
    }
}
