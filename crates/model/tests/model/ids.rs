use tessera_model::ids::*;

#[test]
fn only_a_uuid_becomes_an_id() {
    assert!("95233006-eddc-11ef-b303-76dbc3993eb2".parse::<DatasetId>().is_ok());
    for bad in ["", "../x", "95233006-eddc-11ef-b303-76dbc3993eb2?y=1", "a/b", "95233006"] {
        assert!(bad.parse::<DatasetId>().is_err(), "{bad}");
    }
}

#[test]
fn an_id_is_written_with_hyphens_and_shortened_to_its_first_eight_digits() {
    let text = "95233006-eddc-11ef-b303-76dbc3993eb2";
    for typed in [text, " 95233006-eddc-11ef-b303-76dbc3993eb2\n", &text.to_uppercase()] {
        let id: MediaId = typed.parse().unwrap();
        assert_eq!((id.to_string().as_str(), id.short().as_str()), (text, "95233006"));
    }
}
