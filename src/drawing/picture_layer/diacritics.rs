//! The diacritics that encode the row and column of a kitty placeholder cell: the 297 of the kitty
//! graphics protocol, in order.

/// Runs of diacritics: first code point and length.
#[rustfmt::skip]
const DIACRITIC_RUNS: [(u32, u32); 86] = [
    (0x0305, 1), (0x030D, 2), (0x0310, 1), (0x0312, 1), (0x033D, 3), (0x0346, 1), (0x034A, 3),
    (0x0350, 3), (0x0357, 1), (0x035B, 1), (0x0363, 13), (0x0483, 5), (0x0592, 4), (0x0597, 3),
    (0x059C, 6), (0x05A8, 2), (0x05AB, 2), (0x05AF, 1), (0x05C4, 1), (0x0610, 8), (0x0657, 5),
    (0x065D, 2), (0x06D6, 7), (0x06DF, 4), (0x06E4, 1), (0x06E7, 2), (0x06EB, 2), (0x0730, 1),
    (0x0732, 2), (0x0735, 2), (0x073A, 1), (0x073D, 1), (0x073F, 3), (0x0743, 1), (0x0745, 1),
    (0x0747, 1), (0x0749, 2), (0x07EB, 7), (0x07F3, 1), (0x0816, 4), (0x081B, 9), (0x0825, 3),
    (0x0829, 5), (0x0951, 1), (0x0953, 2), (0x0F82, 2), (0x0F86, 2), (0x135D, 3), (0x17DD, 1),
    (0x193A, 1), (0x1A17, 1), (0x1A75, 8), (0x1B6B, 1), (0x1B6D, 7), (0x1CD0, 3), (0x1CDA, 2),
    (0x1CE0, 1), (0x1DC0, 2), (0x1DC3, 7), (0x1DCB, 2), (0x1DD1, 22), (0x1DFE, 1), (0x20D0, 2),
    (0x20D4, 4), (0x20DB, 2), (0x20E1, 1), (0x20E7, 1), (0x20E9, 1), (0x20F0, 1), (0x2CEF, 3),
    (0x2DE0, 32), (0xA66F, 1), (0xA67C, 2), (0xA6F0, 2), (0xA8E0, 18), (0xAAB0, 1), (0xAAB2, 2),
    (0xAAB7, 2), (0xAABE, 2), (0xAAC1, 1), (0xFE20, 7), (0x10A0F, 1), (0x10A38, 1), (0x1D185, 5),
    (0x1D1AA, 4), (0x1D242, 3),
];

const COUNT: usize = 297;

const DIACRITICS: [char; COUNT] = expanded();

/// The diacritic of a row or column; `None` beyond the 297th.
pub fn diacritic(index: u16) -> Option<char> {
    DIACRITICS.get(usize::from(index)).copied()
}

const fn expanded() -> [char; COUNT] {
    let mut diacritics = ['\0'; COUNT];
    let (mut run, mut at) = (0, 0);
    while run < DIACRITIC_RUNS.len() {
        let (first, length) = DIACRITIC_RUNS[run];
        let mut index = 0;
        while index < length {
            if let Some(diacritic) = char::from_u32(first + index) {
                diacritics[at] = diacritic;
            }
            index += 1;
            at += 1;
        }
        run += 1;
    }
    diacritics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_are_those_of_the_protocol() {
        let diacritics: Vec<char> = (0..).map_while(diacritic).collect();
        assert_eq!(diacritics.len(), 297);
        assert!(diacritics.is_sorted());
        assert_eq!(
            (diacritics[0], diacritics[1], diacritics[296]),
            ('\u{305}', '\u{30D}', '\u{1D244}')
        );
        assert_eq!(diacritic(297), None);
    }
}
