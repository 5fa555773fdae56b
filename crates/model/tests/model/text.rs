use std::time::Duration;

use proptest::prelude::*;

use tessera_model::text::*;

#[test]
fn controls_become_visible() {
    let text = SafeText::name("a\u{1b}[2Jb\r\nc\u{9b}d\u{7f}");
    assert_eq!(text.as_str(), "a␛[2Jb␍␊c<U+009B>d␡");
}

#[test]
fn bidi_and_invisible_characters_are_escaped() {
    assert_eq!(SafeText::name("x\u{202e}y\u{200b}z").as_str(), "x<U+202E>y<U+200B>z");
    assert_eq!(SafeText::name("👩\u{200d}🚀").as_str(), "👩\u{200d}🚀");
}

#[test]
fn stacked_marks_and_long_text_are_bounded() {
    let zalgo = format!("e{}", "\u{301}".repeat(100_000));
    assert_eq!(SafeText::name(&zalgo).as_str().matches('\u{301}').count(), 8);
    let eight = format!("e{}x", "\u{301}".repeat(8));
    assert_eq!(SafeText::name(&eight).as_str(), eight);
    let without_base = SafeText::name(&"\u{301}".repeat(12));
    assert!(without_base.as_str().chars().count() <= 9);
    let family = "👩🏽\u{200d}👩🏽\u{200d}👧🏽\u{200d}👦🏽";
    assert_eq!(SafeText::name(family).as_str(), family);
    let long = SafeText::name(&"x".repeat(10_000));
    assert_eq!(long.as_str().chars().count(), SafeText::MAX_NAME + 1);
    assert!(long.as_str().ends_with('…'));
}

#[test]
fn numbers_and_times_are_formatted() {
    assert_eq!(group_digits(48_210), "48 210");
    assert_eq!(group_digits(7), "7");
    assert_eq!(format_duration(Duration::from_secs(3_671)), "1:01:11");
    assert_eq!(format_bytes(11_400_000), "10.9 MiB");
    assert_eq!(count_with_noun(1_u64, "entry", "entries"), "1 entry");
    assert_eq!(count_with_noun(2_usize, "entry", "entries"), "2 entries");
}

#[test]
fn text_is_truncated_by_display_width() {
    assert_eq!(truncate("abcdef", 6), "abcdef");
    assert_eq!(truncate("abcdef", 4), "abc…");
    assert_eq!(truncate("猫猫猫", 4), "猫…");
    assert_eq!(truncate("abc", 0), "");
}

proptest! {
    #[test]
    fn no_control_survives(raw in "\\PC*|[\\x00-\\x1f\\x7f-\\u{9f}\\u{200b}-\\u{202e}a]*") {
        let clean = SafeText::detail(&raw);
        let visible = |c: char| !c.is_control() && (c == '\u{200d}' || !is_invisible(u32::from(c)));
        let all = clean.as_str().chars().all(visible);
        prop_assert!(all, "{:?}", clean);
    }
}

#[test]
fn each_kind_of_text_has_a_limit_beyond_which_it_is_cut() {
    type Clean = fn(&str) -> SafeText;
    for (clean, limit) in [
        (SafeText::name as Clean, 512),
        (SafeText::file_name, 1_024),
        (SafeText::detail, 2_048),
        (SafeText::caption, 16_384),
    ] {
        let longest = "é".repeat(limit);
        assert_eq!(clean(&longest).as_str(), longest);
        assert_eq!(clean(&format!("{longest}x")).as_str(), format!("{longest}…"));
    }
    assert_eq!(SafeText::new("ab", 0).as_str(), "…");
    assert_eq!(SafeText::new("", 0).as_str(), "");
}

#[test]
fn a_text_knows_whether_it_is_empty_and_how_wide_it_is() {
    for (raw, empty, width) in [("", true, 0), ("a", false, 1), ("猫 a", false, 4), (" ", false, 1)]
    {
        let text = SafeText::name(raw);
        assert_eq!((text.is_empty(), text.width(), text.as_ref()), (empty, width, raw));
    }
    assert_eq!(format!("{:>4}|{:<3}|", SafeText::name("ab"), SafeText::name("c")), "  ab|c  |");
}

/// C1 controls, bidirectional controls, zero-width and invisible characters, separators, tags, private
/// use and noncharacters.
const INVISIBLE: [(u32, u32); 21] = [
    (0x80, 0x9F),
    (0xAD, 0xAD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xE000, 0xF8FF),
    (0xFDD0, 0xFDEF),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0xFFFE, 0xFFFF),
    (0x1_D173, 0x1_D17A),
    (0x1_FFFE, 0x1_FFFF),
    (0xD_FFFE, 0xD_FFFF),
    (0xE_0000, 0x10_FFFF),
];

#[test]
fn characters_that_cannot_be_seen_are_written_as_their_numbers() {
    let listed = |code| INVISIBLE.iter().any(|(first, last)| (*first..=*last).contains(&code));
    for (first, last) in INVISIBLE {
        for code in [first - 1, first, last, last + 1] {
            assert_eq!(is_invisible(code), listed(code), "{code:X}");
        }
    }
    for (raw, shown) in [
        ("\u{1fffe}", "<U+1FFFE>"),
        ("\u{e0041}", "<U+E0041>"),
        ("a\u{ad}b", "a<U+00AD>b"),
        ("\u{0}\u{1f}\u{7f}", "␀␟␡"),
        // Joiners are part of emoji only.
        ("a\u{200d}b", "a<U+200D>b"),
        ("\u{2764}\u{fe0f}", "\u{2764}\u{fe0f}"),
        ("1\u{fe0f}", "1\u{fe0f}"),
    ] {
        assert_eq!(SafeText::name(raw).as_str(), shown, "{raw:?}");
    }
}

#[test]
fn a_character_with_many_parts_takes_at_most_64_bytes() {
    let flag = |tags: usize| format!("\u{1f3f4}\u{200d}{}", "\u{e0067}".repeat(tags));
    let shown = |tags: usize| format!("\u{1f3f4}\u{200d}{}", "<U+E0067>".repeat(tags));
    for (tags, kept) in [(0, 0), (5, 5), (6, 6), (7, 6), (30, 6)] {
        assert_eq!(SafeText::name(&flag(tags)).as_str(), shown(kept), "{tags} tags");
        // Wherever it is in the text.
        let later = format!("{}{}", "x".repeat(100), flag(tags));
        assert!(SafeText::name(&later).as_str().ends_with(&shown(kept)), "{tags} tags");
    }
    assert!(shown(6).len() <= 64);
    let joined = |count: usize| format!("\u{1f469}{}", "\u{fe0f}".repeat(count));
    assert_eq!(SafeText::name(&joined(12)).as_str(), joined(12));
    assert_eq!(SafeText::name(&joined(13)).as_str(), joined(12));
}

#[test]
fn sizes_change_their_unit_at_its_limit() {
    for (bytes, shown) in [
        (0, "0 B"),
        (1_023, "1023 B"),
        (1_024, "1.0 KiB"),
        (1_536, "1.5 KiB"),
        ((1 << 20) - 1, "1024.0 KiB"),
        (1 << 20, "1.0 MiB"),
        ((1 << 30) - 1, "1024.0 MiB"),
        (1 << 30, "1.00 GiB"),
        (5 << 40, "5120.00 GiB"),
    ] {
        assert_eq!(format_bytes(bytes), shown);
    }
}

#[test]
fn thousands_are_separated_and_nouns_agree_with_their_number() {
    for (number, shown) in [
        (0, "0 images"),
        (1, "1 image"),
        (2, "2 images"),
        (999, "999 images"),
        (1_000, "1 000 images"),
        (12_345, "12 345 images"),
        (100_000, "100 000 images"),
        (1_234_567, "1 234 567 images"),
    ] {
        assert_eq!(grouped_with_noun(number, "image", "images"), shown);
        assert_eq!(format!("{} image", group_digits(number)), shown.replace("images", "image"));
    }
    assert_eq!(count_with_noun(0_u64, "entry", "entries"), "0 entries");
}

#[test]
fn durations_have_hours_only_from_the_first_hour_on() {
    for (seconds, shown) in [
        (0, "00:00"),
        (59, "00:59"),
        (60, "01:00"),
        (371, "06:11"),
        (3_599, "59:59"),
        (3_600, "1:00:00"),
        (3_971, "1:06:11"),
        (360_059, "100:00:59"),
    ] {
        assert_eq!(format_duration(Duration::from_secs(seconds)), shown);
    }
}

#[test]
fn a_wait_is_rounded_to_one_unit() {
    for (milliseconds, shown) in [
        (0, "0 s"),
        (29_300, "30 s"),
        (60_000, "60 s"),
        (90_000, "2 min"),
        (300_000, "5 min"),
        (3_599_500, "1 h"),
        (3_600_000, "1 h"),
        (9_000_000, "3 h"),
        (172_800_000, "2 days"),
    ] {
        assert_eq!(format_wait(Duration::from_millis(milliseconds)), shown);
    }
    assert!(format_wait(Duration::MAX).ends_with(" days"));
}

#[test]
fn an_age_is_shown_in_one_unit() {
    for (seconds, shown) in [
        (0, "0 s ago"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (3_599, "59 min ago"),
        (3_600, "1 h ago"),
        (7_199, "1 h ago"),
        (360_000, "4 days ago"),
    ] {
        assert_eq!(format_age(Duration::from_secs(seconds)), shown);
    }
}

#[test]
fn only_the_first_letter_is_capitalized() {
    for (text, capitalized) in [
        ("", ""),
        ("add media", "Add media"),
        ("état", "État"),
        ("ßa", "SSa"),
        ("7 vans", "7 vans"),
    ] {
        assert_eq!(capitalize(text), capitalized);
    }
}

#[test]
fn common_words_for_yes_and_no_are_read() {
    for (words, value) in [
        (["true", "1", "yes", "on", " TRUE ", "Yes"], Some(true)),
        (["false", "0", "no", "off", "FALSE\n", "Off"], Some(false)),
        (["", "y", "n", "2", "truth", "none"], None),
    ] {
        for word in words {
            assert_eq!(parse_boolean(word), value, "{word:?}");
        }
    }
}

#[test]
fn json_keeps_its_value_and_its_lines_when_it_is_made_printable() {
    for (json, printable) in [
        ("{\n  \"a\": \"é猫\"\n}", "{\n  \"a\": \"é猫\"\n}"),
        ("\"\u{9b}2J\"", "\"\\u009b2J\""),
        ("\"\u{202e}gpj\"", "\"\\u202egpj\""),
        ("\"\u{7f}\"", "\"\\u007f\""),
        ("\"\u{e0041}\"", "\"\\udb40\\udc41\""),
        ("\"\t\"", "\"\\u0009\""),
    ] {
        assert_eq!(escape_json(json), printable, "{json:?}");
    }
}

#[test]
fn a_truncated_text_fills_its_width_as_far_as_its_characters_allow() {
    for (text, cells, shown) in [
        ("", 0, ""),
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("abcd", 1, "…"),
        ("abcd", 0, ""),
        ("猫猫猫", 6, "猫猫猫"),
        ("猫猫猫", 5, "猫猫…"),
        ("猫猫猫", 4, "猫…"),
        ("猫猫猫", 3, "猫…"),
        ("猫猫猫", 2, "…"),
        ("e\u{301}abc", 3, "e\u{301}a…"),
    ] {
        assert_eq!(truncate(text, cells), shown, "{text} in {cells}");
    }
}

#[test]
fn a_text_that_is_not_printable_keeps_what_was_received() {
    for raw in ["", "plain", "a\nb", "\u{202e}x", "a\u{1b}[2J"] {
        let text = SafeText::name(raw);
        assert_eq!(text.received(), raw);
        assert_eq!(serde_json::json!(text), raw, "files have the text itself");
        assert!(!text.as_str().contains(char::is_control), "{text}");
        assert_eq!(text.as_str(), text.to_string());
    }
}

#[test]
fn one_apostrophe_is_added_to_what_a_spreadsheet_would_calculate_or_a_reader_would_remove() {
    for (cell, needed) in
        [("=1", true), ("'=1", true), ("-5 C", true), ("-5", false), ("'-5", false), ("'a", false)]
    {
        assert_eq!(needs_apostrophe(cell), needed, "{cell}");
    }
}
