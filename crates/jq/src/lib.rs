//! Runs expressions of jq.

use std::cell::RefCell;

use jaq_core::{
    Compiler, Ctx, DataT, Exn, Filter, Lut, Vars, compile,
    data::HasLut,
    load::{Arena, Error, File, Loader, parse, span},
    native::{Fun, bome, run, v},
};
use jaq_json::Val;
use serde_json::Value;

const DEFINITIONS: &str = include_str!("definitions.jq");

/// A valid expression.
pub struct Expression(Filter<Program>);

/// The end of the whole program, which an expression asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Halt {
    pub exit_code: i32,
    /// The input of `halt_error`.
    pub message: Option<Value>,
}

impl Expression {
    /// # Errors
    /// Says what is wrong in the expression and where, as in "character 7: expected ]".
    pub fn parse(text: &str) -> Result<Self, String> {
        compile_filter(text).map(Self)
    }

    /// Applies the expression to a document, and passes on each result. Nothing follows `halt` or `halt_error`.
    ///
    /// # Errors
    /// The message of the first result that is an error. The results before it were passed on.
    pub fn apply(
        &self,
        document: &Value,
        each: &mut dyn FnMut(Value),
    ) -> Result<Option<Halt>, String> {
        let input = jaq_json::read::parse_single(document.to_string().as_bytes())
            .map_err(|error| error.to_string())?;
        let message = RefCell::default();
        let data = RunData { functions: &self.0.lut, message: &message };
        for result in self.0.id.run((Ctx::<Program>::new(data, Vars::new([])), input)) {
            match result.map_err(Exn::get_err) {
                Ok(value) => each(to_json(&value)?),
                Err(Ok(error)) => return Err(error.to_string()),
                Err(Err(exception)) => {
                    let message = message.take().as_ref().map(to_json).transpose()?;
                    return Ok(exception
                        .get_halt()
                        .ok()
                        .map(|exit_code| Halt { exit_code, message }));
                }
            }
        }
        Ok(None)
    }
}

/// Says which data an expression has while it runs.
struct Program;

#[derive(Clone)]
struct RunData<'a> {
    functions: &'a Lut<Program>,
    message: &'a RefCell<Option<Val>>,
}

impl DataT for Program {
    type V<'a> = Val;
    type Data<'a> = RunData<'a>;
}

impl<'a> HasLut<'a, Program> for RunData<'a> {
    fn lut(&self) -> &'a Lut<Program> {
        self.functions
    }
}

/// Returns the functions that need more than definitions in jq.
fn own_functions() -> [Fun<Program>; 2] {
    let tojson = run::<Program>(("tojson", v(0), |cv| {
        let json = to_json(&cv.1).map(|json| json.to_string().into());
        bome(json.map_err(jaq_core::Error::str))
    }));
    let halt_message = run::<Program>(("halt_message", v(0), |cv| {
        cv.0.data().message.replace(Some(cv.1));
        Box::new(std::iter::empty())
    }));
    [tojson, halt_message]
}

/// Converts a value to JSON as jq prints it.
fn to_json(value: &Val) -> Result<Value, String> {
    Ok(match value {
        Val::Null => Value::Null,
        Val::Bool(truth) => Value::Bool(*truth),
        Val::Num(number) => number_to_json(&number.to_string()),
        Val::TStr(text) | Val::BStr(text) => String::from_utf8_lossy(text).into(),
        Val::Arr(values) => Value::Array(values.iter().map(to_json).collect::<Result<_, _>>()?),
        Val::Obj(fields) => {
            let field = |(key, value): (&Val, &Val)| match key {
                Val::TStr(key) => Ok((String::from_utf8_lossy(key).into_owned(), to_json(value)?)),
                _ => Err(format!("object keys must be strings, and {key} is not a string")),
            };
            Value::Object(fields.iter().map(field).collect::<Result<_, _>>()?)
        }
    })
}

/// Converts a number to JSON, which has neither infinite numbers nor NaN.
fn number_to_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| {
        let number = text.parse().unwrap_or(f64::NAN);
        number.clamp(f64::MIN, f64::MAX).into()
    })
}

fn compile_filter(expression: &str) -> Result<Filter<Program>, String> {
    let own = parse(DEFINITIONS, |parser| parser.defs()).into_iter().flatten();
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs()).chain(own);
    // If several definitions have one name, the last one is used. If several functions have one name, the first one is.
    let functions = own_functions().into_iter().chain(jaq_core::funs());
    let functions = functions.chain(jaq_std::funs()).chain(jaq_json::funs());
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
    use super::*;

    /// Returns the results as JSON, or the error.
    fn results(expression: &str) -> String {
        let mut lines = Vec::new();
        let mut push = |value: Value| lines.push(value.to_string());
        match Expression::parse(expression).unwrap().apply(&Value::Null, &mut push) {
            Ok(None) => lines.join(" "),
            Ok(Some(halt)) => format!("{halt:?}"),
            Err(error) => error,
        }
    }

    #[test]
    fn paths_are_deleted_together() {
        for (expression, expected) in [
            ("[1,2,3,4,5] | del(.[0,1])", "[3,4,5]"),
            ("[1,2,3] | del(.[0,2])", "[2]"),
            ("[1,2,3,4,5] | del(.[2:4], .[0], .[3])", "[2,5]"),
            ("[1,2,3,4,5] | del(.[-1], .[0], .[9])", "[2,3,4]"),
            ("[1,2,3,4] | del(.[] | select(. > 2))", "[1,2]"),
            ("[1,2,3,4] | delpaths([[0],[2]])", "[2,4]"),
            ("[1,2,3,4] | del(.[1:3][0])", "[1,3,4]"),
            (r#"{"a":1,"b":2,"c":3} | del(.a)"#, r#"{"b":2,"c":3}"#),
            (r#"{"a":[{"b":1},{"b":3}]} | del(.a[0], .a[1].b)"#, r#"{"a":[{}]}"#),
            (r#"{"a":{"b":1}} | del(.a, .a.b)"#, "{}"),
            (r#"{"a":1} | del(.b[0].c)"#, r#"{"a":1}"#),
            (r#"{"a":1} | del(.)"#, "null"),
            ("[[1,2],[3,null]] | del(.. | nulls)", "[[1,2],[3]]"),
        ] {
            assert_eq!(results(expression), expected, "{expression}");
        }
        assert!(results("[1] | del(.a)").contains("cannot index"));
    }

    #[test]
    fn texts_are_joined_and_trimmed_as_in_jq() {
        for (expression, expected) in [
            (r#"["a",null] | join(",")"#, r#""a,""#),
            (r#"[] | join(",")"#, r#""""#),
            (r#"[1,true,"x"] | join("-")"#, r#""1-true-x""#),
            (r#"null | ltrimstr("x"), rtrimstr("x")"#, "null null"),
            (r#""éaé" | ltrimstr("é"), rtrimstr("é"), rtrimstr("")"#, r#""aé" "éa" "éaé""#),
        ] {
            assert_eq!(results(expression), expected, "{expression}");
        }
    }

    #[test]
    fn results_are_json() {
        assert_eq!(results("[nan]"), "[null]");
        assert_eq!(results("[nan] | tojson, @json"), r#""[null]" "[null]""#);
        let largest = Value::from(f64::MAX);
        assert_eq!(results("infinite, [-infinite]"), format!("{largest} [-{largest}]"));
        for expression in ["{(1): 2}", "{(1): 2} | tojson"] {
            assert!(results(expression).contains("keys must be strings"), "{expression}");
        }
    }
}
