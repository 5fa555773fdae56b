//! About a dozen roles from which every style is taken. Text keeps the terminal's own colours;
//! colour carries meaning only, and every meaning is also told without it.

use std::collections::BTreeMap;

use ratatui::style::{Color, Modifier, Style};

/// The styles of the roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    /// Ordinary text.
    pub text: Style,
    /// What can be overlooked.
    pub dim: Style,
    /// The name of what is looked at.
    pub accent: Style,
    /// The frame of a pane.
    pub frame: Style,
    /// The frame of the pane that takes the keys, and of the selected tile.
    pub frame_focus: Style,
    /// The selected row.
    pub selected: Style,
    /// Ready, done.
    pub success: Style,
    /// At work, or to be noticed.
    pub moving: Style,
    /// Went wrong.
    pub failure: Style,
    /// A key to press.
    pub key: Style,
    /// The filled part of a gauge.
    pub gauge: Style,
    /// The place of a picture that is not there.
    pub empty: Style,
}

/// The name of a shipped theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ThemeName {
    /// For dark terminals.
    #[default]
    Dark,
    /// For light terminals.
    Light,
    /// Without colour.
    Plain,
}

impl Theme {
    /// A theme that comes with the program.
    ///
    /// # Errors
    /// As [`Theme::parse`]; a test holds that it never happens.
    pub fn shipped(name: ThemeName) -> Result<Self, String> {
        Self::parse(match name {
            ThemeName::Dark => include_str!("../../assets/themes/dark.toml"),
            ThemeName::Light => include_str!("../../assets/themes/light.toml"),
            ThemeName::Plain => include_str!("../../assets/themes/plain.toml"),
        })
    }

    /// Reads a theme file: a line per role with the words of its style.
    ///
    /// # Errors
    /// A sentence that names the role or word that is not known, or the role that is missing.
    pub fn parse(source: &str) -> Result<Self, String> {
        let mut lines: BTreeMap<String, String> =
            toml::from_str(source).map_err(|error| error.to_string())?;
        let mut role = |name: &str| {
            let words =
                lines.remove(name).ok_or_else(|| format!("the role `{name}` is missing"))?;
            style(&words)
                .map_err(|word| format!("`{word}` in `{name}` is neither a colour nor a modifier"))
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
            Some(unknown) => Err(format!("`{unknown}` is no role")),
            None => Ok(theme),
        }
    }
}

fn style(words: &str) -> Result<Style, String> {
    let mut style = Style::new();
    for word in words.split_whitespace() {
        style = match word {
            "bold" => style.add_modifier(Modifier::BOLD),
            "dim" => style.add_modifier(Modifier::DIM),
            "italic" => style.add_modifier(Modifier::ITALIC),
            "underlined" => style.add_modifier(Modifier::UNDERLINED),
            "reversed" => style.add_modifier(Modifier::REVERSED),
            colour => style.fg(colour.parse::<Color>().map_err(|_| colour.to_owned())?),
        };
    }
    Ok(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t14_shipped_themes_are_complete_and_plain_has_no_colour() {
        for name in [ThemeName::Dark, ThemeName::Light, ThemeName::Plain] {
            Theme::shipped(name).unwrap();
        }
        let source = include_str!("../../assets/themes/plain.toml");
        let lines: BTreeMap<String, String> = toml::from_str(source).unwrap();
        for words in lines.values() {
            assert_eq!(style(words).unwrap().fg, None);
        }
    }

    #[test]
    fn x09_mistakes_in_a_theme_are_named() {
        let good = include_str!("../../assets/themes/dark.toml");
        assert!(Theme::parse(&format!("{good}\nglow = ''")).unwrap_err().contains("glow"));
        assert!(
            Theme::parse(&good.replace("darkgray", "darkgrey5")).unwrap_err().contains("darkgrey5")
        );
        assert!(Theme::parse("text = ''").unwrap_err().contains("missing"));
    }
}
