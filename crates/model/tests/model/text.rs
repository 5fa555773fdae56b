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
