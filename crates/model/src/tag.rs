//! Tags and ratings that users give to media items: their names, their colors, and what a change makes of the tags of
//! an item. Tags also come from sidecars, and both kinds are shown and searched as one.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    SafeText, Search, SelectionItem, TagChangeId, TagId, composed, keyword::keyword_enum,
    text::grouped_with_noun,
};

/// The tag of a media item that is kept.
pub const PICKED: &str = "picked";
/// The tag of a media item that is omitted. No item is both picked and rejected.
pub const REJECTED: &str = "rejected";

/// Returns the tag that no item has together with this one.
pub fn opposite(tag: &str) -> Option<&'static str> {
    match tag {
        PICKED => Some(REJECTED),
        REJECTED => Some(PICKED),
        _ => None,
    }
}

/// The highest rating. 0 is no rating.
pub const MAX_RATING: u8 = 5;
/// The maximum number of characters of a name.
pub const MAX_TAG_CHARS: usize = 100;

/// Returns the form in which the name of a tag is stored, or `None` if the text is not a name.
pub fn tag_name(text: &str) -> Option<String> {
    let name = composed(text.trim());
    let is_name = !name.is_empty()
        && name.chars().count() <= MAX_TAG_CHARS
        && !name.contains(char::is_control);
    is_name.then(|| name.into_owned())
}

keyword_enum!(
    /// The color of a tag. A terminal shows its own shade of each color.
    TagColor {
        Red = "red",
        Yellow = "yellow",
        Green = "green",
        Cyan = "cyan",
        Blue = "blue",
        Magenta = "magenta",
    }
);

impl TagColor {
    /// Returns the color of a new tag of a dataset that has `existing` tags.
    pub fn of_new(name: &str, existing: usize) -> Self {
        match name {
            PICKED => Self::Green,
            REJECTED => Self::Red,
            _ => Self::ALL[existing % Self::ALL.len()],
        }
    }
}

impl fmt::Display for TagColor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TagColor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::from_keyword(text).ok_or_else(|| {
            format!("unknown color; expected one of {}", Self::ALL.map(Self::as_str).join(", "))
        })
    }
}

/// What a user has given to a media item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UserTags {
    pub tags: Vec<String>,
    /// 1 to 5, or 0 without a rating.
    pub rating: u8,
}

/// A change of the tags of media items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagEdit {
    pub add: Vec<String>,
    pub remove: Vec<String>,
    pub rating: Option<u8>,
    /// Whether the change fails if an added tag does not exist. Otherwise, the tag is created.
    pub only_existing: bool,
}

impl TagEdit {
    /// Creates a change. Fails if it changes nothing, or contains what is not a name or a rating.
    pub fn new(
        add: impl IntoIterator<Item = impl AsRef<str>>,
        remove: impl IntoIterator<Item = impl AsRef<str>>,
        rating: Option<u8>,
    ) -> Result<Self, String> {
        fn names(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Vec<String>, String> {
            let name = |text: &str| {
                tag_name(text).ok_or_else(|| {
                    format!("the name of a tag has 1 to {MAX_TAG_CHARS} printable characters")
                })
            };
            texts.into_iter().map(|text| name(text.as_ref())).collect()
        }
        let edit = Self { add: names(add)?, remove: names(remove)?, rating, only_existing: false };
        if edit == Self::default() {
            return Err("name a tag to add or to remove, or a rating".to_owned());
        }
        if edit.add.iter().any(|name| edit.remove.contains(name)) {
            return Err("a tag cannot be added and removed at once".to_owned());
        }
        if [PICKED, REJECTED].iter().all(|name| edit.add.iter().any(|added| added == name)) {
            return Err(format!("an item cannot be {PICKED} and {REJECTED} at once"));
        }
        if rating.is_some_and(|rating| rating > MAX_RATING) {
            return Err(format!("a rating is a number from 0 to {MAX_RATING}"));
        }
        Ok(edit)
    }

    /// Returns what the change makes of the tags of an item, which has `from_sidecars` from the files of its dataset.
    pub fn apply(&self, before: &UserTags, from_sidecars: &[String]) -> UserTags {
        let mut tags = before.tags.clone();
        let is_excluded = |tag: &str| self.add.iter().any(|added| opposite(added) == Some(tag));
        tags.retain(|tag| !self.remove.contains(tag) && !is_excluded(tag));
        for name in &self.add {
            if !tags.contains(name) && !from_sidecars.contains(name) {
                tags.push(name.clone());
            }
        }
        UserTags { tags, rating: self.rating.unwrap_or(before.rating) }
    }
}

/// The media items whose tags are changed.
#[derive(Clone, Debug, PartialEq)]
pub enum TagTarget {
    Selection(Vec<SelectionItem>),
    /// Files by their paths, which are absolute or relative to the folder of the dataset.
    Files(Vec<String>),
    /// Everything that a search finds.
    Search(Box<Search>),
}

/// A change of a tag of a dataset, apart from the media items that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagDefinitionChange {
    /// Creates a tag, or changes its color.
    Create(Option<TagColor>),
    Rename(String),
    Delete,
}

/// A tag of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetTag {
    pub id: TagId,
    pub name: SafeText,
    /// The color, or `None` for a tag that only sidecars have.
    pub color: Option<TagColor>,
    /// The number of images and frames, and of objects, that have the tag.
    pub count: u64,
}

/// The tags of a dataset, and where they are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatasetTags {
    /// The tags of users in the order of their creation, followed by those that only sidecars have.
    pub tags: Vec<DatasetTag>,
    /// The description of the last change that can be undone.
    pub last_change: Option<SafeText>,
    /// Problems of the file with the tags. Without a problem, it is kept beside the dataset.
    pub file_problems: Vec<SafeText>,
}

/// The result of a change of tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagChange {
    /// The change, by which it can be undone. `None` if nothing was changed.
    pub id: Option<TagChangeId>,
    /// The number of media items that were changed.
    pub changed: u64,
    /// The number of media items that are not as wanted: sidecars give them a tag that was to be removed, or an undone
    /// change was followed by another one, or they are missing.
    pub kept: u64,
    /// The description of the change that was undone.
    pub undone: Option<SafeText>,
    pub file_problems: Vec<SafeText>,
}

impl TagChange {
    /// Says which media items are not as wanted, and why, if there are any.
    pub fn kept_text(&self) -> Option<String> {
        let media = grouped_with_noun(self.kept, "media item keeps its", "media items keep their");
        let reason = "they were changed again, come from a sidecar, or the file is missing";
        (self.kept > 0).then(|| format!("{media} tags, because {reason}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(names: &[&str], rating: u8) -> UserTags {
        UserTags { tags: names.iter().map(|name| (*name).to_owned()).collect(), rating }
    }

    #[test]
    fn a_pick_replaces_a_rejection_and_the_other_way_around() {
        let pick = TagEdit::new([PICKED], [""; 0], None).unwrap();
        assert_eq!(pick.apply(&tags(&["a", REJECTED], 3), &[]), tags(&["a", PICKED], 3));
        let reject = TagEdit::new([REJECTED], [""; 0], Some(0)).unwrap();
        assert_eq!(reject.apply(&tags(&[PICKED], 3), &[]), tags(&[REJECTED], 0));
    }

    #[test]
    fn a_tag_of_a_sidecar_is_not_added_again() {
        let edit = TagEdit::new(["night", "wet"], ["old"], None).unwrap();
        let after = edit.apply(&tags(&["old"], 0), &["night".to_owned()]);
        assert_eq!(after, tags(&["wet"], 0));
    }

    #[test]
    fn invalid_changes_are_refused() {
        let none = [""; 0];
        assert!(TagEdit::new(none, none, None).is_err());
        assert!(TagEdit::new(["a"], ["a "], None).is_err());
        assert!(TagEdit::new([PICKED, REJECTED], none, None).is_err());
        assert!(TagEdit::new(none, none, Some(6)).is_err());
        for name in ["", "  ", "a\u{1b}[2J", &"x".repeat(MAX_TAG_CHARS + 1)] {
            assert!(TagEdit::new([name], none, None).is_err(), "{name:?}");
        }
        assert_eq!(tag_name(" Cafe\u{301} ").as_deref(), Some("Caf\u{e9}"));
    }
}
