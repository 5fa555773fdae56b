//! What the shell needs to know beside the core's `Setup`: the settings, as this terminal takes them.

use crate::{
    config::{self, GraphicsChoice, Settings, ThemeChoice},
    runtime::probe::Environment,
    ui::theme::Themes,
};
use tessera_client::trace::Trace;
use tessera_picture::Protocol;

/// The settings of the shell.
#[derive(Clone, Debug)]
pub struct RuntimeOptions {
    /// Whether the mouse is ours.
    pub mouse: bool,
    /// The themes to choose from.
    pub themes: Themes,
    /// The protocol the person insists on.
    pub forced_protocol: Option<Protocol>,
    /// Where everything that happens is written down.
    pub trace: Trace,
}

impl RuntimeOptions {
    /// What the settings mean on this terminal.
    ///
    /// # Errors
    /// The person's theme cannot be read or understood.
    pub fn new(settings: &Settings) -> Result<Self, String> {
        Ok(Self {
            mouse: settings.mouse,
            themes: load_themes(&settings.theme)?,
            forced_protocol: protocol_of_choice(settings.graphics),
            trace: Trace::disabled(),
        })
    }

    /// How pictures are drawn until the terminal has answered.
    #[must_use]
    pub fn initial_protocol(&self) -> Protocol {
        match self.forced_protocol {
            Some(Protocol::None) => Protocol::None,
            _ => Protocol::HalfBlock,
        }
    }
}

/// The protocol of a choice; none when the terminal is to be asked.
pub(super) fn protocol_of_choice(choice: GraphicsChoice) -> Option<Protocol> {
    match choice {
        GraphicsChoice::Auto => None,
        GraphicsChoice::Half => Some(Protocol::HalfBlock),
        GraphicsChoice::Kitty => Some(Protocol::Kitty),
        GraphicsChoice::Sixel => Some(Protocol::Sixel),
        GraphicsChoice::Iterm => Some(Protocol::Iterm),
        GraphicsChoice::None => Some(Protocol::None),
    }
}

/// The themes, with the person's own if that is what is asked for.
fn load_themes(choice: &ThemeChoice) -> Result<Themes, String> {
    let auto = Environment::read().theme(None);
    let ThemeChoice::Named(name) = choice else {
        return Themes::load(None, auto);
    };
    let path = config::theme_file(name).ok_or("there is no home folder for themes")?;
    let source = std::fs::read_to_string(&path).map_err(|error| {
        format!("{}: {error}; without a file there are auto, dark, light and plain", path.display())
    })?;
    Themes::load(Some((&path, &source)), auto)
}
