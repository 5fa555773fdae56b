//! The settings of the terminal program.

use crate::{
    config::{self, Settings, ThemeChoice},
    runtime::probe::Environment,
    ui::theme::Themes,
};
use tessera_client::trace::Trace;
use tessera_picture::Protocol;

#[derive(Clone, Debug)]
pub struct RuntimeOptions {
    pub mouse: bool,
    pub themes: Themes,
    pub forced_protocol: Option<Protocol>,
    pub trace: Trace,
}

impl RuntimeOptions {
    pub fn new(settings: &Settings) -> Result<Self, String> {
        Ok(Self {
            mouse: settings.ui.mouse,
            themes: load_themes(&settings.ui.theme)?,
            forced_protocol: settings.ui.graphics.protocol(),
            trace: Trace::disabled(),
        })
    }

    /// The protocol until the terminal has replied.
    pub fn initial_protocol(&self) -> Protocol {
        match self.forced_protocol {
            Some(Protocol::None) => Protocol::None,
            _ => Protocol::HalfBlock,
        }
    }
}

fn load_themes(choice: &ThemeChoice) -> Result<Themes, String> {
    let auto = Environment::read().theme(None);
    let ThemeChoice::Named(name) = choice else {
        return Themes::load(None, auto);
    };
    let path = config::theme_file(name).ok_or("cannot find the home folder for themes")?;
    let source = std::fs::read_to_string(&path).map_err(|error| {
        let path = path.display();
        format!("cannot read theme {path}: {error}; built-in themes: auto, dark, light, plain")
    })?;
    Themes::load(Some((&path, &source)), auto)
}
