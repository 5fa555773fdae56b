//! The theme setting.

use std::{path::PathBuf, str::FromStr};

use serde::Deserialize;

use super::paths::theme_file;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum ThemeChoice {
    /// By `NO_COLOR` and the terminal's background.
    Auto,
    Dark,
    Light,
    /// Without color.
    Plain,
    /// `themes/NAME.toml` in the configuration folder.
    Named(String),
}

impl ThemeChoice {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Plain => "plain",
            Self::Named(name) => name,
        }
    }

    /// The file of a named theme.
    ///
    /// # Errors
    /// The home folder is unknown, or there is no such file.
    pub fn file(&self) -> Result<Option<PathBuf>, String> {
        let Self::Named(name) = self else { return Ok(None) };
        let path = theme_file(name).ok_or("the home folder is unknown, which contains themes")?;
        if path.exists() {
            return Ok(Some(path));
        }
        let path = path.display();
        Err(format!("there is no theme {path}; write it, or choose auto, dark, light or plain"))
    }

    /// The next theme in the cycle; includes `configured` if that is a named theme.
    pub fn next(&self, configured: &Self) -> Self {
        match (self, configured) {
            (Self::Auto, _) => Self::Dark,
            (Self::Dark, _) => Self::Light,
            (Self::Light, _) => Self::Plain,
            (Self::Plain, Self::Named(name)) => Self::Named(name.clone()),
            (Self::Plain | Self::Named(_), _) => Self::Auto,
        }
    }
}

impl FromStr for ThemeChoice {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        match word {
            "auto" => Ok(Self::Auto),
            "dark" => Ok(Self::Dark),
            "light" => Ok(Self::Light),
            "plain" => Ok(Self::Plain),
            name if !name.is_empty() && name.chars().all(is_name) => Ok(Self::Named(name.into())),
            _ => Err("a theme is auto, dark, light, plain or the NAME of themes/NAME.toml".into()),
        }
    }
}

impl TryFrom<String> for ThemeChoice {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        word.parse()
    }
}
