//! Runs expressions of jq.

use jaq_core::{
    Compiler, Ctx, Filter, Vars, compile,
    data::JustLut,
    load::{Arena, Error, File, Loader, parse, span},
};
use jaq_json::Val;
use serde_json::Value;

const FORMATS: &str = include_str!("formats.jq");

/// A valid expression.
pub struct Expression(Filter<JustLut<Val>>);

impl Expression {
    /// # Errors
    /// Says what is wrong in the expression and where, as in "character 7: expected ]".
    pub fn parse(text: &str) -> Result<Self, String> {
        compile_filter(text).map(Self)
    }

    /// Applies the expression to a document, and passes on each result as the text that jq prints.
    ///
    /// # Errors
    /// The message of the first result that is an error. The results before it were passed on.
    pub fn apply(&self, document: &Value, each: &mut dyn FnMut(String)) -> Result<(), String> {
        let input = jaq_json::read::parse_single(document.to_string().as_bytes())
            .map_err(|error| error.to_string())?;
        let context = Ctx::<JustLut<Val>>::new(&self.0.lut, Vars::new([]));
        for result in self.0.id.run((context, input)) {
            match result.map_err(jaq_core::Exn::get_err) {
                Ok(value) => each(value.to_string()),
                Err(Ok(error)) => return Err(error.to_string()),
                // `halt` ends the results, but not the program.
                Err(Err(_)) => break,
            }
        }
        Ok(())
    }
}

fn compile_filter(expression: &str) -> Result<Filter<JustLut<Val>>, String> {
    let formats = parse(FORMATS, |parser| parser.defs()).into_iter().flatten();
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let definitions = definitions.chain(formats);
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
