//! Builds the options of the event loop, and loads the graphics protocol that the user has confirmed for each terminal.

use std::{collections::BTreeMap, fs, io, path::Path};

use clap::ValueEnum as _;
use tessera_client::Trace;
use tessera_config::{GraphicsChoice, Settings, ThemeChoice};
use tessera_interface::drawing::theme::Themes;
use tessera_model::Failure;
use tessera_picture::Protocol;
use tessera_wire::text_encoding::read_text;

use crate::runtime::probe::Environment;

#[derive(Clone, Debug)]
pub struct RuntimeOptions {
    pub themes: Themes,
    pub forced_protocol: Option<Protocol>,
    pub trace: Trace,
}

impl RuntimeOptions {
    /// Returns the options. For each theme of the user that cannot be used, a warning says why.
    pub fn new(settings: &Settings) -> Result<(Self, Vec<String>), String> {
        let environment = Environment::read();
        let depth = environment.initial_color_depth();
        let mut themes = Themes::built_in(environment.theme(None), depth)?;
        let warnings = add_user_themes(&settings.ui.theme, &mut themes);
        let options = Self {
            themes,
            forced_protocol: settings.ui.graphics.protocol(),
            trace: Trace::disabled(),
        };
        Ok((options, warnings))
    }

    /// Returns the protocol to use until the terminal has replied.
    pub fn initial_protocol(&self) -> Protocol {
        match self.forced_protocol {
            Some(Protocol::None) => Protocol::None,
            _ => Protocol::HalfBlock,
        }
    }
}

/// Adds the themes in the user's folder. Returns why themes cannot be used.
fn add_user_themes(choice: &ThemeChoice, themes: &mut Themes) -> Vec<String> {
    let files = tessera_config::themes_dir().and_then(|folder| fs::read_dir(folder).ok());
    let mut warnings = Vec::new();
    for path in files.into_iter().flatten().filter_map(|file| Some(file.ok()?.path())) {
        let name = path.file_stem().and_then(|name| name.to_str()).map(str::parse);
        let Some(Ok(ThemeChoice::Named(name))) = name else { continue };
        let source = read_text(&path)
            .map_err(|error| format!("cannot read the theme {}: {error}", path.display()));
        let added = source.and_then(|source| themes.add_user_theme(&name, &path, &source));
        warnings.extend(added.err());
    }
    warnings.extend(choice.file().err());
    for warning in &mut warnings {
        warning.push_str("; the theme is auto until then");
    }
    warnings
}

/// Loads the protocol that the user has confirmed. If the file cannot be read, the test picture is
/// shown again.
pub(super) fn load_graphics_result(environment: &Environment) -> Option<Protocol> {
    let choice = *read(&tessera_config::terminal_graphics_file()?)
        .ok()?
        .get(&environment.terminal_name())?;
    choice.protocol()
}

pub(super) fn save_graphics_result(
    environment: &Environment,
    protocol: Protocol,
) -> Result<(), Failure> {
    let Some(path) = tessera_config::terminal_graphics_file() else { return Ok(()) };
    save_to(&path, environment, protocol).map_err(|error| {
        let sentence = format!("cannot save the graphics result: {}: {error}", path.display());
        Failure::local(sentence)
            .with_remedy("It applies until you quit; to keep it, set `graphics` in the settings")
    })
}

fn save_to(path: &Path, environment: &Environment, protocol: Protocol) -> io::Result<()> {
    let _lock = tessera_files::lock_changes(path)?;
    // A file that cannot be read is replaced.
    let mut results = read(path).unwrap_or_default();
    let choices = GraphicsChoice::value_variants().iter();
    let choice = choices.copied().find(|choice| choice.protocol() == Some(protocol));
    results.extend(choice.map(|choice| (environment.terminal_name(), choice)));
    tessera_files::write_user_file(path, &toml::to_string(&results).map_err(io::Error::other)?)
}

fn read(path: &Path) -> io::Result<BTreeMap<String, GraphicsChoice>> {
    toml::from_str(&fs::read_to_string(path)?).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_terminal_keeps_its_own_graphics_result() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/terminals.toml");
        let kitty = Environment { term: "xterm-kitty".into(), ..Environment::default() };
        let in_tmux = Environment { in_tmux: true, ..kitty.clone() };
        save_to(&path, &kitty, Protocol::Kitty).unwrap();
        save_to(&path, &in_tmux, Protocol::HalfBlock).unwrap();
        let results = read(&path).unwrap();
        assert_eq!(results[&kitty.terminal_name()], GraphicsChoice::Kitty);
        assert_eq!(results[&in_tmux.terminal_name()], GraphicsChoice::Half);
        fs::write(&path, "damaged").unwrap();
        assert!(read(&path).is_err());
        save_to(&path, &kitty, Protocol::None).unwrap();
        assert_eq!(read(&path).unwrap()[&kitty.terminal_name()], GraphicsChoice::None);
    }
}
