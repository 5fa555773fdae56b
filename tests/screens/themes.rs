//! Tests the built-in themes, and theme files.

use std::path::Path;

use ratatui::style::{Color, Modifier, Style};
use tessera::{
    config::ThemeChoice,
    drawing::theme::{Theme, ThemeName, Themes},
};

/// Returns the styles of a built-in theme with their roles.
fn styles(name: ThemeName) -> [(&'static str, Style); 12] {
    let Theme {
        text,
        dim,
        accent,
        frame,
        frame_focus,
        selected,
        success,
        moving,
        failure,
        key,
        gauge,
        empty,
    } = Theme::built_in(name).unwrap();
    [
        ("text", text),
        ("dim", dim),
        ("accent", accent),
        ("frame", frame),
        ("frame-focus", frame_focus),
        ("selected", selected),
        ("success", success),
        ("moving", moving),
        ("failure", failure),
        ("key", key),
        ("gauge", gauge),
        ("empty", empty),
    ]
}

#[test]
fn built_in_themes_are_complete_and_plain_has_no_color() {
    for name in [ThemeName::Dark, ThemeName::Light, ThemeName::Plain] {
        Theme::built_in(name).unwrap();
    }
    for (role, style) in styles(ThemeName::Plain) {
        assert!(matches!(style.fg, None | Some(Color::Reset)), "{role}");
    }
}

/// Returns the relative luminance of a color as defined by WCAG 2. Channels range from 0 to 255.
fn luminance(color: [f64; 3]) -> f64 {
    let [red, green, blue] = color.map(|value| {
        let value = value / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Returns the color in xterm's palette. Its yellow, cyan and gray have a low contrast.
fn value(color: Option<Color>, text: [f64; 3]) -> [f64; 3] {
    match color {
        None | Some(Color::Reset) => text,
        Some(Color::Red) => [205.0, 0.0, 0.0],
        Some(Color::Green) => [0.0, 205.0, 0.0],
        Some(Color::Yellow) => [205.0, 205.0, 0.0],
        Some(Color::Blue) => [0.0, 0.0, 238.0],
        Some(Color::Magenta) => [205.0, 0.0, 205.0],
        Some(Color::Cyan) => [0.0, 205.0, 205.0],
        Some(Color::DarkGray) => [127.0; 3],
        Some(Color::LightRed) => [255.0, 0.0, 0.0],
        Some(other) => unreachable!("{other} is not of the palette of the themes"),
    }
}

#[test]
fn built_in_themes_have_enough_contrast() {
    for (name, background, text) in
        [(ThemeName::Dark, [0.0; 3], [229.0; 3]), (ThemeName::Light, [255.0; 3], [0.0; 3])]
    {
        for (role, style) in styles(name) {
            let mut rgb = value(style.fg, text);
            if style.add_modifier.contains(Modifier::DIM) {
                // Terminals blend dim text a third towards the background.
                rgb = [0, 1, 2].map(|at| rgb[at] + (background[at] - rgb[at]) / 3.0);
            }
            // A contrast of 3 is enough for the lines of a frame.
            let enough = if role == "frame" { 3.0 } else { 4.5 };
            let reached = contrast(rgb, background);
            assert!(reached >= enough, "{name:?}: `{role}` reaches {reached:.1} of {enough}");
        }
    }
}

#[test]
fn a_custom_theme_can_be_selected() {
    let source = include_str!("../../assets/themes/plain.toml");
    let path = Path::new("themes/own.toml");
    let themes = Themes::parse(Some((path, source)), ThemeName::Light).unwrap();
    let own = ThemeChoice::Named("own".into());
    assert_eq!(themes.resolve(&own), &Theme::built_in(ThemeName::Plain).unwrap());
    assert_eq!(themes.resolve(&ThemeChoice::Auto), &Theme::built_in(ThemeName::Light).unwrap());
    let damaged = Themes::parse(Some((path, "text = 'pink'")), ThemeName::Dark).unwrap_err();
    assert!(damaged.contains("themes/own.toml") && damaged.contains("pink"), "{damaged}");
}

#[test]
fn errors_name_the_role_or_word() {
    let good = include_str!("../../assets/themes/dark.toml");
    assert!(Theme::parse(&format!("{good}\nglow = ''")).unwrap_err().contains("glow"));
    assert!(
        Theme::parse(&good.replace("darkgray", "darkgrey5")).unwrap_err().contains("darkgrey5")
    );
    assert!(Theme::parse("text = ''").unwrap_err().contains("missing"));
}
