//! Tests settings as typed values, the table of their keys and types, and the names of themes and profiles.

use std::time::Duration;

use tessera_config::{
    GraphicsChoice, Settings, Sources, ThemeChoice, TileLayout, TileSize,
    key::{self, find, suggest},
    profile::check_name,
};
use tessera_model::{EntityType, ExportFormat};

fn load(
    source: &str,
    flags: Vec<(&'static str, &'static str, toml::Value)>,
    everywhere: bool,
) -> Result<Settings, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, source).unwrap();
    let user = Some(file);
    let sources = Sources { flags, user, accessible_variable: everywhere, ..Sources::default() };
    Settings::load(&sources)
}

#[test]
fn layers_override_line_by_line() {
    let flag = ("ui.graphics", "--graphics", "half".into());
    let settings = load("[ui]\ntheme = 'light'\ngraphics = 'sixel'\n", vec![flag], false).unwrap();
    assert_eq!(settings.ui.theme, ThemeChoice::Light);
    assert_eq!(settings.ui.graphics, GraphicsChoice::Half);
    assert!(settings.ui.mouse);
    assert_eq!(settings.ui.tile, TileSize::Medium);
    assert_eq!(load("[ui]\ntile = 'large'\n", vec![], false).unwrap().ui.tile, TileSize::Large);
    let mosaic = load("[ui]\nlayout = 'mosaic'\n", vec![], false).unwrap().ui.layout;
    assert_eq!((settings.ui.layout, mosaic), (TileLayout::Grid, TileLayout::Mosaic));
    let absent = Sources { user: Some("/no/such/config.toml".into()), ..Sources::default() };
    assert_eq!(Settings::load(&absent).unwrap().ui.theme, ThemeChoice::Auto);
}

#[test]
fn an_explicit_false_overrides_the_accessible_variable() {
    let flag = |value: bool| vec![("ui.accessible", "--accessible", value.into())];
    let reason = |source, flags, everywhere| load(source, flags, everywhere).unwrap().accessible;
    assert_eq!(reason("", vec![], false), None);
    assert_eq!(reason("", vec![], true), Some("ACCESSIBLE is set"));
    assert_eq!(reason("", flag(false), true), None);
    assert_eq!(reason("[ui]\naccessible = false\n", vec![], true), None);
    let over = reason("[ui]\naccessible = false\n", flag(true), true);
    assert_eq!(over, Some("--accessible is set"));
    let from_file = reason("[ui]\naccessible = true\n", vec![], false);
    assert_eq!(from_file, Some("ui.accessible is set"));
}

#[test]
fn unknown_names_are_errors_with_their_line() {
    let error = load("[ui]\nmouse = true\ncolor = 'red'\n", vec![], false).unwrap_err();
    assert!(error.contains("line 3") && error.contains("color"), "{error}");
}

#[test]
fn every_accepted_value_is_parsed() {
    let source = "default_profile = 'a'\n[search]\nentity = 'OBJECTS'\ngranularity = 4\n\
        [export]\nformat = 'json'\n[poll]\nmin = '2s'\n[ui]\nnotify = []\n\
        [profiles.a]\nkind = 'hosted'\nbase_url = 'https://u'\ntoken_ttl = '10m'\n\
        ca_file = '~/ca.pem'\nread_only = true\npinned = ['95233006-eddc-11ef-b303-76dbc3993eb2']\n";
    let settings = load(source, vec![], false).unwrap();
    assert_eq!(settings.search.entity, EntityType::Objects);
    assert_eq!(settings.search.granularity.level(), 4);
    assert_eq!(settings.export.format, ExportFormat::Json);
    assert_eq!(settings.poll.min, Duration::from_secs(2));
    let options = &settings.profiles[0].options;
    assert_eq!(options.token_ttl, Some(Duration::from_mins(10)));
    assert!(options.read_only && !options.allow_http && options.pinned.len() == 1);
    assert!(!options.ca_file.as_ref().unwrap().starts_with("~"));
    for key in key::KEYS {
        let (key::ValueType::Choice(words) | key::ValueType::ChoiceList(words)) = key.value_type
        else {
            continue;
        };
        let (section, name) = key.name.split_once('.').unwrap();
        for word in words {
            let list = matches!(key.value_type, key::ValueType::ChoiceList(_));
            let value = if list { format!("['{word}']") } else { format!("'{word}'") };
            load(&format!("[{section}]\n{name} = {value}\n"), vec![], false).unwrap();
        }
    }
}

#[test]
fn only_similar_keys_are_suggested() {
    for (typed, meant) in [
        ("ui.them", Some("ui.theme")),
        ("theme", Some("ui.theme")),
        ("search.download_dir", Some("export.download_dir")),
        ("profiles.lab.pipeline", Some("profiles.lab.pipeline_url")),
        ("ui.color", None),
        ("zzz", None),
    ] {
        assert_eq!(suggest(typed).as_deref(), meant, "{typed}");
    }
}

#[test]
fn values_are_validated_by_type() {
    for (name, word, fits) in [
        ("ui.mouse", "off", true),
        ("ui.mouse", "maybe", false),
        ("ui.graphics", "Kitty", true),
        ("ui.theme", "../up", false),
        ("ui.notify", "bell,toast", true),
        ("search.granularity", "4", true),
        ("search.granularity", "5", false),
        ("poll.min", "2s", true),
        ("poll.min", "0s", false),
        ("profiles.x.token_ttl", "10m", true),
        ("profiles.x.kind", "cloud", false),
    ] {
        let key = find(name).unwrap();
        assert_eq!(key.value_type.parse(word).is_some(), fits, "{name} = {word}");
    }
}

#[test]
fn a_theme_is_a_word_or_a_name_but_never_a_path() {
    assert_eq!("light".parse(), Ok(ThemeChoice::Light));
    assert_eq!("my-own".parse(), Ok(ThemeChoice::Named("my-own".into())));
    for path in ["../dark", "a/b", "", "a.toml"] {
        assert!(path.parse::<ThemeChoice>().unwrap_err().contains("themes/NAME.toml"));
    }
}

#[test]
fn the_cycle_includes_every_theme_and_all_own_ones() {
    let user_themes = ["own", "sea"].map(|name| ThemeChoice::Named(name.into()));
    let mut cycle = vec![ThemeChoice::Auto];
    while let next = cycle[cycle.len() - 1].next(&user_themes, None)
        && next != ThemeChoice::Auto
    {
        cycle.push(next);
    }
    let words: Vec<&str> = cycle.iter().map(ThemeChoice::as_str).collect();
    assert_eq!(words, ["auto", "dark", "light", "plain", "own", "sea"]);

    let light = ThemeChoice::Light;
    assert_eq!(ThemeChoice::Dark.next(&user_themes, Some(&light)), ThemeChoice::Plain);
    assert_eq!(light.next(&user_themes, Some(&light)), ThemeChoice::Plain);
}

#[test]
fn a_profile_name_is_a_key_and_a_folder_name() {
    assert!(check_name("lab-2_b").is_ok());
    for name in ["../up", "", "a.b", "a b", &"x".repeat(41)] {
        assert!(check_name(name).is_err(), "{name}");
    }
}
