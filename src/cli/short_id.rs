//! Short IDs: the beginning of a UUID, as tables in a terminal show it and commands accept it.

use std::{collections::BTreeSet, fmt, str::FromStr};

/// Characters of a short ID, unless IDs of the same table have more in common.
const MIN_LENGTH: usize = 8;

/// The beginning of an ID, or a whole one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdPrefix(String);

impl IdPrefix {
    pub fn matches(&self, id: impl fmt::Display) -> bool {
        id.to_string().starts_with(&self.0)
    }
}

impl fmt::Display for IdPrefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for IdPrefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.to_ascii_lowercase();
        let is_id = text.chars().all(|character| character.is_ascii_hexdigit() || character == '-');
        if is_id && text.len() >= MIN_LENGTH {
            Ok(Self(text))
        } else {
            Err(format!("expected an ID, or at least the first {MIN_LENGTH} characters of one"))
        }
    }
}

/// With how many characters these IDs differ, at least [`MIN_LENGTH`].
pub fn distinct_length<'a>(ids: impl IntoIterator<Item = &'a str>) -> usize {
    let ids: BTreeSet<&str> = ids.into_iter().collect();
    // Among sorted texts, neighbors have the longest common beginnings.
    let common = |(one, other): (&&str, &&str)| {
        one.bytes().zip(other.bytes()).take_while(|(left, right)| left == right).count()
    };
    let longest = ids.iter().zip(ids.iter().skip(1)).map(common).max();
    longest.map_or(MIN_LENGTH, |longest| MIN_LENGTH.max(longest + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_id_is_as_long_as_it_has_to_be() {
        let ids = ["0a1b2c3d-0000", "1a1b2c3d-0000", "0a1b2c3d-0000"];
        assert_eq!(distinct_length(ids), 8);
        assert_eq!(distinct_length(["0a1b2c3d-0000", "0a1b2c3d-0100"]), 11);
        assert_eq!(distinct_length([]), 8);
    }

    #[test]
    fn the_beginning_of_an_id_is_accepted() {
        let prefix: IdPrefix = "0A1B2C3D-00".parse().unwrap();
        assert!(prefix.matches("0a1b2c3d-0000") && !prefix.matches("0a1b2c3d-0100"));
        assert!(
            "0a1b2c3".parse::<IdPrefix>().is_err() && "my-dataset".parse::<IdPrefix>().is_err()
        );
    }
}
