//! Reads themes, which have the styles of all roles. Ordinary text keeps the terminal's colors, and every meaning that
//! a color carries is also shown without the color.

use std::{collections::BTreeMap, path::Path};

use ratatui::style::{Color, Modifier, Style};

use crate::config::ThemeChoice;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    pub text: Style,
    /// The style of secondary text.
    pub dim: Style,
    /// The style of the selected item's name.
    pub accent: Style,
    pub frame: Style,
    /// The frame of the focused pane and of the selected tile.
    pub frame_focus: Style,
    pub selected: Style,
    pub success: Style,
    /// The style of something in progress, and of warnings.
    pub moving: Style,
    pub failure: Style,
    pub key: Style,
    pub gauge: Style,
    /// The style of a picture's placeholder.
    pub empty: Style,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ThemeName {
    #[default]
    Dark,
    Light,
    /// A theme that has no colors.
    Plain,
}

impl Theme {
    /// Parses a built-in theme. A test verifies that this never fails.
    pub fn built_in(name: ThemeName) -> Result<Self, String> {
        Self::parse(match name {
            ThemeName::Dark => include_str!("../../assets/themes/dark.toml"),
            ThemeName::Light => include_str!("../../assets/themes/light.toml"),
            ThemeName::Plain => include_str!("../../assets/themes/plain.toml"),
        })
    }

    /// Parses a theme file, which has one line per role with its color and modifiers.
    pub fn parse(source: &str) -> Result<Self, String> {
        let mut lines: BTreeMap<String, String> =
            toml::from_str(source).map_err(|error| error.to_string())?;
        let mut role = |name: &str| {
            let description =
                lines.remove(name).ok_or_else(|| format!("the role `{name}` is missing"))?;
            parse_style(&description)
                .map_err(|word| format!("`{word}` in `{name}` is neither a color nor a modifier"))
        };
        let theme = Self {
            text: role("text")?,
            dim: role("dim")?,
            accent: role("accent")?,
            frame: role("frame")?,
            frame_focus: role("frame-focus")?,
            selected: role("selected")?,
            success: role("success")?,
            moving: role("moving")?,
            failure: role("failure")?,
            key: role("key")?,
            gauge: role("gauge")?,
            empty: role("empty")?,
        };
        match lines.into_keys().next() {
            Some(unknown) => Err(format!("`{unknown}` is not a role")),
            None => Ok(theme),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Themes {
    /// The built-in themes, in the order of [`ThemeName`].
    built_in: [Theme; 3],
    custom: Option<Theme>,
    /// The theme that `auto` selects on this terminal.
    pub auto: ThemeName,
}

impl Themes {
    /// Parses all themes. `custom` is the path and the content of the user's theme.
    pub fn parse(custom: Option<(&Path, &str)>, auto: ThemeName) -> Result<Self, String> {
        let [dark, light, plain] =
            [ThemeName::Dark, ThemeName::Light, ThemeName::Plain].map(Theme::built_in);
        let custom = custom.map(|(path, source)| {
            Theme::parse(source).map_err(|error| format!("{}: {error}", path.display()))
        });
        Ok(Self { built_in: [dark?, light?, plain?], custom: custom.transpose()?, auto })
    }

    pub fn resolve(&self, choice: &ThemeChoice) -> &Theme {
        let name = match (choice, &self.custom) {
            (ThemeChoice::Named(_), Some(custom)) => return custom,
            (ThemeChoice::Auto | ThemeChoice::Named(_), _) => self.auto,
            (ThemeChoice::Dark, _) => ThemeName::Dark,
            (ThemeChoice::Light, _) => ThemeName::Light,
            (ThemeChoice::Plain, _) => ThemeName::Plain,
        };
        &self.built_in[name as usize]
    }
}

fn parse_style(description: &str) -> Result<Style, String> {
    let mut style = Style::new();
    for word in description.split_whitespace() {
        style = match word {
            "bold" => style.add_modifier(Modifier::BOLD),
            "dim" => style.add_modifier(Modifier::DIM),
            "italic" => style.add_modifier(Modifier::ITALIC),
            "underlined" => style.add_modifier(Modifier::UNDERLINED),
            // Reversed text always reverses the terminal's own colors, regardless of the style
            // below it.
            "reversed" => style
                .fg(Color::Reset)
                .bg(Color::Reset)
                .remove_modifier(Modifier::DIM)
                .add_modifier(Modifier::REVERSED),
            color => style.fg(color.parse::<Color>().map_err(|_| color.to_owned())?),
        };
    }
    Ok(style)
}
