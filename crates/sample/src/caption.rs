//! Numbers, lists and articles for captions.

/// "no", "a", "two" ... "twelve", then "many"; `article` is that of the noun.
pub fn number(n: usize, article: &'static str) -> &'static str {
    const WORDS: [&str; 13] = [
        "no", "a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    match n {
        1 => article,
        _ => WORDS.get(n).copied().unwrap_or("many"),
    }
}

/// "red", "red and blue", "red, blue and green".
pub fn join(items: &[&str]) -> String {
    match items {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [firsts @ .., last] => format!("{} and {last}", firsts.join(", ")),
    }
}

pub fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

pub fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
