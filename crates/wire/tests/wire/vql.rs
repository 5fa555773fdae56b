//! Reading and writing filters, and the locations of errors.

use proptest::prelude::*;
use serde_json::json;

use tessera_model::{vql::*, *};
use tessera_wire::vql::*;

const ID: &str = "95233006-eddc-11ef-b303-76dbc3993eb2";

fn rejection(text: &str) -> String {
    read(text).expect_err(text).to_string()
}

#[test]
fn every_filter_of_the_interface_is_read_and_written() {
    for text in [
        r#"[{"text":{"op":"fts","value":"highway night"}}]"#,
        r#"[{"text":{"op":"semantic","value":"dog playing","threshold":0.7}}]"#,
        r#"[{"labels":{"op":"one_of","value":["cat","dog"]}}]"#,
        r#"[{"labels":{"op":"not_one_of","value":["cat"]}}]"#,
        r#"[{"tags":{"op":"is","value":["95233006-eddc-11ef-b303-76dbc3993eb2"]}}]"#,
        r#"[{"issues":{"op":"issue","value":"blur","mode":"in"}}]"#,
        r#"[{"issues":{"op":"issue","value":"dark","mode":"out","confidence_min":0.8,"confidence_max":1.0}}]"#,
        r#"[{"duplicates":{"op":"duplicates","value":0.95}},{"uniqueness":{"op":"uniqueness","value":0.8}}]"#,
        r#"[{"similarity":{"op":"upload","value":"95233006-eddc-11ef-b303-76dbc3993eb2","threshold":0.5}}]"#,
        "[]",
    ] {
        assert_eq!(write(&read(text).expect(text)), text);
    }
}

#[test]
fn every_filter_of_the_local_deployment_is_read_and_written() {
    for text in [
        r#"[{"path":{"op":"is","value":"train/*.jpg"}}]"#,
        r#"[{"path":{"op":"not_one_of","value":["a","b"]}}]"#,
        r#"[{"name":{"op":"contains","value":"IMG"}}]"#,
        r#"[{"size":{"op":"at_least","value":1048576}}]"#,
        r#"[{"width":{"op":"is_not","value":640}},{"height":{"op":"one_of","value":[480,720]}}]"#,
        r#"[{"aspect":{"op":"at_most","value":1.5}}]"#,
        r#"[{"format":{"op":"one_of","value":["jpeg","png"]}}]"#,
        r#"[{"date":{"op":"at_least","value":"2024-05"}}]"#,
        r#"[{"column":{"name":"weather","op":"is","value":"heavy rain"}}]"#,
        r#"[{"column":{"name":"distance","op":"at_most","value":-2.25}}]"#,
        r#"[{"column":{"name":"night","op":"is","value":true}}]"#,
        r#"[{"any_of":[{"width":{"op":"is","value":1}},{"labels":{"op":"is","value":["cat"]}}]}]"#,
        r#"[{"not":{"any_of":[{"not":{"path":{"op":"is","value":"a"}}}]}}]"#,
    ] {
        let filters = read(text).expect(text);
        // The order of the fields of an object says nothing.
        let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parsed(&write(&filters)), parsed(text));
        assert_eq!(read(&write(&filters)).unwrap(), filters);
    }
}

#[test]
fn errors_in_filters_of_local_services_name_filter_and_field() {
    for (text, words) in [
        (r#"[{"path":{"op":"in","value":"a"}}]"#, "filter 0, path.op: must be one of is, is_not"),
        (
            r#"[{"path":{"op":"is","value":"[a"}}]"#,
            "filter 0, path.value: the pattern has a bracket",
        ),
        (r#"[{"path":{"op":"is"}}]"#, "filter 0, path.value: is missing"),
        (
            r#"[{"path":{"op":"one_of","value":"a"}}]"#,
            "filter 0, path.value: must be a list of values",
        ),
        (
            r#"[{"width":{"op":"is","value":[1]}}]"#,
            "filter 0, width.value: must be a text, a number",
        ),
        (r#"[{"width":{"op":"is","value":"1"}}]"#, "filter 0, width.value: must be a number"),
        (r#"[{"date":{"op":"is","value":"x"}}]"#, "filter 0, date.value: must be a date like 2024"),
        (r#"[{"column":{"op":"is","value":1}}]"#, "filter 0, column.name: must be a text"),
        (r#"[{"any_of":{}}]"#, "filter 0, any_of: must be a list of filters"),
        (r#"[{"any_of":[]}]"#, "filter 0, any_of: must have 1 to 16 filters"),
        (
            r#"[{"any_of":[{"width":{"op":"is","value":"x"}}]}]"#,
            "filter 0, any_of: width.value: must be",
        ),
        (r#"[{"not":{"text":{"op":"fts","value":"a"}}}]"#, "filter 0, not: must not contain text"),
        (
            r#"[{"not":{"issues":{"op":"issue","value":"unheard"}}}]"#,
            "filter 0, issues.value: must be one of",
        ),
    ] {
        assert!(rejection(text).starts_with(words), "{text}: {}", rejection(text));
    }
    let nested = format!("[{}1{}]", r#"{"not":"#.repeat(60), "}".repeat(60));
    assert!(read(&nested).is_err());
}

#[test]
fn numbers_keep_all_their_digits() {
    for number in [9_007_199_254_740_991.0, 0.945_193_914_504_889_3, -2.5e-300, 1e18, f64::MAX] {
        let value = ColumnValue::Number(number);
        let stored = serde_json::to_string(&value).unwrap();
        assert_eq!(serde_json::from_str::<ColumnValue>(&stored).unwrap(), value);
        let text = write_scalar(&value).to_string();
        assert_eq!(serde_json::from_str::<ColumnValue>(&text).unwrap(), value, "{text}");
        let column = Property::Column(ColumnName::new("distance").unwrap());
        let filters = [Filter::property(column, Operator::Is, &[value]).unwrap()];
        assert_eq!(read(&write(&filters)).unwrap(), filters);
    }
    assert_eq!(
        write_scalar(&ColumnValue::Number(9_007_199_254_740_991.0)).to_string(),
        "9007199254740991"
    );
}

#[test]
fn a_whole_number_that_would_lose_digits_is_a_text_as_in_sidecars() {
    let column = |op: &str, value: &str| {
        read(&format!(r#"[{{"column":{{"name":"photo_id","op":"{op}","value":{value}}}}}]"#))
            .unwrap()
    };
    for number in ["1234567890123456789", "-9007199254740993", "18446744073709551615"] {
        assert_eq!(column("is", number), column("is", &format!("\"{number}\"")));
        assert!(write(&column("is", number)).contains(&format!("\"{number}\"")));
        // Sizes are compared as numbers.
        assert_eq!(read(&write(&column("at_most", number))).unwrap(), column("at_most", number));
    }
    assert_ne!(column("is", "9007199254740992"), column("is", "\"9007199254740992\""));
    assert!(read(r#"[{"size":{"op":"at_most","value":9223372036854775807}}]"#).is_ok());
}

#[test]
fn extra_fields_of_public_clients_are_accepted() {
    let plain = read(r#"[{"issues":{"op":"issue","value":"blur","mode":"in"}}]"#).unwrap();
    for text in [
        r#"[{"id":"x","issues":{"op":"issue","value":"blur"}}]"#,
        r#"[{"issues":{"op":"issue","value":"blur","mode":null,"confidence_min":null}, "id": 7}]"#,
    ] {
        assert_eq!(read(text).expect(text), plain);
    }
    assert_eq!(
        read(r#"[{"uniqueness":{"op":"uniqueness","value":1}}]"#).unwrap(),
        [Filter::uniqueness(1.0).unwrap()]
    );
}

#[test]
fn errors_name_filter_and_field() {
    for (text, words) in [
        ("", "must be a JSON array of filters: EOF while parsing a value at line 1 column 0"),
        ("{}", "must be a JSON array of filters"),
        ("[1]", "filter 0: must be an object"),
        ("[{}]", "filter 0: must have exactly one key"),
        (r#"[{"id":"x"}]"#, "filter 0: must have exactly one key"),
        (r#"[{"labels":{},"tags":{}}]"#, "filter 0: must have exactly one key"),
        (r#"[{"label":{}}]"#, r#"filter 0: "label" is not a filter; the filters are text, labels"#),
        (r#"[{"labels":[]}]"#, "filter 0, labels: must be an object"),
        (
            r#"[{"labels":{"op":"one_of","value":["a"],"x":1}}]"#,
            r#"filter 0, labels: has no "x"; its fields are op, value"#,
        ),
        (
            r#"[{"labels":{"op":"in","value":["a"]}}]"#,
            "filter 0, labels.op: must be one of one_of, is, is_not, not_one_of",
        ),
        (
            r#"[{"labels":{"op":"is","value":"a"}}]"#,
            "filter 0, labels.value: must be a list of texts",
        ),
        (
            r#"[{"text":{"op":"fts","value":"a","threshold":0.5}}]"#,
            "filter 0, text.threshold: is only for semantic",
        ),
        (r#"[{"text":{"op":"fts"}}]"#, "filter 0, text.value: must be a text"),
        (
            r#"[{"text":{"op":"semantic","value":"a","threshold":"0.5"}}]"#,
            "filter 0, text.threshold: must be a number from 0.0 to 1.0",
        ),
        (
            r#"[{"text":{"op":"fts","value":"a"}},{"uniqueness":{"op":"uniqueness","value":1.5}}]"#,
            "filter 1, uniqueness.value: must be a number from 0.0 to 1.0",
        ),
        (
            r#"[{"tags":{"op":"is","value":["mine"]}}]"#,
            "filter 0, tags.value: must be a list of UUIDs",
        ),
        (
            r#"[{"issues":{"op":"issue","value":"ugly"}}]"#,
            "filter 0, issues.value: must be one of blur, dark, bright",
        ),
        (
            r#"[{"similarity":{"op":"media","value":"x"}}]"#,
            "filter 0, similarity.value: must be a UUID",
        ),
    ] {
        let message = rejection(text);
        assert!(message.starts_with(words), "{text}: {message}");
    }
}

#[test]
fn a_repeated_key_is_refused_with_its_name_and_position() {
    for (text, key, column) in [
        (r#"[{"width":{"op":"is","value":1},"width":{"op":"is","value":2}}]"#, "width", 39),
        (r#"[{"width":{"op":"is","value":1,"op":"is_not"}}]"#, "op", 35),
        (r#"[{"not":{"name":{"op":"is","value":"a","value":"b"}}}]"#, "value", 46),
    ] {
        let [(line, found, words)] = &positions(text)[..] else { panic!("one") };
        assert_eq!((*line, *found), (1, column), "{text}");
        assert!(words.contains(&format!("the key \"{key}\" occurs twice")), "{words}");
    }
}

#[test]
fn a_client_sends_numbers_on_the_scale_of_another_service() {
    for key in ["duplicates", "uniqueness"] {
        let text = json!([{ key: {"op": key, "value": 95.5} }]).to_string();
        let filters = read_lenient(&text).unwrap();
        assert_eq!(write(&filters), text);
        let expected = format!("filter 0, {key}.value: must be a number from 0.0 to 1.0");
        assert_eq!(rejection(&text), expected);
    }
}

#[test]
fn sizes_depth_and_numbers_are_bounded() {
    assert!(rejection(&" ".repeat(MAX_BYTES + 1)).contains("64 KiB"));
    assert!(rejection(&"[".repeat(60_000)).contains("recursion limit"));
    let many = vec![json!({"uniqueness": {"op": "uniqueness", "value": 0}}); 17];
    assert!(rejection(&json!(many).to_string()).contains("16 filters"));
    for number in ["NaN", "Infinity", "1e400", "-1", "\"0.5\"", "true", "[]", "null"] {
        let text = format!(r#"[{{"duplicates":{{"op":"duplicates","value":{number}}}}}]"#);
        assert!(rejection(&text).contains("must be"), "{number}");
    }
    let key = "k\u{1b}".repeat(9_000);
    assert!(rejection(&json!([{ key: {} }]).to_string()).len() < 400);
}

fn filters() -> impl Strategy<Value = Vec<Filter>> {
    let share = || 0.0..=1.0;
    let maybe = move || proptest::option::of(share());
    let kinds = proptest::sample::select(IssueKind::ALL.as_slice());
    let rules = proptest::sample::select(LabelRule::ALL.as_slice());
    let anchor = Anchor { media: ID.parse::<MediaId>().unwrap(), kind: AnchorKind::Media };
    let one = prop_oneof![
        "\\PC{1,40}".prop_map(|text| Filter::full_text(&text)),
        ("\\PC{1,40}", maybe()).prop_map(|(text, min)| Filter::semantic(&text, min)),
        (rules, proptest::collection::vec("\\PC{1,9}", 1..9))
            .prop_map(|(rule, labels)| { Filter::labels(rule, labels.iter().map(String::as_str)) }),
        (kinds, maybe(), maybe())
            .prop_map(|(kind, a, b)| { Filter::issue(kind, IssueMode::Out, a, b) }),
        share().prop_map(Filter::duplicates),
        share().prop_map(Filter::uniqueness),
        maybe().prop_map(move |max| Filter::similar(anchor, max)),
    ];
    proptest::collection::vec(one.prop_filter_map("valid", Result::ok), 0..MAX_FILTERS)
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(filters in filters()) {
        prop_assert_eq!(read(&write(&filters)).unwrap(), filters);
    }

    #[test]
    fn any_text_is_read_or_rejected(text in r#"[\[\]{}":, \\a-z0-9.\u{0}-]{0,60}"#) {
        if let Err(problem) = read(&text) {
            prop_assert!(problem.to_string().len() < 400);
        }
    }
}

#[test]
fn a_text_and_a_list_as_long_as_allowed_are_read() {
    assert_eq!(MAX_BYTES, 65_536);
    let padded = format!("[]{}", " ".repeat(MAX_BYTES - 2));
    assert_eq!(read(&padded).unwrap(), []);
    assert!(rejection(&format!("{padded} ")).contains("64 KiB"));
    let many = vec![json!({"uniqueness": {"op": "uniqueness", "value": 0}}); MAX_FILTERS];
    assert_eq!(read(&json!(many).to_string()).unwrap().len(), 16);
}

#[test]
fn only_a_service_refuses_issues_that_are_not_published() {
    let text = r#"[{"text":{"op":"fts","value":"a"}},{"issues":{"op":"issue","value":"glare"}}]"#;
    let lenient = read_lenient(text).unwrap();
    assert_eq!(
        lenient[1],
        Filter::issue(IssueName::new("glare").unwrap(), IssueMode::In, None, None).unwrap()
    );
    assert_eq!(
        rejection(text),
        "filter 1, issues.value: must be one of blur, dark, bright, duplicates, outliers, \
         odd_aspect, odd_size, mislabels, label_outlier, normal"
    );
}

#[test]
fn each_invalid_filter_has_an_error_of_its_own() {
    let text =
        r#"[{"tags":{"op":"is","value":[]}},{"uniqueness":{"op":"uniqueness","value":1}},7]"#;
    let each = read_each(text).unwrap();
    let messages: Vec<String> = each
        .into_iter()
        .map(|read| read.map_or_else(|error| error.to_string(), |filter| filter.to_string()))
        .collect();
    assert_eq!(
        messages,
        [
            "filter 0, tags.value: must be a list of 1 to 100 entries",
            "its uniqueness score is above 1",
            "filter 2: must be an object",
        ]
    );
}

#[test]
fn every_filter_has_one_operator_of_its_own() {
    for (filter, value) in [
        ("tags", r#"["95233006-eddc-11ef-b303-76dbc3993eb2"]"#),
        ("issues", r#""blur""#),
        ("duplicates", "0.5"),
        ("uniqueness", "0.5"),
        ("similarity", r#""95233006-eddc-11ef-b303-76dbc3993eb2""#),
        ("text", r#""a""#),
    ] {
        for op in [r#""in""#, "null", "7"] {
            let message = rejection(&format!(r#"[{{"{filter}":{{"op":{op},"value":{value}}}}}]"#));
            let expected = format!("filter 0, {filter}.op: must be one of ");
            assert!(message.starts_with(&expected), "{message}");
        }
    }
    for (mode, message) in [
        ("\"inside\"", "filter 0, issues.mode: must be one of in, out"),
        ("7", "filter 0, issues.mode: must be one of in, out"),
    ] {
        let text = format!(r#"[{{"issues":{{"op":"issue","value":"blur","mode":{mode}}}}}]"#);
        assert_eq!(rejection(&text), message);
    }
}

/// The positions of the errors in a text, with their messages.
fn positions(text: &str) -> Vec<(usize, usize, String)> {
    let problems = match read_each(text) {
        Err(whole) => vec![whole],
        Ok(each) => each.into_iter().filter_map(Result::err).collect(),
    };
    let place = |problem: &VqlError| TextPosition::locate(problem, text);
    problems
        .iter()
        .map(|problem| (place(problem).line, place(problem).column, problem.to_string()))
        .collect()
}

#[test]
fn every_error_has_a_line_and_column() {
    let text = "[\n  {\"text\": {\"op\": \"fts\", \"value\": \"ä\"}},\n  {\"labels\": {\"op\": \"is\", \"value\": 7}},\n  {\"text\": {\"op\": \"ä\", \"value\": 1}}, {}\n]";
    let found: Vec<(usize, usize)> =
        positions(text).into_iter().map(|(line, column, _)| (line, column)).collect();
    assert_eq!(found, [(3, 36), (4, 19), (4, 38)]);
}

#[test]
fn invalid_json_is_located() {
    let [(line, column, words)] = &positions("[\n {\"ä\": x}]")[..] else { panic!("one") };
    assert_eq!((*line, *column), (2, 8), "{words}");
    assert_eq!(positions("\n  {}")[0].0, 2);
    assert_eq!(positions("")[0].0, 1);
}

#[test]
fn columns_are_counted_in_characters_of_the_line() {
    let found = |text: &str| -> Vec<(usize, usize)> {
        positions(text).into_iter().map(|(line, column, _)| (line, column)).collect()
    };
    for (text, expected) in [
        // Not a list: where it begins.
        ("{}", vec![(1, 1)]),
        ("\n  {}", vec![(2, 3)]),
        // The value that is wrong, or the narrowest one around what is missing.
        ("[1]", vec![(1, 2)]),
        (r#"[{"labels":{"op":"is"}}]"#, vec![(1, 12)]),
        (r#"[{"labels":{"op":"is","value":"é"}},7]"#, vec![(1, 31), (1, 37)]),
        ("[\n\n  {\"é\": 1, \"text\": 7}]", vec![(3, 3)]),
        // Invalid JSON: the character that cannot be there.
        ("", vec![(1, 1)]),
        ("x", vec![(1, 1)]),
        ("[1 2]", vec![(1, 4)]),
        ("[\"éé\" x]", vec![(1, 7)]),
    ] {
        assert_eq!(found(text), expected, "{text:?}");
    }
}
