//! Fuzzy search: every typed word must occur, in any order, in one piece or with letters in
//! between; whole words and prefixes rank before scattered letters.

/// How far `typed` is from `text`: 0 is best, `None` is no match. Ignores case.
pub fn distance(typed: &str, text: &str) -> Option<usize> {
    let text: Vec<char> = text.to_lowercase().chars().collect();
    typed.to_lowercase().split_whitespace().try_fold(0, |sum, word| {
        let word: Vec<char> = word.chars().collect();
        substring_distance(&word, &text)
            .or_else(|| subsequence_distance(&word, &text))
            .map(|badness| sum + badness)
    })
}

/// The best match in one piece: the whole text, its start, the start of a word, anywhere.
fn substring_distance(word: &[char], text: &[char]) -> Option<usize> {
    text.windows(word.len())
        .enumerate()
        .filter(|(_, piece)| *piece == word)
        .map(|(at, _)| match at {
            0 if word.len() == text.len() => 0,
            0 => 1,
            _ if !text[at - 1].is_alphanumeric() => 2,
            _ => 3,
        })
        .min()
}

/// The letters in order with others in between: the more in between, the worse.
fn subsequence_distance(word: &[char], text: &[char]) -> Option<usize> {
    let (mut gaps, mut at, mut begun) = (0, 0, false);
    for letter in word {
        let skipped = text[at..].iter().position(|other| other == letter)?;
        gaps += if begun { skipped } else { 0 };
        begun = true;
        at += skipped + 1;
    }
    Some(4 + gaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_come_before_scattered_letters() {
        let badness = |typed: &str| distance(typed, "Export the dataset");
        assert_eq!(badness(""), Some(0));
        assert_eq!(badness("EXP"), Some(1));
        assert_eq!(badness("data"), Some(2));
        assert_eq!(badness("data exp"), Some(3));
        assert_eq!(badness("set"), Some(3));
        assert!(badness("exds").unwrap() > 3);
        assert_eq!(badness("zebra"), None);
        assert_eq!(distance("ПЛЯЖ", "пляж"), Some(0));
    }
}
