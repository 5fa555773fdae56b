//! Small words for captions.
//! Scenes build their sentences from these, so that numbers and articles read naturally.

/// "no", "a", "two" ... "twelve", then "many"; `a` is the article of the noun.
pub fn count(n: usize, a: &'static str) -> &'static str {
    const WORDS: [&str; 13] = [
        "no", "a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    match n {
        1 => a,
        _ => WORDS.get(n).copied().unwrap_or("many"),
    }
}

/// "a red", "a red and a blue", "a red, a blue and a green".
pub fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [firsts @ .., last] => format!("{} and {last}", firsts.join(", ")),
    }
}

/// "a" or "an", as the word asks for.
pub fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// The sentence with a capital first letter.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
