//! Tests that every setting has a description and every default has a key.

use tessera::config::key::{KEYS, PROFILE_KEYS, comment_of_setting, schema};

#[test]
fn every_key_has_a_description_and_every_default_a_key() {
    for key in KEYS.iter().chain(PROFILE_KEYS) {
        let sentence = comment_of_setting(key);
        assert!(sentence.len() > 10 && !sentence.contains('#'), "{}: {sentence}", key.name);
    }
    let schema = schema();
    assert_eq!(schema["properties"]["ui"]["properties"]["theme"]["default"], "auto");
    assert_eq!(schema["properties"]["search"]["properties"]["granularity"]["maximum"], 4);
    let profile = &schema["properties"]["profiles"]["additionalProperties"];
    assert_eq!(profile["properties"]["kind"]["enum"][2], "local");
    assert_eq!(schema["additionalProperties"], false);
}
