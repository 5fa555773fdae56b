//! The settings of the terminal program.

use std::fs;

use tessera_client::trace::Trace;
use tessera_picture::Protocol;

use crate::{
    config::{Settings, ThemeChoice},
    drawing::theme::{ThemeName, Themes},
    runtime::probe::Environment,
};

#[derive(Clone, Debug)]
pub struct RuntimeOptions {
    pub mouse: bool,
    pub themes: Themes,
    pub forced_protocol: Option<Protocol>,
    pub trace: Trace,
}

impl RuntimeOptions {
    /// Returns the options, and why the theme of the user cannot be used, if so.
    pub fn new(settings: &Settings) -> Result<(Self, Option<String>), String> {
        let auto = Environment::read().theme(None);
        let (themes, warning) = match load_custom(&settings.ui.theme, auto) {
            Ok(themes) => (themes, None),
            Err(reason) => (None, Some(format!("{reason}; the theme is auto until then"))),
        };
        let options = Self {
            mouse: settings.ui.mouse,
            themes: themes.map_or_else(|| Themes::load(None, auto), Ok)?,
            forced_protocol: settings.ui.graphics.protocol(),
            trace: Trace::disabled(),
        };
        Ok((options, warning))
    }

    /// The protocol until the terminal has replied.
    pub fn initial_protocol(&self) -> Protocol {
        match self.forced_protocol {
            Some(Protocol::None) => Protocol::None,
            _ => Protocol::HalfBlock,
        }
    }
}

/// The themes with the one of the user, if the choice names it.
fn load_custom(choice: &ThemeChoice, auto: ThemeName) -> Result<Option<Themes>, String> {
    let Some(path) = choice.file()? else { return Ok(None) };
    let source = fs::read_to_string(&path)
        .map_err(|error| format!("cannot read the theme {}: {error}", path.display()))?;
    Themes::load(Some((&path, &source)), auto).map(Some)
}
