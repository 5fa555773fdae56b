use tessera_wire::fields::format_iso8601;

#[test]
fn times_have_microseconds_and_no_zone() {
    assert_eq!(format_iso8601(1_745_480_686_136_915), "2025-04-24T07:44:46.136915");
    assert_eq!(format_iso8601(0), "1970-01-01T00:00:00.000000");
}

#[test]
fn times_before_the_epoch_and_beyond_the_calendar_are_written() {
    for (microseconds, written) in [
        (1, "1970-01-01T00:00:00.000001"),
        (-1, "1969-12-31T23:59:59.999999"),
        (951_827_696_000_000, "2000-02-29T12:34:56.000000"),
        (i64::MAX, "1970-01-01T00:00:00.000000"),
    ] {
        assert_eq!(format_iso8601(microseconds), written);
    }
}
