use tessera_model::vql::*;

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
                "it is similar to the uploaded image {name}, at a distance of at most 0.3 (lower \
                 is stricter)"
            ),
        ),
    ] {
        assert_eq!(filter.unwrap().to_string(), sentence);
    }
}
