//! Fuzzy search. Every typed word must occur, in any order. Whole words and prefixes rank first,
//! then text within words, then the beginnings of several words.

/// Returns how far `typed` is from `text`. 0 is the best match, and `None` is no match. Case is
/// ignored.
pub fn distance(typed: &str, text: &str) -> Option<usize> {
    sum_of_words(typed, text, |word, text| {
        in_one_piece(word, text).or_else(|| initials_distance(word, text))
    })
}

/// Returns how far `typed` is from `text` if each word must occur in one piece.
pub fn substring_distance(typed: &str, text: &str) -> Option<usize> {
    sum_of_words(typed, text, in_one_piece)
}

fn sum_of_words(
    typed: &str,
    text: &str,
    distance: impl Fn(&[char], &[char]) -> Option<usize>,
) -> Option<usize> {
    let text: Vec<char> = text.to_lowercase().chars().collect();
    typed.to_lowercase().split_whitespace().try_fold(0, |sum, word| {
        let word: Vec<char> = word.chars().collect();
        distance(&word, &text).map(|score| sum + score)
    })
}

/// Returns the best match in one piece. The whole text is best, then its start, the start of a
/// word, and any other position.
fn in_one_piece(word: &[char], text: &[char]) -> Option<usize> {
    text.windows(word.len())
        .enumerate()
        .filter(|(_, piece)| *piece == word)
        .map(|(at, _)| match at {
            0 if word.len() == text.len() => 0,
            0 => 1,
            _ if is_word_start(text, at) => 2,
            _ => 3,
        })
        .min()
}

/// Matches the beginnings of several words in order, such as `exda` for `export the dataset`. More
/// words give a larger distance.
fn initials_distance(word: &[char], text: &[char]) -> Option<usize> {
    let starts = (0..text.len()).filter(|at| is_word_start(text, *at));
    let common = |at: usize| word.iter().zip(&text[at..]).take_while(|(a, b)| a == b).count();
    starts
        .filter_map(|at| match (common(at), word.len()) {
            (0, _) => None,
            (all, length) if all == length => Some(4),
            // The longest beginning is tried first.
            (longest, _) => (1..=longest).rev().find_map(|taken| {
                let rest = &text[at + taken..];
                let gap = rest.iter().position(|c| !c.is_alphanumeric())?;
                initials_distance(&word[taken..], &rest[gap..]).map(|score| score + 1)
            }),
        })
        .min()
}

fn is_word_start(text: &[char], at: usize) -> bool {
    text[at].is_alphanumeric() && (at == 0 || !text[at - 1].is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_come_before_parts_and_beginnings() {
        let score = |typed: &str| distance(typed, "Export the dataset");
        assert_eq!(score(""), Some(0));
        assert_eq!(score("EXP"), Some(1));
        assert_eq!(score("data"), Some(2));
        assert_eq!(score("data exp"), Some(3));
        assert_eq!(score("set"), Some(3));
        assert_eq!(score("exda"), Some(5));
        assert_eq!(score("etd"), Some(6));
        assert_eq!(score("zebra"), None);
        assert_eq!(distance("ПЛЯЖ", "пляж"), Some(0));
    }

    #[test]
    fn letters_scattered_within_words_do_not_match() {
        assert_eq!(distance("exds", "Export the dataset"), None);
        assert_eq!(distance("tag", "Go to the first page"), None);
        assert_eq!(substring_distance("etd", "Export the dataset"), None);
        assert_eq!(substring_distance("the data", "Export the dataset"), Some(4));
    }
}
