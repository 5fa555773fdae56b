//! Stems of captions, as a function of SQL.

use rusqlite::{Connection, Error, Result, functions::FunctionFlags};

use crate::text::{language::Language, words::stemmed_text};

/// Adds the function of SQL that returns a caption as the index contains it: its stems in the language of a code, or
/// in English without one.
pub(super) fn register_stemmed(connection: &Connection, flags: FunctionFlags) -> Result<()> {
    connection.create_scalar_function("stemmed", 2, flags, |values| {
        let code: Option<String> = values.get(1)?;
        let language = match &code {
            None => Language::default(),
            Some(code) => Language::from_code(code)
                .ok_or_else(|| Error::UserFunctionError("the language is unknown".into()))?,
        };
        let caption = values.get_raw(0).as_str()?;
        Ok(stemmed_text(caption, language))
    })
}
