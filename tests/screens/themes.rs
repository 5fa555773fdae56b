//! Tests the built-in themes, and theme files.

use std::path::Path;

use ratatui::style::{Color, Modifier, Style};
use tessera_config::ThemeChoice;
use tessera_interface::drawing::{
    picture_layer::ColorDepth,
    theme::{Theme, ThemeName, Themes},
};

use super::{browsing, drawn, drawn_at_depth, row};

const DEPTHS: [ColorDepth; 3] =
    [ColorDepth::TrueColor, ColorDepth::Palette256, ColorDepth::Palette16];

/// The backgrounds of common terminal themes: black, xterm-like dark grays, Solarized, Gruvbox, One Dark, Dracula,
/// Nord.
const DARK_BACKGROUNDS: [&str; 8] =
    ["#000000", "#1e1e1e", "#0d1117", "#002b36", "#282828", "#282c34", "#282a36", "#2e3440"];
/// White, and the backgrounds of GitHub, One Light, Solarized, Gruvbox and Catppuccin.
const LIGHT_BACKGROUNDS: [&str; 6] =
    ["#ffffff", "#f6f8fa", "#fafafa", "#fdf6e3", "#fbf1c7", "#eff1f5"];

/// Returns the styles of a built-in theme with their roles.
fn styles(name: ThemeName, depth: ColorDepth) -> [(&'static str, Style); 12] {
    let Theme {
        text,
        dim,
        accent,
        frame,
        frame_focus,
        selected,
        success,
        attention,
        failure,
        key,
        gauge,
        empty,
    } = Theme::built_in(name, depth).unwrap();
    [
        ("text", text),
        ("dim", dim),
        ("accent", accent),
        ("frame", frame),
        ("frame-focus", frame_focus),
        ("selected", selected),
        ("success", success),
        ("attention", attention),
        ("failure", failure),
        ("key", key),
        ("gauge", gauge),
        ("empty", empty),
    ]
}

#[test]
fn built_in_themes_are_complete_and_plain_has_no_color() {
    for depth in DEPTHS {
        for name in [ThemeName::Dark, ThemeName::Light, ThemeName::Plain] {
            Theme::built_in(name, depth).unwrap();
        }
        for (role, style) in styles(ThemeName::Plain, depth) {
            assert!(matches!(style.fg, None | Some(Color::Reset)), "{role}");
        }
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

/// Returns the channels of an exact color.
fn rgb(color: Option<Color>) -> [f64; 3] {
    let Some(Color::Rgb(red, green, blue)) = color else {
        unreachable!("{color:?} is not an exact color")
    };
    [red, green, blue].map(f64::from)
}

#[test]
fn true_color_themes_have_enough_contrast_on_common_backgrounds() {
    for (name, backgrounds) in
        [(ThemeName::Dark, &DARK_BACKGROUNDS[..]), (ThemeName::Light, &LIGHT_BACKGROUNDS)]
    {
        for (role, style) in styles(name, ColorDepth::TrueColor) {
            assert!(!style.add_modifier.contains(Modifier::DIM), "`{role}` depends on blending");
            // A contrast of 3 is enough for the lines of a frame.
            let enough = match role {
                "text" => 7.0,
                "frame" => 3.0,
                _ => 4.5,
            };
            for background in backgrounds {
                let shown_background = style.bg.or_else(|| background.parse().ok());
                let reached = contrast(rgb(style.fg), rgb(shown_background));
                assert!(
                    reached >= enough,
                    "{name:?}: `{role}` reaches {reached:.1} of {enough} on {background}"
                );
            }
        }
    }
}

/// Returns how a color looks without the cones for green (Viénot, Brettel and Mollon 1999).
fn without_green_cones(color: [f64; 3]) -> [f64; 3] {
    let [red, green, blue] = color.map(|value| (value / 255.0).powf(2.2));
    let yellow = 0.2925 * red + 0.7075 * green;
    [yellow, yellow, 0.0223 * (green - red) + blue]
}

#[test]
fn success_is_green_and_states_differ_without_green_cones() {
    for name in [ThemeName::Dark, ThemeName::Light] {
        let theme = Theme::built_in(name, ColorDepth::TrueColor).unwrap();
        let [red, green, blue] = rgb(theme.success.fg);
        assert!(green > red && green > blue, "{name:?}");
        let states = [theme.success, theme.attention, theme.failure].map(|style| {
            without_green_cones(rgb(style.fg)).map(|value| value.max(0.0).powf(1.0 / 2.2))
        });
        for (at, state) in states.iter().enumerate() {
            for other in &states[..at] {
                let squares = state.iter().zip(other).map(|(a, b)| (a - b).powi(2));
                let distance = squares.sum::<f64>().sqrt();
                assert!(distance > 0.12, "{name:?}: {distance:.2}");
            }
        }
    }
}

#[test]
fn the_depth_of_color_changes_only_colors() {
    let harness = browsing(120, 40);
    let text = |depth| {
        let buffer = drawn_at_depth(&harness, ThemeName::Dark, depth);
        (0..40).map(|y| row(&buffer, y)).collect::<Vec<_>>()
    };
    assert_eq!(text(ColorDepth::TrueColor), text(ColorDepth::Palette16));
    // The name of the program is the first word of the screen.
    let name = |depth| drawn_at_depth(&harness, ThemeName::Dark, depth)[(1, 0)].fg;
    assert!(matches!(name(ColorDepth::TrueColor), Color::Rgb(..)));
    assert_eq!(name(ColorDepth::Palette16), drawn(&harness, ThemeName::Dark)[(1, 0)].fg);
}

#[test]
fn sixteen_color_themes_have_enough_contrast() {
    for (name, background, text) in
        [(ThemeName::Dark, [0.0; 3], [229.0; 3]), (ThemeName::Light, [255.0; 3], [0.0; 3])]
    {
        for (role, style) in styles(name, ColorDepth::Palette16) {
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
fn exact_colors_need_a_known_background_unless_a_theme_is_chosen() {
    let mut themes = Themes::built_in(ThemeName::Light, ColorDepth::TrueColor).unwrap();
    let light = |depth| Theme::built_in(ThemeName::Light, depth).unwrap();
    assert_eq!(themes.resolve(&ThemeChoice::Auto), &light(ColorDepth::Palette16));
    assert_eq!(themes.resolve(&ThemeChoice::Light), &light(ColorDepth::TrueColor));
    themes.is_background_known = true;
    assert_eq!(themes.resolve(&ThemeChoice::Auto), &light(ColorDepth::TrueColor));
    themes.color_depth = ColorDepth::Palette256;
    assert_eq!(themes.resolve(&ThemeChoice::Light), &light(ColorDepth::Palette16));
}

#[test]
fn an_own_theme_inherits_the_roles_that_it_does_not_name() {
    let path = Path::new("themes/own.toml");
    let built_in = |name| Theme::built_in(name, ColorDepth::TrueColor).unwrap();
    let mut themes = Themes::built_in(ThemeName::Light, ColorDepth::TrueColor).unwrap();
    themes.is_background_known = true;
    themes.add_user_theme("own", path, "accent = 'blue'").unwrap();
    let user_theme = ThemeChoice::Named("own".into());
    let light = built_in(ThemeName::Light);
    let expected = Theme { accent: Theme::parse("accent = 'blue'").unwrap().accent, ..light };
    assert_eq!(themes.resolve(&user_theme), &expected);
    assert_eq!(themes.resolve(&ThemeChoice::Auto), &light);
    assert_eq!(themes.unreadable_theme(), Some(ThemeChoice::Dark));
    // The terminal reports its background later.
    themes.auto = ThemeName::Dark;
    assert_eq!(themes.resolve(&user_theme).frame, built_in(ThemeName::Dark).frame);
    // So does it report its colors.
    themes.color_depth = ColorDepth::Palette256;
    let palette = Theme::built_in(ThemeName::Dark, ColorDepth::Palette256).unwrap();
    assert_eq!(themes.resolve(&user_theme).frame, palette.frame);
    assert_ne!(palette.frame, built_in(ThemeName::Dark).frame);
    assert_eq!(themes.user_themes().collect::<Vec<_>>(), [user_theme]);
    let damaged = themes.add_user_theme("own", path, "text = 'pink'").unwrap_err();
    assert!(damaged.contains("themes/own.toml") && damaged.contains("pink"), "{damaged}");
}

#[test]
fn errors_name_the_role_or_word() {
    let reason = |source| Theme::parse(source).unwrap_err().reason;
    let unknown = reason("glow = ''");
    assert!(unknown.contains("`glow` is not a role; the roles are text, dim"), "{unknown}");
    assert!(reason("selected = 'on-pinkish'").contains("pinkish"));
    assert!(reason("frame = 'darkgrey5'").contains("darkgrey5"));
    let both = reason("accent = 'pink'\nglow = ''");
    assert!(both.contains("`pink` in `accent`") && both.contains("`glow` is not a role"), "{both}");
}

#[test]
fn built_in_themes_name_every_role() {
    let names = |source: &str| source.lines().filter(|line| line.contains(" = ")).count();
    for source in [
        include_str!("../../assets/themes/dark.toml"),
        include_str!("../../assets/themes/light.toml"),
        include_str!("../../assets/themes/dark-16.toml"),
        include_str!("../../assets/themes/light-16.toml"),
        include_str!("../../assets/themes/plain.toml"),
    ] {
        assert_eq!(names(source), 12, "{source}");
    }
}
