//! More than 200 texts that control terminals, are invisible, or have no defined width.

/// All hostile texts.
pub fn corpus() -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    // C0, DEL and C1 characters.
    all.extend((0u8..0x20).chain(0x7F..=0x9F).map(|code| char::from(code).to_string()));
    all.extend(control_sequences());
    all.extend(strings());
    all.extend(UNSEEN.iter().map(|&code| char::from_u32(code).unwrap().to_string()));
    all.extend(clusters());
    all.extend(NOT_UTF8.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()));
    all
}

/// Bidirectional, zero-width, tag, separator and private characters, and non-characters.
const UNSEEN: &[u32] = &[
    0x061C, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069,
    0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x200C, 0x200D, 0x2060, 0x2061,
    0x2064, 0x206A, 0x206F, 0x3164, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFA, 0xFFFB, 0x2028, 0x2029, 0xE000,
    0xF8FF, 0xFDD0, 0xFDEF, 0xFFFE, 0xFFFF, 0x1FFFE, 0xE0001, 0xE0020, 0xE0041, 0xE007F, 0xE0100,
    0xF0000, 0x10_FFFF, 0x1D173,
];

/// Overlong forms, surrogates, truncated and stray bytes, which become replacement characters.
const NOT_UTF8: &[&[u8]] = &[
    b"\xC0\x9B[2J",
    b"\xE0\x80\x9B[2J",
    b"\xED\xA0\x80\xED\xB0\x80",
    b"\xF8\x88\x80\x80\x80",
    b"\x9B2J",
    b"\x1B\xC2",
];

fn control_sequences() -> Vec<String> {
    let bodies = [
        "2J",
        "3J",
        "K",
        "H",
        "1;1H",
        "99999;99999H",
        "10A",
        "10B",
        "10C",
        "10D",
        "s",
        "u",
        "L",
        "M",
        "P",
        "@",
        "X",
        "S",
        "T",
        "r",
        "1;5r",
        "0m",
        "7m",
        "38;2;1;2;3m",
        "?1049h",
        "?1049l",
        "?25l",
        "?1000h",
        "?2004l",
        "?2026h",
        "6n",
        "c",
        ">q",
        "21t",
        "8;1;1t",
        "20t",
        "!p",
        "=1u",
        ">1u",
        "4h",
        "12l",
        "0 q",
    ];
    let eight_bit = ["2J", "31m", "6n"].map(|body| format!("\u{9B}{body}"));
    bodies.iter().map(|body| format!("\x1B[{body}")).chain(eight_bit).collect()
}

/// Returns OSC, DCS, APC, PM and SOS strings, terminated by a bell, by ST, by 8-bit ST, or
/// unterminated.
fn strings() -> Vec<String> {
    let mut all = Vec::new();
    for body in [
        "0;title",
        "2;title",
        "4;1;rgb:ff/00/00",
        "7;file:///etc",
        "8;;https://evil.example",
        "9;boo",
        "9;4;1;50",
        "10;?",
        "11;#ff0000",
        "50;font",
        "52;c;ZXZpbA==",
        "52;c;?",
        "104",
        "133;A",
        "633;P",
        "777;notify;a;b",
        "1337;File=inline=1:AAAA",
        "1337;SetUserVar=a=Yg==",
    ] {
        all.push(format!("\x1B]{body}\x07"));
        all.push(format!("\x1B]{body}\x1B\\"));
    }
    for body in
        ["Pq#0;2;0;0;0~", "P$qm", "P+q544e", "Ptmux;\x1B\x1B[2J", "_Ga=T,f=24;AAAA", "^pm", "Xsos"]
    {
        all.push(format!("\x1B{body}\x1B\\"));
        all.push(format!("\x1B{body}"));
    }
    all.push("\u{9D}0;title\u{9C}".to_owned());
    all.push("\u{90}q~\u{9C}".to_owned());
    all.push("\u{9F}Ga=T;AAAA\u{9C}".to_owned());
    all.extend(
        ["\x1Bc", "\x1B7", "\x1B8", "\x1BM", "\x1B#8", "\x1B(0", "\x1B%@", "\x1B="].map(Into::into),
    );
    all
}

/// Returns grapheme clusters with an unclear width.
fn clusters() -> Vec<String> {
    vec![
        format!("e{}", "\u{301}".repeat(500)),
        format!("o{}", "\u{20DD}".repeat(50)),
        "\u{301}\u{302}\u{303}".to_owned(),
        "ก็็็็็็็็็็็็".to_owned(),
        "\u{1100}\u{1161}\u{11A8}".repeat(20),
        "👩\u{200D}👩\u{200D}👧\u{200D}👦".repeat(9),
        "👍🏽👍🏿".repeat(9),
        "🇩🇪🇫🇷🇦".repeat(9),
        "☺\u{FE0F}☺\u{FE0E}".repeat(9),
        "a\u{FE0F}\u{20E3}".to_owned(),
        "﷽".repeat(40),
        "猫".repeat(200),
        "ｗｉｄｅ".repeat(40),
        "W".repeat(20_000),
        "\t".repeat(300),
        "\n".repeat(300),
        "אבג".repeat(30),
        "\u{0600}\u{06DD}".repeat(5),
        "नि".repeat(30),
        "𒐫𒈙⸻".repeat(5),
    ]
}
