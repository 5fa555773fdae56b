//! Reads themes, which have the styles of roles. Ordinary text keeps the terminal's colors, and every meaning that
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

    /// Parses a theme file, which has a line for each role with its color and modifiers. Roles that the file does not
    /// name have no style.
    ///
    /// # Errors
    ///
    /// The file is not TOML, or a role, color or modifier in it is unknown.
    pub fn parse(source: &str) -> Result<Self, String> {
        Self::default().with_roles(source)
    }

    /// Replaces the styles of the roles that a theme file names.
    fn with_roles(mut self, source: &str) -> Result<Self, String> {
        let lines: BTreeMap<String, String> =
            toml::from_str(source).map_err(|error| error.to_string())?;
        for (name, description) in lines {
            let Some((_, role)) = ROLES.iter().find(|(role, _)| *role == name) else {
                let roles = ROLES.map(|(role, _)| role).join(", ");
                return Err(format!("`{name}` is not a role; the roles are {roles}"));
            };
            *role(&mut self) = parse_style(&description).map_err(|word| {
                format!("`{word}` in `{name}` is neither a color nor a modifier")
            })?;
        }
        Ok(self)
    }
}

type RoleStyle = fn(&mut Theme) -> &mut Style;

const ROLES: [(&str, RoleStyle); 12] = [
    ("text", |theme| &mut theme.text),
    ("dim", |theme| &mut theme.dim),
    ("accent", |theme| &mut theme.accent),
    ("frame", |theme| &mut theme.frame),
    ("frame-focus", |theme| &mut theme.frame_focus),
    ("selected", |theme| &mut theme.selected),
    ("success", |theme| &mut theme.success),
    ("moving", |theme| &mut theme.moving),
    ("failure", |theme| &mut theme.failure),
    ("key", |theme| &mut theme.key),
    ("gauge", |theme| &mut theme.gauge),
    ("empty", |theme| &mut theme.empty),
];

/// The themes in the order of [`ThemeName`].
type BuiltInThemes = [Theme; 3];

#[derive(Clone, Debug)]
pub struct Themes {
    built_in: BuiltInThemes,
    /// The user's own themes by name. Each of them is based on each built-in theme, because the terminal's background
    /// decides which one applies.
    own: BTreeMap<String, BuiltInThemes>,
    /// The theme that `auto` selects on this terminal.
    pub auto: ThemeName,
}

impl Themes {
    /// Parses the built-in themes.
    ///
    /// # Errors
    ///
    /// A built-in theme is damaged. A test verifies that this never happens.
    pub fn built_in(auto: ThemeName) -> Result<Self, String> {
        let [dark, light, plain] =
            [ThemeName::Dark, ThemeName::Light, ThemeName::Plain].map(Theme::built_in);
        Ok(Self { built_in: [dark?, light?, plain?], own: BTreeMap::new(), auto })
    }

    /// Adds the user's own theme. Roles that it does not name are those of the theme for the terminal's background.
    ///
    /// # Errors
    ///
    /// The file is not a theme.
    pub fn add_own(&mut self, name: &str, path: &Path, source: &str) -> Result<(), String> {
        let [dark, light, plain] = self.built_in.map(|theme| theme.with_roles(source));
        let named = |error: String| format!("{}: {error}", path.display());
        let own = [dark.map_err(named)?, light.map_err(named)?, plain.map_err(named)?];
        self.own.insert(name.to_owned(), own);
        Ok(())
    }

    /// Returns the user's own themes that can be chosen.
    pub fn own(&self) -> impl Iterator<Item = ThemeChoice> {
        self.own.keys().cloned().map(ThemeChoice::Named)
    }

    pub fn resolve(&self, choice: &ThemeChoice) -> &Theme {
        let own = |name| self.own.get(name).unwrap_or(&self.built_in);
        let (themes, name) = match choice {
            ThemeChoice::Named(name) => (own(name), self.auto),
            ThemeChoice::Auto => (&self.built_in, self.auto),
            ThemeChoice::Dark => (&self.built_in, ThemeName::Dark),
            ThemeChoice::Light => (&self.built_in, ThemeName::Light),
            ThemeChoice::Plain => (&self.built_in, ThemeName::Plain),
        };
        &themes[name as usize]
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
