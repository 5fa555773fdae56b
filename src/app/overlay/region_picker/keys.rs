//! The keys and presets of the region picker in rows. None of them is cut: where rows are missing, the least
//! important keys are.

use tessera_model::Region;
use unicode_width::UnicodeWidthStr;

/// A key, and what it does.
pub type KeyHint = (String, &'static str);

/// Keys with their effects, and their ranks: those with the highest rank are left out first.
const REGION_KEYS: [(&str, &str, u8); 5] = [
    ("hjkl", "move", 3),
    ("HJKL", "bottom right corner", 9),
    ("Alt-hjkl", "top left corner", 10),
    (", .", "step", 8),
    ("mouse", "drag", 11),
];
const OTHER_KEYS: [(&str, &str, u8); 7] = [
    ("Enter", "search", 1),
    ("w", "whole", 6),
    ("1-9", "presets", 4),
    ("z", "zoom in", 7),
    ("Tab", "numbers", 2),
    ("u", "undo", 5),
    ("Esc", "close", 0),
];
const ZOOM_KEY: &str = "z";

/// As many keys as fit into the rows; what is important, and how to leave, always.
pub fn key_rows(zoomed: bool, width: u16, max_rows: u16) -> Vec<Vec<KeyHint>> {
    let groups = [&REGION_KEYS[..], &OTHER_KEYS[..]];
    let hint = |(key, effect, _): &(&'static str, &'static str, u8)| {
        let effect = if zoomed && *key == ZOOM_KEY { "zoom out" } else { *effect };
        ((*key).to_owned(), effect)
    };
    let rows = groups.map(|keys| keys.iter().map(hint).collect::<Vec<_>>());
    if max_rows > 1 && rows.iter().all(|row| cells_of(row) <= usize::from(width)) {
        return rows.to_vec();
    }
    let keys = groups.concat();
    let with_rank = |most: u8| {
        let keys = keys.iter().filter(|(.., rank)| *rank <= most).map(hint);
        packed(keys.collect(), width)
    };
    let ranks = (0..=u8::try_from(keys.len()).unwrap_or(u8::MAX)).rev();
    let fitting = ranks.map(with_rank).find(|rows| rows.len() <= usize::from(max_rows));
    fitting.unwrap_or_else(|| with_rank(0))
}

/// The presets side by side.
pub fn preset_rows(width: u16) -> Vec<Vec<KeyHint>> {
    let presets = (1..).zip(Region::PRESETS);
    packed(presets.map(|(number, (name, _))| (number.to_string(), name)).collect(), width)
}

/// The cells of keys in a row, with a space before and behind each of their parts.
fn cells_of(row: &[KeyHint]) -> usize {
    row.iter().map(|(key, effect)| key.width() + effect.width() + 3).sum()
}

/// Fills rows with whole keys.
fn packed(keys: Vec<KeyHint>, width: u16) -> Vec<Vec<KeyHint>> {
    let mut rows: Vec<Vec<KeyHint>> = Vec::new();
    for key in keys {
        let one = cells_of(std::slice::from_ref(&key));
        match rows.last_mut() {
            Some(row) if cells_of(row) + one <= usize::from(width) => row.push(key),
            _ => rows.push(vec![key]),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_important_keys_remain_whole() {
        let text = |rows: Vec<Vec<KeyHint>>| -> Vec<String> {
            let row = |row: Vec<KeyHint>| {
                row.iter().map(|(key, effect)| format!("{key} {effect}")).collect::<Vec<_>>()
            };
            rows.into_iter().map(|keys| row(keys).join(", ")).collect()
        };
        assert_eq!(key_rows(false, 100, 2).len(), 2);
        assert_eq!(key_rows(true, 48, 9).concat().len(), REGION_KEYS.len() + OTHER_KEYS.len());
        assert_eq!(text(key_rows(false, 28, 1)), ["Enter search, Esc close"]);
        assert_eq!(text(key_rows(false, 48, 1)), ["Enter search, Tab numbers, Esc close"]);
        for (width, rows) in [(28, 1), (28, 3), (48, 4), (78, 3)] {
            let all = key_rows(false, width, rows);
            assert!(all.len() <= usize::from(rows));
            assert!(all.iter().all(|row| cells_of(row) <= usize::from(width)), "{all:?}");
        }
    }
}
