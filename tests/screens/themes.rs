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
fn an_own_theme_inherits_the_roles_that_it_does_not_name() {
    let path = Path::new("themes/own.toml");
    let mut themes = Themes::built_in(ThemeName::Light).unwrap();
    themes.add_own("own", path, "accent = 'blue'").unwrap();
    let own = ThemeChoice::Named("own".into());
    let light = Theme::built_in(ThemeName::Light).unwrap();
    let expected = Theme { accent: Theme::parse("accent = 'blue'").unwrap().accent, ..light };
    assert_eq!(themes.resolve(&own), &expected);
    assert_eq!(themes.resolve(&ThemeChoice::Auto), &light);
    // The terminal reports its background later.
    themes.auto = ThemeName::Dark;
    assert_eq!(themes.resolve(&own).frame, Theme::built_in(ThemeName::Dark).unwrap().frame);
    assert_eq!(themes.own().collect::<Vec<_>>(), [own]);
    let damaged = themes.add_own("own", path, "text = 'pink'").unwrap_err();
    assert!(damaged.contains("themes/own.toml") && damaged.contains("pink"), "{damaged}");
}

#[test]
fn errors_name_the_role_or_word() {
    let unknown = Theme::parse("glow = ''").unwrap_err();
    assert!(unknown.contains("`glow` is not a role; the roles are text, dim"), "{unknown}");
    assert!(Theme::parse("frame = 'darkgrey5'").unwrap_err().contains("darkgrey5"));
}

#[test]
fn built_in_themes_name_every_role() {
    let names = |source: &str| source.lines().filter(|line| line.contains(" = ")).count();
    for source in [
        include_str!("../../assets/themes/dark.toml"),
        include_str!("../../assets/themes/light.toml"),
        include_str!("../../assets/themes/plain.toml"),
    ] {
        assert_eq!(names(source), 12, "{source}");
    }
}
