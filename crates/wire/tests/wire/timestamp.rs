use tessera_wire::timestamp::*;

#[test]
fn times_have_microseconds_and_no_zone() {
    assert_eq!(format_iso8601(1_745_480_686_136_915), "2025-04-24T07:44:46.136915");
    assert_eq!(format_iso8601(0), "1970-01-01T00:00:00.000000");
}
