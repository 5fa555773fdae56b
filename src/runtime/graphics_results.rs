//! Which graphics protocol the user confirmed for each terminal, in one file for all deployments.

use std::{collections::BTreeMap, fs, io, path::Path};

use clap::ValueEnum as _;

use crate::{
    config::{self, GraphicsChoice},
    runtime::probe::Environment,
};
use tessera_model::{Failure, FailureKind};
use tessera_picture::Protocol;

/// Without a readable file the test picture is shown again.
pub(super) fn load(environment: &Environment) -> Option<Protocol> {
    let choice =
        *read(&config::terminal_graphics_file()?).ok()?.get(&environment.terminal_name())?;
    choice.protocol()
}

pub(super) fn save(environment: &Environment, protocol: Protocol) -> Result<(), Failure> {
    let Some(path) = config::terminal_graphics_file() else { return Ok(()) };
    save_to(&path, environment, protocol).map_err(|error| {
        let sentence = format!("cannot save the graphics result: {}: {error}", path.display());
        Failure::new(FailureKind::Local, sentence)
            .with_remedy("It applies until you quit; to keep it, set `graphics` in the settings")
    })
}

fn save_to(path: &Path, environment: &Environment, protocol: Protocol) -> io::Result<()> {
    // An unreadable file is replaced.
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
