//! The order of a whole result by a property of its files, which is an addition of local deployments.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A property of files by which results are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileSortKey {
    Name,
    Date,
    Bytes,
    Path,
}

impl FileSortKey {
    pub const ALL: [Self; 4] = [Self::Name, Self::Date, Self::Bytes, Self::Path];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Date => "date",
            Self::Bytes => "bytes",
            Self::Path => "path",
        }
    }
}

impl FromStr for FileSortKey {
    type Err = &'static str;

    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|key| key.as_str() == raw);
        found.ok_or("expected name, date, bytes or path")
    }
}

/// An order of clusters by the file of each that comes first. Files without the property come last in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FileOrder {
    pub by: FileSortKey,
    pub reversed: bool,
}

impl FileOrder {
    pub fn all() -> impl Iterator<Item = Self> {
        let both = |by| [false, true].map(|reversed| Self { by, reversed });
        FileSortKey::ALL.into_iter().flat_map(both)
    }

    /// Describes the order for people.
    pub fn description(self) -> &'static str {
        match (self.by, self.reversed) {
            (FileSortKey::Name, false) => "file name, from A to Z",
            (FileSortKey::Name, true) => "file name, from Z to A",
            (FileSortKey::Date, false) => "date, oldest first",
            (FileSortKey::Date, true) => "date, newest first",
            (FileSortKey::Bytes, false) => "file size, smallest first",
            (FileSortKey::Bytes, true) => "file size, largest first",
            (FileSortKey::Path, false) => "path, from A to Z",
            (FileSortKey::Path, true) => "path, from Z to A",
        }
    }
}

/// Writes the order as in a query: the key, after a minus if the order is reversed.
impl fmt::Display for FileOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.reversed { "-" } else { "" };
        write!(f, "{sign}{}", self.by.as_str())
    }
}

impl FromStr for FileOrder {
    type Err = &'static str;

    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        let (key, reversed) = raw.strip_prefix('-').map_or((raw, false), |key| (key, true));
        Ok(Self { by: key.parse()?, reversed })
    }
}

impl From<FileOrder> for String {
    fn from(order: FileOrder) -> Self {
        order.to_string()
    }
}

impl TryFrom<String> for FileOrder {
    type Error = &'static str;

    fn try_from(raw: String) -> Result<Self, Self::Error> {
        raw.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::FileOrder;

    #[test]
    fn orders_are_read_as_they_are_written() {
        for order in FileOrder::all() {
            assert_eq!(order.to_string().parse(), Ok(order));
        }
        for wrong in ["", "-", "size", "--name", "Name"] {
            assert!(wrong.parse::<FileOrder>().is_err(), "{wrong}");
        }
    }
}
