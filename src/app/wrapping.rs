//! Text in lines of a width: shared by the layout, which counts them, and the drawing.

use tessera_model::text::truncate;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Wraps a text to at most `max_lines` lines of `cells` cells.
pub fn wrap_words(
    text: &str,
    cells: usize,
    max_lines: usize,
) -> impl Iterator<Item = String> + use<> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace().flat_map(|word| split_word(word, cells.max(1))) {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].width() + 1 + word.width() > cells {
            lines.push(word);
        } else {
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last].push_str(&word);
        }
    }
    if lines.len() > max_lines {
        let rest = lines.split_off(max_lines.saturating_sub(1)).join(" ");
        lines.extend((max_lines > 0).then(|| truncate(&rest, cells)));
    }
    lines.into_iter().filter(|line| !line.is_empty())
}

/// The lines that a text needs, at least one.
pub fn wrapped_rows(text: &str, cells: u16) -> u16 {
    let lines = wrap_words(text, usize::from(cells), usize::MAX).count();
    u16::try_from(lines).unwrap_or(u16::MAX).max(1)
}

/// The parts of a word, each at most `cells` wide.
pub fn split_word(word: &str, cells: usize) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut used = 0;
    for character in word.chars() {
        let width = character.width().unwrap_or(0);
        if used + width > cells && used > 0 {
            parts.push(String::new());
            used = 0;
        }
        used += width;
        let last = parts.len() - 1;
        parts[last].push(character);
    }
    parts
}

/// The first of these texts that fits, so that no word or number is cut; else nothing.
pub fn first_fitting<T: AsRef<str>>(longest_first: &[T], cells: usize) -> &str {
    let texts = || longest_first.iter().map(AsRef::as_ref);
    texts().find(|text: &&str| text.width() <= cells).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_are_wrapped_and_truncated() {
        let lines: Vec<String> =
            wrap_words("a red delivery van parked under a light", 12, 3).collect();
        assert_eq!(lines, ["a red", "delivery van", "parked unde…"]);
        assert_eq!(wrap_words("", 12, 3).count(), 0);
        assert_eq!(wrap_words("red", 12, 0).count(), 0);
        let lines: Vec<String> = wrap_words("a n02206856_bee.jpg", 8, 3).collect();
        assert_eq!(lines, ["a", "n0220685", "6_bee.jpg"].map(|line| truncate(line, 8)));
        assert_eq!((wrapped_rows("", 8), wrapped_rows("a red van", 5)), (1, 2));
    }

    #[test]
    fn the_longest_form_that_fits_is_shown() {
        let forms = ["4 images, 1 frame", "5 members", "5"];
        assert_eq!(
            [17, 16, 8, 0].map(|cells| first_fitting(&forms, cells)),
            [forms[0], forms[1], forms[2], ""]
        );
    }
}
