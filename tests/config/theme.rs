//! Tests the choice of a theme in the settings.

use tessera_config::ThemeChoice;

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
    while let next = cycle[cycle.len() - 1].next(&user_themes)
        && next != ThemeChoice::Auto
    {
        cycle.push(next);
    }
    let words: Vec<&str> = cycle.iter().map(ThemeChoice::as_str).collect();
    assert_eq!(words, ["auto", "dark", "light", "plain", "own", "sea"]);
}
