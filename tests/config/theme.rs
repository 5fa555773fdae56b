//! Tests the choice of a theme in the settings.

use tessera::config::ThemeChoice;

#[test]
fn a_theme_is_a_word_or_a_name_but_never_a_path() {
    assert_eq!("light".parse(), Ok(ThemeChoice::Light));
    assert_eq!("my-own".parse(), Ok(ThemeChoice::Named("my-own".into())));
    for path in ["../dark", "a/b", "", "a.toml"] {
        assert!(path.parse::<ThemeChoice>().unwrap_err().contains("themes/NAME.toml"));
    }
}

#[test]
fn the_cycle_includes_every_theme_and_the_configured_one() {
    let own = ThemeChoice::Named("own".into());
    let mut cycle = vec![own.clone()];
    while let last = cycle[cycle.len() - 1].next(&own)
        && last != own
    {
        cycle.push(last);
    }
    let words: Vec<&str> = cycle.iter().map(ThemeChoice::as_str).collect();
    assert_eq!(words, ["own", "auto", "dark", "light", "plain"]);
    assert_eq!(ThemeChoice::Plain.next(&ThemeChoice::Auto), ThemeChoice::Auto);
}
