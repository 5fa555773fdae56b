//! Tests `config::profile`: the names of profiles.

use tessera_config::profile::check_name;

#[test]
fn a_profile_name_is_a_key_and_a_folder_name() {
    assert!(check_name("lab-2_b").is_ok());
    for name in ["../up", "", "a.b", "a b", &"x".repeat(41)] {
        assert!(check_name(name).is_err(), "{name}");
    }
}
