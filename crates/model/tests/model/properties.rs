//! What makes a filter by the properties of a file valid, and how values are read and explained.

use proptest::prelude::*;
use tessera_model::{Filter, vql::*};

fn text(value: &str) -> ColumnValue {
    ColumnValue::Text(value.to_owned())
}

fn file(
    property: FileProperty,
    operator: Operator,
    values: &[ColumnValue],
) -> Result<Filter, InvalidField> {
    Filter::property(Property::File(property), operator, values)
}

fn column(operator: Operator, value: ColumnValue) -> Result<Filter, InvalidField> {
    Filter::property(Property::Column(ColumnName::new("weather").unwrap()), operator, &[value])
}

#[test]
fn patterns_become_regular_expressions() {
    for (pattern, regex) in [
        ("train", "train"),
        ("./train/", "train"),
        ("a*.jpg", r"a[^/]*\.jpg"),
        ("**/x", "(?:.*/)?x"),
        ("a/**/x", "a/(?:.*/)?x"),
        ("a/**", "a/.*"),
        ("?[a-c][!d^]", "[^/][a-c][^/d\\^]"),
        ("<a>[<!>&a]", r"<a>[<!>\&a]"),
        ("[]a]", r"[\]a]"),
        ("{a,b*}", "(?:a|b[^/]*)"),
        (r"\*", r"\*"),
        ("ä (1)", r"ä \(1\)"),
        ("/", ".*"),
    ] {
        let name = PathPattern::new(pattern).unwrap().name_regex();
        assert_eq!(name, format!("^(?:{regex})$"), "{pattern}");
    }
    assert_eq!(PathPattern::new("a").unwrap().path_regex(), "^(?:a)(?:/.*)?$");
}

#[test]
fn invalid_patterns_are_refused_with_the_reason() {
    let many = "*/".repeat(17);
    let long = "x".repeat(1_001);
    for (pattern, reason) in [
        ("", "a pattern must not be empty"),
        ("[a", "has a bracket that is not closed"),
        ("[z-a]", "has a range that does not exist"),
        ("[a/b]", "has a slash in brackets"),
        ("{a", "has a brace that is not closed"),
        ("{a{b}}", "has braces inside braces"),
        ("a\\", "ends with a backslash"),
        (&many, "has more than 16 wildcards"),
        (&long, "a pattern has at most 1000 characters"),
    ] {
        let found = PathPattern::new(pattern).unwrap_err();
        assert!(found.reason.contains(reason), "{pattern}: {}", found.reason);
    }
}

#[test]
fn periods_have_a_start_and_an_end() {
    const DAY: i64 = 86_400_000;
    for (text, start, length) in [
        ("1970", 0, 365 * DAY),
        ("1970-02", 31 * DAY, 28 * DAY),
        ("1970-12", 334 * DAY, 31 * DAY),
        ("1970-01-02", DAY, DAY),
        ("1970-01-01T00:00:01Z", 1_000, 1_000),
        ("1970-01-01 00:01", 60_000, 60_000),
        ("1970-01-01T01:00:00+01:00", 0, 1_000),
        ("1970-01-02 00:00:00.000000 +00:00", DAY, 1),
        ("1970-01-01T00:00:30.5Z", 30_500, 100),
        ("1970-01-01T02:00:30.25+02:00", 30_250, 10),
        ("1969-12-31T23:59:59.9995Z", -1, 1),
        ("9999", 253_370_764_800_000, 365 * DAY),
        ("9999-12", 253_399_622_400_000, 31 * DAY),
        ("9999-12-31", 253_402_214_400_000, DAY),
        ("9999-12-31T23:59:59Z", 253_402_300_799_000, 1_000),
        ("1969-12-31", -DAY, DAY),
    ] {
        let period = Period::parse(text).unwrap();
        assert_eq!((period.start, period.end - period.start), (start, length), "{text}");
    }
    for text in [
        "",
        "19700",
        "1970-13",
        "1970-02-30",
        "1970/01/01",
        "today",
        "ä970",
        "-1970-01",
        "1970-1-01",
    ] {
        assert_eq!(Period::parse(text), None, "{text}");
    }
    assert!(Period::parse_exact("1970").is_none() && Period::parse_exact("1970-01-01").is_some());
}

#[test]
fn values_must_have_the_type_of_the_property() {
    use FileProperty::{Date, Format, Path, Width};
    use Operator::{AtLeast, Contains, Is, OneOf};
    for (filter, field) in [
        (file(Width, Is, &[text("1")]), "value"),
        (file(Width, Contains, &[text("1")]), "op"),
        (file(Width, Is, &[ColumnValue::Number(f64::NAN)]), "value"),
        (file(Path, AtLeast, &[text("a")]), "op"),
        (file(Path, Is, &[text("a"), text("b")]), "value"),
        (file(Path, OneOf, &[]), "value"),
        (file(Path, Is, &[ColumnValue::Number(1.0)]), "value"),
        (file(Format, Contains, &[text("j")]), "op"),
        (file(Date, Is, &[text("soon")]), "value"),
        (column(AtLeast, text("sun")), "value"),
        (column(AtLeast, ColumnValue::Flag(true)), "value"),
        (column(Contains, ColumnValue::Number(1.0)), "value"),
    ] {
        assert_eq!(filter.unwrap_err().field, field);
    }
    assert_eq!(ColumnName::new(" ").unwrap_err().field, "name");
    assert_eq!(file(Format, Is, &[text("JPG")]), file(Format, Is, &[text("jpeg")]));
    assert_eq!(format_of_file("a.b/x.TIF"), "tiff");
    assert_eq!(format_of_file("README"), "");
}

#[test]
fn spaces_around_names_belong_to_them() {
    use FileProperty::{Name, Path};
    for (property, operator, value) in [
        (Name, Operator::Contains, "copy "),
        (Name, Operator::Contains, " "),
        (Name, Operator::Is, " lead.png"),
        (Path, Operator::Is, "tra in "),
    ] {
        let Filter::Property(filter) = file(property, operator, &[text(value)]).unwrap() else {
            panic!("a property")
        };
        assert_eq!(filter.values()[0].to_scalar(), text(value));
    }
    assert_eq!(Filter::in_folder("tra in "), file(Path, Operator::Is, &[text("tra in ")]));
    assert_eq!(PathPattern::new(" a ").unwrap().name_regex(), "^(?: a )$");
}

#[test]
fn composed_and_decomposed_names_are_one_column() {
    assert_eq!(ColumnName::new("cafe\u{301}"), ColumnName::new("caf\u{e9}"));
}

#[test]
fn a_number_is_written_in_few_characters() {
    for (number, expected) in [
        (0.0, "0"),
        (-2.5, "-2.5"),
        (9_007_199_254_740_992.0, "9007199254740992"),
        (1e18, "1e18"),
        (1e308, "1e308"),
        (-5e-324, "-5e-324"),
    ] {
        let value = ColumnValue::Number(number);
        assert_eq!(value.to_string(), expected);
        assert_eq!(ColumnValue::from_typed(expected), value);
    }
    assert_eq!(ColumnValue::from_typed("1234567890123456789"), text("1234567890123456789"));
}

#[test]
fn a_typed_value_is_read_like_a_cell_of_a_table() {
    for code in ["00501", "-007", "+49", "9007199254740993", "inf", "NaN", "-"] {
        assert_eq!(ColumnValue::from_typed(code), text(code));
    }
    for (typed, number) in [("0", 0.0), ("0.5", 0.5), ("-.5", -0.5), (" 1e3 ", 1_000.0)] {
        assert_eq!(ColumnValue::from_typed(typed), ColumnValue::Number(number));
    }
    assert_eq!(ColumnValue::from_typed("True"), ColumnValue::Flag(true));
    assert_eq!(ColumnValue::from_typed("\"501\""), text("501"));
}

#[test]
fn a_number_of_a_file_may_be_typed_like_a_code() {
    for (typed, number) in [("0800", 800.0), ("+3", 3.0), (" 1.5 ", 1.5)] {
        let width = Property::File(FileProperty::Width).from_typed(typed);
        assert_eq!(width, ColumnValue::Number(number));
    }
    for typed in ["wide", "1 000", "inf"] {
        let width = Property::File(FileProperty::Width).from_typed(typed);
        assert_eq!(file(FileProperty::Width, Operator::Is, &[width]).unwrap_err().field, "value");
    }
    let column = Property::Column(ColumnName::new("zip").unwrap());
    assert_eq!(column.from_typed("0800"), text("0800"));
}

#[test]
fn filters_contain_filters_to_a_bounded_depth() {
    let path = || file(FileProperty::Path, Operator::Is, &[text("a")]).unwrap();
    let either = Filter::any_of(vec![path()]).unwrap();
    let not = Filter::negated(path()).unwrap();
    assert!(Filter::any_of(vec![not.clone(), path()]).is_ok());
    assert!(Filter::negated(either.clone()).is_ok());
    assert!(Filter::negated(not).is_err());
    assert!(Filter::any_of(vec![either.clone()]).is_err());
    assert!(Filter::any_of(vec![Filter::negated(either).unwrap()]).is_err());
    assert!(Filter::any_of(Vec::new()).is_err() && Filter::any_of(vec![path(); 17]).is_err());
    let ranking = Filter::full_text("red").unwrap();
    for refused in [Filter::negated(ranking.clone()), Filter::any_of(vec![ranking])] {
        assert!(refused.unwrap_err().reason.contains("rank the results"));
    }
}

#[test]
fn each_filter_is_explained() {
    use FileProperty::{Format, Path, Size, Width};
    use Operator::{AtLeast, AtMost, Contains, Is, IsNot, OneOf};
    let width = file(Width, AtLeast, &[ColumnValue::Number(1_000.0)]).unwrap();
    for (filter, expected) in [
        (width.clone(), "its width is at least 1 000 pixels"),
        (file(Size, AtMost, &[ColumnValue::Number(0.5)]).unwrap(), "its size is at most 0.5 bytes"),
        (file(Path, Is, &[text("train")]).unwrap(), "its path matches “train”"),
        (
            file(Format, OneOf, &[text("png"), text("jpg")]).unwrap(),
            "its format is one of “jpeg”, “png”",
        ),
        (column(IsNot, text("sun")).unwrap(), "its column “weather” is not “sun”"),
        (column(Contains, text("su")).unwrap(), "its column “weather” contains “su”"),
        (
            Filter::negated(width.clone()).unwrap(),
            "this is not true: its width is at least 1 000 pixels",
        ),
        (
            Filter::any_of(vec![width, column(Is, ColumnValue::Flag(true)).unwrap()]).unwrap(),
            "one of these is true: its width is at least 1 000 pixels; or its column “weather” is true",
        ),
    ] {
        assert_eq!(filter.to_string(), expected);
        assert!(filter.local_addition().is_some());
    }
    assert_eq!(Filter::full_text("red").unwrap().local_addition(), None);
}

proptest! {
    #[test]
    fn numbers_sort_like_their_values(a in any::<f64>(), b in any::<f64>()) {
        if let (Ok(one), Ok(other)) = (Number::new(a), Number::new(b)) {
            prop_assert_eq!(one.cmp(&other), (a + 0.0).total_cmp(&(b + 0.0)));
            prop_assert!((one.value() - a).abs() <= 0.0);
        }
    }

    #[test]
    fn typed_values_are_read_again(value in prop_oneof![
        any::<bool>().prop_map(ColumnValue::Flag),
        any::<f64>().prop_map(ColumnValue::Number),
        "[a-z0-9.\"]{1,8}".prop_map(ColumnValue::Text),
    ]) {
        prop_assert_eq!(ColumnValue::from_typed(&value.to_typed()), value);
    }

    #[test]
    fn a_literal_pattern_has_the_path_as_its_prefix(path in "[a-z*?\\[{ ]{1,12}") {
        let pattern = PathPattern::literal(&path).unwrap();
        let plain = path.find(['*', '?', '[', '{', '\\']).unwrap_or(path.len());
        prop_assert_eq!(pattern.literal_prefix(), &path[..plain]);
    }
}

#[test]
fn a_filter_by_rating_takes_only_ratings_that_exist() {
    for (operator, rating, is_valid) in [
        (Operator::Is, 1.0, true),
        (Operator::AtLeast, 5.0, true),
        (Operator::Is, 7.0, false),
        (Operator::AtLeast, 2.5, false),
        (Operator::IsNot, 0.0, false),
        (Operator::AtMost, -1.0, false),
        (Operator::AtLeast, f64::NAN, false),
    ] {
        let found = file(FileProperty::Rating, operator, &[ColumnValue::Number(rating)]);
        let reason = found.err().map(|invalid| invalid.reason);
        let expected = (!is_valid).then(|| "must be a rating from 1 to 5".to_owned());
        assert_eq!(reason, expected, "{operator:?} {rating}");
    }
}
