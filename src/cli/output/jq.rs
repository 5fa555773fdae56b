//! `--jq`: filters the JSON document of a command.

use tessera_jq::{Expression, Halt};

use crate::cli::prelude::*;

/// Returns the expression unchanged if it is valid.
pub fn parse_expression(expression: &str) -> Result<String, String> {
    Expression::parse(expression).map(|_| expression.to_owned())
}

/// Applies the expression to a document, and adds one line per result to the text. The results before an error are
/// added, too.
pub fn apply(expression: &str, document: &Value, text: &mut PrintableText) -> CliResult<()> {
    let mut push = |result: Value| text.push(&output_lines(&result));
    // The expression was parsed with the command line, so its error is one of the document: what the command did is done.
    let halt = Expression::parse(expression)
        .and_then(|parsed| parsed.apply(document, &mut push))
        .map_err(|reason| CliError::failed(format!("--jq {expression}: {reason}")))?;
    match halt {
        // `halt` ends the results, but the command keeps its exit code.
        None | Some(Halt { exit_code: 0, message: None }) => Ok(()),
        Some(Halt { exit_code, message }) => {
            Err(CliError::halted(exit_code, halt_message(message.as_ref())))
        }
    }
}

/// Formats a result. Strings are printed without quotes, and other values as JSON.
fn output_lines(result: &Value) -> PrintableText {
    match result {
        Value::String(text) => PrintableText::line(text.strip_suffix('\n').unwrap_or(text)),
        value => PrintableText::compact_json(value),
    }
}

/// Formats the input of `halt_error` as jq does. A string has the line breaks that it contains.
fn halt_message(message: Option<&Value>) -> PrintableText {
    match message {
        None | Some(Value::Null) => PrintableText::default(),
        Some(Value::String(text)) => PrintableText::lines(text),
        Some(value) => PrintableText::compact_json(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::Exit;

    /// Returns the lines of the results, and how the expression ended.
    fn lines(expression: &str, document: &Value) -> (String, CliResult<()>) {
        let mut text = PrintableText::default();
        let outcome = apply(expression, document, &mut text);
        (text.to_string(), outcome)
    }

    #[test]
    fn an_expression_makes_lines_of_a_document() {
        let document = json!({ "schema": "x/1", "rows": [
            { "id": "a", "n": 2.5, "name": "a\u{9b}2J" }, { "id": "b", "n": null, "name": "é" },
        ] });
        let made = |expression: &str| lines(expression, &document).0;
        assert_eq!(made(".rows[].id"), "a\nb\n");
        assert_eq!(made(".rows | length"), "2\n");
        assert_eq!(
            made(".rows[] | {n, id}"),
            "{\"n\":2.5,\"id\":\"a\"}\n{\"n\":null,\"id\":\"b\"}\n"
        );
        assert_eq!(made("[.rows[].id] | join(\"\\t\")"), "a\tb\n");
        assert_eq!(made(".rows[] | select(.n == null) | .name"), "é\n");
        assert!(!made(".rows[0].name").contains('\u{9b}'));
        assert_eq!(made(".rows[] | (.id, halt)"), "a\n");
        let (printed, outcome) = lines(".schema, .rows.id", &document);
        assert_eq!((printed.as_str(), outcome.unwrap_err().exit), ("x/1\n", Exit::Failed));
    }

    #[test]
    fn halt_error_ends_the_command_with_a_printable_text_and_a_code() {
        let ended = |expression: &str| {
            let (printed, outcome) = lines(expression, &json!({ "a": "x\u{9b}2J" }));
            let error = outcome.unwrap_err();
            let (code, text) = error.halt.unwrap();
            (printed, code, text.to_string())
        };
        assert_eq!(ended("1, halt_error, 2"), ("1\n".into(), 5, "{\"a\":\"x\\u009b2J\"}\n".into()));
        let (_, code, text) = ended(".a | halt_error(3)");
        assert!(code == 3 && text.starts_with('x') && !text.contains('\u{9b}'), "{text}");
        assert_eq!(ended("\"a\\nb\" | halt_error(0)"), (String::new(), 0, "a\nb".into()));
        assert_eq!(ended("null | halt_error").2, "");
        assert_eq!(ended("halt(4)").1, 4);
    }

    #[test]
    fn rows_are_formatted_as_csv_and_tsv() {
        let document = json!([["a \"b\", c", "t\tn\n\\", null, true, 2.5]]);
        let made = |expression: &str| lines(expression, &document).0;
        assert_eq!(made(".[] | @csv"), "\"a \"\"b\"\", c\",\"t\tn\n\\\",,true,2.5\n");
        assert_eq!(made(".[] | @tsv"), "a \"b\", c\tt\\tn\\n\\\\\t\ttrue\t2.5\n");
        let error = lines(". | @tsv", &document).1.unwrap_err();
        assert!(error.message.contains("not valid in a row"));
    }

    #[test]
    fn an_expression_that_cannot_be_read_is_rejected_with_its_position() {
        for (expression, position) in
            [(".rows[", "7"), (".a | nosuch", "6"), ("(1", "3"), (".a $", "5")]
        {
            let reason = parse_expression(expression).unwrap_err();
            assert!(reason.contains(position), "{expression}: {reason}");
        }
        assert!(parse_expression(".rows[] | select(.id | test(\"^a\"))").is_ok());
    }
}
