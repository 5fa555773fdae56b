//! The user's key file, over the keys that ship with the program.

use std::{fmt, fs, path::Path};

use crate::input::Keymap;

/// The default keymap with the user's keys over it, and a warning for each action without keys.
pub fn load_keymap(path: Option<&Path>) -> Result<(Keymap, Vec<String>), String> {
    let shipped = Keymap::built_in()?;
    let Some(path) = path else { return Ok((shipped, Vec::new())) };
    let describe = |error: &dyn fmt::Display| format!("{}: {error}", path.display());
    let source =
        tessera_files::if_exists(fs::read_to_string(path)).map_err(|error| describe(&error))?;
    let Some(source) = source else { return Ok((shipped, Vec::new())) };
    let (keymap, keyless) = shipped.with_overrides(&source).map_err(|error| describe(&error))?;
    let warnings = keyless.iter().map(|action| {
        describe(&format_args!("`{}` has no key; press : to find it by name", action.name()))
    });
    Ok((keymap, warnings.collect()))
}
