//! Reads themes, which have the styles of roles. The terminal keeps its own background, and every meaning that a color
//! carries is also shown without the color. The dark and the light theme exist twice: in exact colors for terminals
//! with true color, and in the terminal's 16 colors for all others.

use std::{collections::BTreeMap, path::Path};

use ratatui::style::{Color, Modifier, Style};
use tessera_config::{ConfigError, ThemeChoice};

use crate::drawing::picture_layer::ColorDepth;

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
    /// The style of what the user should notice: warnings, work in progress, marks, and what narrows the results.
    pub attention: Style,
    pub failure: Style,
    pub key: Style,
    pub gauge: Style,
    /// The style of a picture's placeholder.
    pub empty: Style,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThemeName {
    Dark,
    Light,
    /// A theme that has no colors.
    Plain,
}

impl ThemeName {
    const ALL: [Self; 3] = [Self::Dark, Self::Light, Self::Plain];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Plain => "plain",
        }
    }
}

impl Theme {
    /// Parses a built-in theme for the colors of a terminal. A test verifies that this never fails.
    pub fn built_in(name: ThemeName, depth: ColorDepth) -> Result<Self, String> {
        let parsed = Self::parse(match (name, depth) {
            (ThemeName::Dark, ColorDepth::TrueColor) => {
                include_str!("../../../../assets/themes/dark.toml")
            }
            (ThemeName::Light, ColorDepth::TrueColor) => {
                include_str!("../../../../assets/themes/light.toml")
            }
            (ThemeName::Dark, _) => include_str!("../../../../assets/themes/dark-16.toml"),
            (ThemeName::Light, _) => include_str!("../../../../assets/themes/light-16.toml"),
            (ThemeName::Plain, _) => include_str!("../../../../assets/themes/plain.toml"),
        });
        parsed.map_err(|error| error.to_string())
    }

    /// Parses a theme file, which has a line for each role with its color and modifiers. Roles that the file does not
    /// name have no style.
    ///
    /// # Errors
    ///
    /// The file is not TOML, or a role, color or modifier in it is unknown.
    pub fn parse(source: &str) -> Result<Self, ConfigError> {
        Self::default().with_roles(source)
    }

    /// Replaces the styles of the roles that a theme file names.
    fn with_roles(mut self, source: &str) -> Result<Self, ConfigError> {
        let lines: Result<BTreeMap<String, String>, _> = toml::from_str(source);
        let lines = lines.map_err(|error| ConfigError::of_toml("", source, &error))?;
        let mut set_role = |name: &str, description: &str| {
            let role = ROLES.iter().find(|(role, _)| *role == name);
            let (_, role) = role.ok_or_else(|| {
                let roles = ROLES.map(|(role, _)| role).join(", ");
                format!("`{name}` is not a role; the roles are {roles}")
            })?;
            *role(&mut self) = parse_style(description).map_err(|word| {
                format!("`{word}` in `{name}` is neither a color nor a modifier")
            })?;
            Ok(())
        };
        let results = lines.iter().map(|(name, description)| set_role(name, description));
        let mistakes: Vec<String> = results.filter_map(Result::err).collect();
        if mistakes.is_empty() { Ok(self) } else { Err(ConfigError::of_all("", &mistakes)) }
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
    ("attention", |theme| &mut theme.attention),
    ("failure", |theme| &mut theme.failure),
    ("key", |theme| &mut theme.key),
    ("gauge", |theme| &mut theme.gauge),
    ("empty", |theme| &mut theme.empty),
];

/// The themes in exact colors, and those in 16 colors, each in the order of [`ThemeName`].
#[derive(Clone, Copy, Debug)]
struct ThemeSet {
    true_color: [Theme; 3],
    palette: [Theme; 3],
}

impl ThemeSet {
    fn built_in() -> Result<Self, String> {
        let themes = |depth| -> Result<[Theme; 3], String> {
            let [dark, light, plain] = ThemeName::ALL.map(|name| Theme::built_in(name, depth));
            Ok([dark?, light?, plain?])
        };
        let palette = themes(ColorDepth::Palette16)?;
        Ok(Self { true_color: themes(ColorDepth::TrueColor)?, palette })
    }

    /// Replaces the styles of the roles that a theme file names, in all themes.
    fn with_roles(mut self, source: &str) -> Result<Self, ConfigError> {
        for theme in self.true_color.iter_mut().chain(&mut self.palette) {
            *theme = theme.with_roles(source)?;
        }
        Ok(self)
    }
}

#[derive(Clone, Debug)]
pub struct Themes {
    built_in: ThemeSet,
    /// The user's own themes by name. Each of them is based on each built-in theme, because the terminal's background
    /// and colors decide which one applies.
    from_user: BTreeMap<String, ThemeSet>,
    /// The theme that `auto` selects on this terminal.
    pub auto: ThemeName,
    /// The colors that this terminal shows.
    pub color_depth: ColorDepth,
    /// Whether the terminal has reported its background. Otherwise `auto` leaves the colors to the palette of the
    /// terminal, because exact colors could not be readable.
    pub is_background_known: bool,
}

impl Themes {
    /// Parses the built-in themes.
    ///
    /// # Errors
    ///
    /// A built-in theme is damaged. A test verifies that this never happens.
    pub fn built_in(auto: ThemeName, color_depth: ColorDepth) -> Result<Self, String> {
        Ok(Self {
            built_in: ThemeSet::built_in()?,
            from_user: BTreeMap::new(),
            auto,
            color_depth,
            is_background_known: false,
        })
    }

    /// Adds the user's own theme. Roles that it does not name are those of the theme for the terminal.
    ///
    /// # Errors
    ///
    /// The file is not a theme.
    pub fn add_user_theme(&mut self, name: &str, path: &Path, source: &str) -> Result<(), String> {
        let theme = self.built_in.with_roles(source);
        let theme = theme.map_err(|error| error.in_file(path).to_string())?;
        self.from_user.insert(name.to_owned(), theme);
        Ok(())
    }

    /// Returns the user's own themes that can be chosen.
    pub fn user_themes(&self) -> impl Iterator<Item = ThemeChoice> {
        self.from_user.keys().cloned().map(ThemeChoice::Named)
    }

    /// Returns the built-in theme for the opposite of the background that the terminal has reported.
    pub fn unreadable_theme(&self) -> Option<ThemeChoice> {
        match self.auto {
            ThemeName::Dark if self.is_background_known => Some(ThemeChoice::Light),
            ThemeName::Light if self.is_background_known => Some(ThemeChoice::Dark),
            _ => None,
        }
    }

    pub fn resolve(&self, choice: &ThemeChoice) -> &Theme {
        let user_theme = |name| self.from_user.get(name).unwrap_or(&self.built_in);
        let (set, name) = match choice {
            ThemeChoice::Named(name) => (user_theme(name), self.auto),
            ThemeChoice::Auto => (&self.built_in, self.auto),
            ThemeChoice::Dark => (&self.built_in, ThemeName::Dark),
            ThemeChoice::Light => (&self.built_in, ThemeName::Light),
            ThemeChoice::Plain => (&self.built_in, ThemeName::Plain),
        };
        // Who chooses a built-in theme knows the background.
        let is_chosen = !matches!(choice, ThemeChoice::Auto | ThemeChoice::Named(_));
        let is_readable = is_chosen || self.is_background_known;
        let themes = match self.color_depth {
            ColorDepth::TrueColor if is_readable => &set.true_color,
            _ => &set.palette,
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
            color => match color.strip_prefix("on-") {
                // A background makes dim text unreadable, whatever was below it.
                Some(background) => {
                    style.bg(parse_color(background)?).remove_modifier(Modifier::DIM)
                }
                None => style.fg(parse_color(color)?),
            },
        };
    }
    Ok(style)
}

fn parse_color(word: &str) -> Result<Color, String> {
    word.parse::<Color>().map_err(|_| word.to_owned())
}
