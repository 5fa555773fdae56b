//! What a check of a dataset demands: rules with limits, and parts without leaks between them.

use std::{fmt, str::FromStr};

use crate::{SafeText, Selection, keyword::text_enum, vql::IssueKind};

text_enum! {
    /// What a check finds.
    pub enum Rule:
        /// Returns the ID, which stays the same between versions.
        id,
        /// Returns a sentence about a media item that counts.
        description
    {
        Media = "media", "The dataset has too few media items.";
        Duplicates = "duplicates", "The media item is a near-duplicate of a better one.";
        Blur = "blur", "The media item is blurred.";
        Dark = "dark", "The media item is dark.";
        Bright = "bright", "The media item is overexposed.";
        Outliers = "outliers", "The media item is unlike all others.";
        Mislabels = "mislabels", "The label of the media item is probably wrong.";
        Unreadable = "unreadable", "The picture, video or folder cannot be read.";
        Captions = "captions", "The media item has no caption.";
        Labels = "labels", "The media item has no label.";
        Leaks = "leaks", "The media item, or a near-duplicate of it, is in another part of the dataset, too.";
    }
}

impl Rule {
    /// The rules whose limit the user chooses.
    pub const LIMITED: [Self; 6] =
        [Self::Duplicates, Self::Blur, Self::Dark, Self::Bright, Self::Outliers, Self::Mislabels];

    /// Returns the issue that finds the media items that count. Their IDs are the same.
    pub fn issue(self) -> Option<IssueKind> {
        IssueKind::from_keyword(self.id())
    }
}

/// A number of media items, or a share of all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    Count(u64),
    /// From 0 to 100.
    Percent(f64),
}

impl Limit {
    pub const ZERO: Self = Self::Count(0);

    #[expect(clippy::cast_precision_loss, reason = "there are far fewer media items than 2^52")]
    pub fn allows(self, found: usize, all: usize) -> bool {
        match self {
            Self::Count(limit) => found as u64 <= limit,
            Self::Percent(limit) => {
                // Neither a share such as 1.14 nor its product is exact.
                let most = limit * all as f64 * (1.0 + 4.0 * f64::EPSILON);
                found as f64 * 100.0 <= most
            }
        }
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        let expected = || "expected a number such as 10, or a share such as 1%".to_owned();
        match raw.trim().strip_suffix('%') {
            None => raw.trim().parse().map(Self::Count).map_err(|_| expected()),
            Some(percent) => match percent.trim().parse() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Self::Percent(percent)),
                _ => Err(expected()),
            },
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(limit) => write!(f, "{limit}"),
            Self::Percent(limit) => write!(f, "{limit}%"),
        }
    }
}

/// What a dataset has to meet. A part is named until the media items in it are known.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition<Part = String> {
    /// The dataset has at least this number of media items.
    AtLeast(u64),
    /// At most this number of media items count.
    AtMost(Rule, Limit),
    /// No media item and no near-duplicate is in both of these parts: a folder of the dataset, `tag:NAME` or `selection:NAME`.
    NoLeaks([Part; 2]),
}

/// The result of a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionResult {
    pub rule: Rule,
    pub name: SafeText,
    pub limit: String,
    pub found: usize,
    pub passed: bool,
    /// The media items that count, as far as the service sends their ids.
    pub media: Selection,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_number_or_a_share() {
        let allows = |limit: &str, found, all| limit.parse::<Limit>().unwrap().allows(found, all);
        assert!(allows("3", 3, 10) && !allows("3", 4, 10_000));
        assert!(allows("1%", 10, 1_000) && !allows("1%", 11, 1_000));
        assert!(allows("1.14%", 57, 5_000) && !allows("1.14%", 58, 5_000));
        assert!(allows("0.5 %", 1, 200) && allows("0%", 0, 0));
        for wrong in ["", "-1", "1.5", "101%", "%", "NaN%", "a"] {
            assert!(wrong.parse::<Limit>().is_err(), "{wrong}");
        }
    }
}
