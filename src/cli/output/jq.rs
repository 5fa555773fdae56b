//! `--jq`: filters the JSON document of a command.

use tessera_jq::Expression;

use crate::cli::prelude::*;

/// Returns the expression unchanged if it is valid.
pub fn parse_expression(expression: &str) -> Result<String, String> {
    Expression::parse(expression).map(|_| expression.to_owned())
}

/// Applies the expression to a document, and returns one line per result.
pub fn apply(expression: &str, document: &Value) -> Result<PrintableText, CliError> {
    let mut text = PrintableText::default();
    let mut push = |result: String| text.push(&output_lines(&result));
    Expression::parse(expression)
        .and_then(|parsed| parsed.apply(document, &mut push))
        .map_err(|reason| CliError::usage(format!("--jq {expression}: {reason}")))?;
    Ok(text)
}

/// Formats a result. Strings are printed without quotes, and other values as JSON.
fn output_lines(result: &str) -> PrintableText {
    match serde_json::from_str(result) {
        Ok(Value::String(text)) => PrintableText::line(text.strip_suffix('\n').unwrap_or(&text)),
        Ok(value) => PrintableText::compact_json(&value),
        // These are values of jq that JSON does not have, such as bytes and NaN.
        Err(_) => PrintableText::line(SafeText::caption(result)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::Exit;

    #[test]
    fn an_expression_makes_lines_of_a_document() {
        let document = json!({ "schema": "x/1", "rows": [
            { "id": "a", "n": 2.5, "name": "a\u{9b}2J" }, { "id": "b", "n": null, "name": "é" },
        ] });
        let made = |expression: &str| apply(expression, &document).unwrap().to_string();
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
        let error = apply(".rows.id", &document).unwrap_err();
        assert_eq!(error.exit, Exit::Usage);
    }

    #[test]
    fn rows_are_formatted_as_csv_and_tsv() {
        let document = json!([["a \"b\", c", "t\tn\n\\", null, true, 2.5]]);
        let made = |expression: &str| apply(expression, &document).unwrap().to_string();
        assert_eq!(made(".[] | @csv"), "\"a \"\"b\"\", c\",\"t\tn\n\\\",,true,2.5\n");
        assert_eq!(made(".[] | @tsv"), "a \"b\", c\tt\\tn\\n\\\\\t\ttrue\t2.5\n");
        assert!(apply(". | @tsv", &document).unwrap_err().message.contains("not valid in a row"));
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
