use tessera_model::ids::*;

#[test]
fn only_a_uuid_becomes_an_id() {
    assert!("95233006-eddc-11ef-b303-76dbc3993eb2".parse::<DatasetId>().is_ok());
    for bad in ["", "../x", "95233006-eddc-11ef-b303-76dbc3993eb2?y=1", "a/b", "95233006"] {
        assert!(bad.parse::<DatasetId>().is_err(), "{bad}");
    }
}
