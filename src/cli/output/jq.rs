//! `--jq`: filters the JSON document of a command.

use jaq_core::{
    Compiler, Ctx, Filter, Vars, compile,
    data::JustLut,
    load::{Arena, Error, File, Loader, span},
};
use jaq_json::Val;

use crate::cli::prelude::*;

/// Returns the expression unchanged if it is valid.
pub fn parse_expression(expression: &str) -> Result<String, String> {
    compile_filter(expression).map(|_| expression.to_owned())
}

/// Applies the expression to a document, and returns one line per result.
pub fn apply(expression: &str, document: &Value) -> Result<PrintableText, CliError> {
    let invalid = |reason: String| CliError::usage(format!("--jq {expression}: {reason}"));
    let filter = compile_filter(expression).map_err(invalid)?;
    let input = jaq_json::read::parse_single(document.to_string().as_bytes())
        .map_err(|error| invalid(error.to_string()))?;
    let context = Ctx::<JustLut<Val>>::new(&filter.lut, Vars::new([]));
    let mut text = PrintableText::default();
    for result in filter.id.run((context, input)) {
        match result.map_err(jaq_core::Exn::get_err) {
            Ok(value) => text.push(&output_lines(&value.to_string())),
            Err(Ok(error)) => return Err(invalid(error.to_string())),
            // `halt` ends the results, but not the program.
            Err(Err(_)) => break,
        }
    }
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

fn compile_filter(expression: &str) -> Result<Filter<JustLut<Val>>, String> {
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let arena = Arena::default();
    let program = File { code: expression, path: () };
    let modules = Loader::new(definitions)
        .load(&arena, program)
        .map_err(|errors| syntax_error(expression, errors))?;
    Compiler::default()
        .with_funs(functions)
        .compile(modules)
        .map_err(|errors| undefined_name(expression, errors))
}

fn syntax_error(whole: &str, errors: jaq_core::load::Errors<&str, ()>) -> String {
    let at = |part: &str| whole[..span(whole, part).start].chars().count() + 1;
    let first = errors.into_iter().find_map(|(_, error)| match error {
        Error::Io(errors) => errors.into_iter().next().map(|(_, reason)| reason),
        Error::Lex(errors) => errors.into_iter().next().map(|(expected, part)| {
            format!("character {}: expected {}", at(part), expected.as_str())
        }),
        Error::Parse(errors) => errors.into_iter().next().map(|(expected, part)| match part {
            "" => format!("at the end: expected {}", expected.as_str()),
            part => format!("character {}: expected {}", at(part), expected.as_str()),
        }),
    });
    first.unwrap_or_else(|| "invalid expression".to_owned())
}

fn undefined_name(whole: &str, errors: compile::Errors<&str, ()>) -> String {
    let first = errors.into_iter().flat_map(|(_, errors)| errors).next();
    let describe = |(name, kind): (&str, compile::Undefined)| {
        let at = whole[..span(whole, name).start].chars().count() + 1;
        format!("character {at}: unknown {} `{name}`", kind.as_str())
    };
    first.map_or_else(|| "invalid expression".to_owned(), describe)
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
