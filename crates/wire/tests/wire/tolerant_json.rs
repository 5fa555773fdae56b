use std::io::Read as _;

use proptest::prelude::*;
use serde_json::{Value, error::Category, json};

use tessera_wire::tolerant_json::{JsonReader, Repairs, parse};

const LIMIT: usize = 1 << 20;

fn read(json: impl AsRef<[u8]>) -> (Value, Repairs) {
    parse(json.as_ref(), None, LIMIT).unwrap()
}

fn repairs(numbers: usize, characters: usize) -> Repairs {
    Repairs { numbers, characters, nested: 0 }
}

#[test]
fn numbers_that_json_lacks_are_unknown() {
    for word in [
        "NaN",
        "-NaN",
        "nan",
        "Infinity",
        "-Infinity",
        "+Infinity",
        "inf",
        "-inf",
        "-nan(ind)",
        "1.#QNAN",
        "-1.#IND",
        "1e400",
        "-1e999",
    ] {
        let json = format!(r#"[{{"score": {word}, "NaN": "NaN, Infinity"}}, {word},1.5]"#);
        let expected = json!([{"score": null, "NaN": "NaN, Infinity"}, null, 1.5]);
        assert_eq!(read(json), (expected, repairs(2, 0)), "{word}");
    }
    assert_eq!(read("NaN"), (Value::Null, repairs(1, 0)));
}

#[test]
fn repairs_say_what_was_changed() {
    let numbers = "numbers that are not JSON, such as NaN, which count as unknown";
    let characters = "characters that are not Unicode, which are shown as U+FFFD";
    assert_eq!(repairs(0, 0).to_string(), "");
    assert_eq!(repairs(2, 0).to_string(), numbers);
    assert_eq!(repairs(0, 1).to_string(), characters);
    assert_eq!(repairs(1, 1).to_string(), format!("{numbers}, and {characters}"));
}

#[test]
fn only_values_that_are_nested_too_deeply_are_unknown() {
    for depth in [200, 100_000] {
        let list = format!("{}1{}", r#"["]","#.repeat(depth), "]".repeat(depth));
        let (value, repairs) = read(format!(r#"{{"x": {list}, "y": [NaN, 2]}}"#));
        assert_eq!(value["y"], json!([null, 2]));
        assert_eq!(repairs, Repairs { numbers: 1, characters: 0, nested: 1 });
        assert!(repairs.to_string().contains("nested too deeply"));
    }
    assert!(parse(b"[[[1, 2", None, LIMIT).is_err());
}

#[test]
fn characters_that_are_not_unicode_are_replaced() {
    for (json, text, characters) in [
        (r#""caf\udce9.jpg""#, "caf\u{fffd}.jpg", 1),
        (r#""holiday \ud83c""#, "holiday \u{fffd}", 1),
        (r#""\ud83cx\ud83c\n\ud83c\ud83c\udf89""#, "\u{fffd}x\u{fffd}\n\u{fffd}🎉", 3),
        (r#""\ud83c\u0041\udf89""#, "\u{fffd}A\u{fffd}", 2),
    ] {
        assert_eq!(read(json), (text.into(), repairs(0, characters)), "{json}");
    }
    // The decoder reports that characters were malformed, but not how many.
    assert_eq!(read(b"[\"caf\xe9\", \"\xff\xff\"]").1, repairs(0, 1));
}

#[test]
fn control_characters_and_backslashes_of_texts_are_kept() {
    let (value, changed) = read("[\"one\ntwo\t\u{0}\", \"C:\\pics\\x \\u12 \\\\\"]");
    assert_eq!(value, json!(["one\ntwo\t\u{0}", "C:\\pics\\x \\u12 \\"]));
    assert_eq!(changed, repairs(0, 0));
}

#[test]
fn other_encodings_are_decoded() {
    let expected = json!([{"display_name": "café 🎉"}]);
    let json = expected.to_string();
    let marked = format!("\u{feff}{json}");
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    for bytes in [marked.clone().into_bytes(), utf16(&marked), utf16(&json)] {
        assert_eq!(read(bytes), (expected.clone(), repairs(0, 0)));
    }
    for (charset, bytes) in
        [("ISO-8859-1", &b"[\"caf\xe9\"]"[..]), ("shift_jis", b"[\"\x8e\xca\"]")]
    {
        let (value, changed) = parse(bytes, Some(charset), LIMIT).unwrap();
        assert_eq!(changed, repairs(0, 0));
        assert_ne!(value, json!(["\u{fffd}"]));
    }
    // Services declare Latin-1 by default and send UTF-8.
    let (value, _) = parse("[\"café\"]".as_bytes(), Some("ISO-8859-1"), LIMIT).unwrap();
    assert_eq!(value, json!(["café"]));
}

#[test]
fn what_is_not_json_is_still_refused_at_its_position() {
    for (json, category) in [
        ("", Category::Eof),
        ("[NaN", Category::Eof),
        ("[NaN] 2", Category::Syntax),
        ("NaNs", Category::Syntax),
        ("<html>inf</html>", Category::Syntax),
        ("\"\\ud83c", Category::Eof),
    ] {
        let error = parse(json.as_bytes(), None, LIMIT).unwrap_err();
        // The strict reader stops at the first word.
        let categories = [category, Category::Syntax];
        assert!(categories.contains(&error.classify()), "{json} {error}");
    }
    let deep = format!("NaN{}", "[".repeat(100_000));
    assert!(parse(deep.as_bytes(), None, LIMIT).is_err());
    let large = format!("[NaN{}]", ",0".repeat(100_000));
    assert!(parse(large.as_bytes(), None, LIMIT).unwrap_err().is_data());
}

proptest! {
    #[test]
    fn strict_json_passes_without_a_change(text in "\\PC{0,40}", number in any::<f64>(), size in 1usize..9) {
        let json = json!([{ &text: text, "number": number }, [text], -1.5e3, true, null]).to_string();
        let mut reader = JsonReader::new(json.as_bytes(), None);
        let (mut strict, mut piece) = (Vec::new(), vec![0; size]);
        while let length @ 1.. = reader.read(&mut piece).unwrap() {
            strict.extend_from_slice(&piece[..length]);
        }
        prop_assert_eq!(strict, json.as_bytes());
        prop_assert_eq!(reader.repairs(), Repairs::default());
    }

    #[test]
    fn any_bytes_become_unicode(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut text = String::new();
        JsonReader::new(&bytes[..], None).read_to_string(&mut text).unwrap();
        let _ = parse(&bytes, None, LIMIT);
    }
}
