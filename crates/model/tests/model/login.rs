use tessera_model::login_check_text;

#[test]
fn a_check_of_the_login_distinguishes_a_wrong_key_from_a_missing_permission() {
    let both = "401: the key has expired or is wrong, or the secret does not match";
    for (status, by_dataset, text) in [
        (401, false, Some(both)),
        (401, true, Some(both)),
        (403, true, Some("403: the login works, but has no permission for this dataset")),
        (403, false, Some("403: the login works, but has no permission to list datasets")),
        (404, true, Some("404: no such dataset, or no access to it")),
        (404, false, None),
        (200, true, None),
        (400, true, None),
        (500, false, None),
    ] {
        assert_eq!(login_check_text(status, by_dataset), text, "{status} {by_dataset}");
    }
}
