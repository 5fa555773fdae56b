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
