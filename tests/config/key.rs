//! Tests `config::key`: the table of settings and their types.

use tessera_config::key::{find, suggest};

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
