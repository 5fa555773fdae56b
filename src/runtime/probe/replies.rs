//! Reads the replies of a terminal to queries.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalReplies {
    /// Whether the terminal supports kitty graphics, possibly without placeholders.
    pub kitty: bool,
    /// The name and version of the terminal.
    pub version: Option<String>,
    /// The primary attributes, which are the last reply.
    pub attributes: Option<Vec<u16>>,
    /// The cell size in pixels (width, height).
    pub cell: Option<(u16, u16)>,
    /// The largest size of a sixel picture in pixels (width, height).
    pub sixel: Option<(u16, u16)>,
    /// The background color (red, green, blue).
    pub background: Option<[u8; 3]>,
    /// How many columns an ambiguous character fills. Only commands ask for it.
    pub ambiguous_width: Option<u16>,
    /// Whether the terminal knows the keyboard protocol of kitty.
    pub keyboard: bool,
}

impl TerminalReplies {
    /// Returns whether the last reply has come. Only then can the terminal be queried again.
    pub fn has_ended(&self) -> bool {
        self.attributes.is_some()
    }

    /// Reads a reply without its first ESC. Replies to other queries change nothing.
    pub fn read(&mut self, reply: &[u8]) {
        match reply {
            [b'[', b'?', numbers @ .., b'c'] => {
                self.attributes.get_or_insert_with(|| read_numbers(numbers));
            }
            [b'[', b'?', .., b'u'] => self.keyboard = true,
            // The cursor is after the ambiguous character at the beginning of the line.
            [b'[', numbers @ .., b'R'] => {
                if let [_, column @ 2..=3, ..] = *read_numbers(numbers) {
                    self.ambiguous_width.get_or_insert(column - 1);
                }
            }
            [b'[', b'6', b';', numbers @ .., b't'] => {
                if let [height @ 1..=u16::MAX, width @ 1..=u16::MAX] = *read_numbers(numbers) {
                    self.cell.get_or_insert((width, height));
                }
            }
            // The terminal reports its present size and its largest size. The larger one is kept, because a size that
            // the terminal draws now can also be drawn later.
            [b'[', b'?', b'2', b';', b'0', b';', numbers @ .., b'S'] => {
                if let [width @ 1..=u16::MAX, height @ 1..=u16::MAX] = *read_numbers(numbers) {
                    let other = self.sixel.unwrap_or_default();
                    self.sixel = Some((width.max(other.0), height.max(other.1)));
                }
            }
            [b'_', b'G', b'i', b'=', b'3', b'1', ..] => self.kitty |= reply.ends_with(b";OK"),
            [b'P', b'>', b'|', version @ ..] => {
                let version = String::from_utf8_lossy(version).into_owned();
                self.version.get_or_insert(version);
            }
            _ => {
                let color = reply.strip_prefix(b"]11;rgb:").and_then(read_color);
                self.background = self.background.or(color);
            }
        }
    }
}

/// Returns whether a reply contains the primary attributes.
pub(super) fn is_attributes(reply: &[u8]) -> bool {
    reply.starts_with(b"[?") && reply.ends_with(b"c")
}

/// Parses numbers that are separated by semicolons. Invalid numbers are skipped.
fn read_numbers(bytes: &[u8]) -> Vec<u16> {
    String::from_utf8_lossy(bytes).split(';').filter_map(|number| number.parse().ok()).collect()
}

/// Parses an X11 color: three hexadecimal numbers of one to four digits between slashes.
fn read_color(bytes: &[u8]) -> Option<[u8; 3]> {
    let text = str::from_utf8(bytes).ok()?;
    let part = |digits: &str| {
        let value = u32::from_str_radix(digits, 16).ok()?;
        let most = 16_u32.checked_pow(u32::try_from(digits.len()).ok()?)? - 1;
        u8::try_from(value * 255 / most.max(1)).ok()
    };
    let parts: Option<Vec<u8>> = text.split('/').map(part).collect();
    parts?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn replies(all: &[&str]) -> TerminalReplies {
        let mut replies = TerminalReplies::default();
        for reply in all {
            replies.read(reply.as_bytes());
        }
        replies
    }

    #[test]
    fn the_first_reply_of_each_kind_counts() {
        let kitty = ["_Gi=31;OK", "P>|kitty(0.36.4)", "[6;20;10t", "[?0u", "[?62;c"];
        let once = replies(&kitty);
        assert!(once.kitty && once.keyboard);
        assert_eq!(once.version.as_deref(), Some("kitty(0.36.4)"));
        assert_eq!((once.cell, once.attributes.as_deref()), (Some((10, 20)), Some(&[62][..])));
        let again = replies(&[&kitty[..], &["P>|other", "[6;1;1t", "[?4c"]].concat());
        assert_eq!(again, once);
    }

    #[test]
    fn hostile_replies_are_ignored() {
        let replies = replies(&["_Gi=31;ENOENT", "[6;0;0t", "[?99999999;4c", "]11;rgb:", "", "["]);
        assert!(!replies.kitty);
        assert_eq!((replies.cell, replies.attributes), (None, Some(vec![4])));
    }

    #[test]
    fn background_colors_of_any_depth_are_read() {
        for (reply, color) in [
            ("]11;rgb:1e1e/1e1e/2e2e", Some([0x1E, 0x1E, 0x2E])),
            ("]11;rgb:ff/ff/f0", Some([255, 255, 240])),
            ("]11;rgb:f/0/f", Some([255, 0, 255])),
            ("]11;rgb:/0/0", None),
            ("]11;rgb:123456789abc/0/0", None),
            ("]11;rgb:00/00", None),
            ("]11;?", None),
        ] {
            assert_eq!(replies(&[reply]).background, color, "{reply}");
        }
    }

    #[test]
    fn the_larger_size_of_sixels_counts() {
        for (all, size) in [
            (&["[?2;0;800;600S", "[?2;0;1000;1000S"][..], Some((1000, 1000))),
            (&["[?2;0;10000;10000S", "[?2;0;800;600S"], Some((10_000, 10_000))),
            (&["[?2;3S", "[?2;0;0;0S", "[?2;0;99999;5S", "[?1;0;256S"], None),
        ] {
            assert_eq!(replies(all).sixel, size, "{all:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut replies = TerminalReplies::default();
            replies.read(&bytes);
            prop_assert!(replies.version.is_none_or(|version| version.chars().count() <= bytes.len()));
        }
    }
}
