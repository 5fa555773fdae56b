use tessera_wire::vql::read_each;
use tessera_wire::vql::*;

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
