//! A search: it browses a dataset or ranks it by an anchor or a caption, and filters the result.

use std::{collections::HashSet, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{
    Cluster, ClusterId, DatasetId, Filter, Fraction, MediaId, Operation, QueryText, ScoreScale,
    keyword::keyword_enum,
};

keyword_enum!(
    /// What a search finds.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "UPPERCASE")]
    EntityType {
        #[default]
        Images = "IMAGES",
        Objects = "OBJECTS",
    }
);

impl EntityType {
    pub fn toggled(self) -> Self {
        match self {
            Self::Images => Self::Objects,
            Self::Objects => Self::Images,
        }
    }
}

impl FromStr for EntityType {
    type Err = &'static str;

    /// Parses the keyword in any case, in the plural or the singular.
    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        let keyword = raw.trim().to_uppercase();
        let singular = || Self::from_keyword(&format!("{keyword}S"));
        Self::from_keyword(&keyword).or_else(singular).ok_or("expected images or objects")
    }
}

keyword_enum!(
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "UPPERCASE")]
    AnchorKind {
        /// An uploaded query image.
        Upload = "UPLOAD",
        Media = "MEDIA",
    }
);

impl FromStr for AnchorKind {
    type Err = &'static str;

    /// Parses the keyword in any case.
    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        Self::from_keyword(&raw.trim().to_uppercase()).ok_or("expected UPLOAD or MEDIA")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Anchor {
    #[serde(rename = "anchor_media_id")]
    pub media: MediaId,
    #[serde(rename = "anchor_type")]
    pub kind: AnchorKind,
}

/// How coarse the clusters are, from 0 (finest) to 4. The wire calls this number `threshold`; the screen avoids that
/// word, because it has three meanings there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Granularity(u8);

impl Granularity {
    pub const LEVELS: usize = 5;
    pub const FINEST: Self = Self(0);
    /// The default is coarse enough that a page shows groups.
    pub const DEFAULT: Self = Self(2);

    pub fn new(level: u8) -> Option<Self> {
        (usize::from(level) < Self::LEVELS).then_some(Self(level))
    }

    pub fn level(self) -> u8 {
        self.0
    }

    pub fn finer(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    pub fn coarser(self) -> Self {
        Self::new(self.0 + 1).unwrap_or(self)
    }
}

impl Default for Granularity {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl TryFrom<u8> for Granularity {
    type Error = &'static str;

    fn try_from(level: u8) -> Result<Self, Self::Error> {
        Self::new(level).ok_or("`granularity` must be 0 to 4")
    }
}

impl From<Granularity> for u8 {
    fn from(granularity: Granularity) -> Self {
        granularity.0
    }
}

impl FromStr for Granularity {
    type Err = &'static str;

    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        let level = raw.trim().parse().ok().and_then(Self::new);
        level.ok_or("expected 0 (finest) to 4 (coarsest)")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Query {
    /// No query: the largest clusters come first.
    Browse,
    Similar(Anchor),
    /// Ranks by the meaning of captions.
    Caption {
        #[serde(rename = "caption")]
        text: QueryText,
        /// Keeps only scores below this bound, which the wire calls `textual_similarity_threshold`.
        #[serde(rename = "textual_similarity_threshold")]
        max_score: Option<Fraction>,
    },
}

impl Query {
    pub fn score_scale(&self) -> ScoreScale {
        match self {
            Self::Caption { .. } => ScoreScale::Caption,
            Self::Browse | Self::Similar(_) => ScoreScale::Visual,
        }
    }
}

/// One page of a search. Equal searches have equal results until the dataset changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Search {
    pub dataset: DatasetId,
    pub query: Query,
    /// The filters are combined with AND.
    pub filters: Vec<Filter>,
    pub entity: EntityType,
    /// For an uploaded anchor, this must be the granularity with which the anchor was registered.
    pub granularity: Granularity,
    /// The order of the whole result, which only local deployments know. `None` leaves the order to the service.
    pub order: Option<FileOrder>,
    /// The page number, counted from 0.
    pub page: u32,
}

impl Search {
    pub fn browse(dataset: DatasetId) -> Self {
        Self {
            dataset,
            query: Query::Browse,
            filters: Vec::new(),
            entity: EntityType::default(),
            granularity: Granularity::DEFAULT,
            order: None,
            page: 0,
        }
    }

    /// Returns this search with a maximum score. By a picture, the maximum is a filter, because the API has no parameter
    /// for it.
    pub fn with_max_score(mut self, max: Option<Fraction>) -> Self {
        match &mut self.query {
            Query::Caption { max_score, .. } => *max_score = max,
            Query::Similar(anchor) => {
                let anchor = *anchor;
                self.filters.retain(
                    |filter| !matches!(filter, Filter::Similar { anchor: of, .. } if *of == anchor),
                );
                let filter = |max| Filter::Similar { anchor, max_distance: Some(max) };
                self.filters.extend(max.map(filter));
            }
            Query::Browse => {}
        }
        self
    }

    /// Returns this search by another anchor. Its filters by the previous anchor follow, because the same picture gets
    /// another anchor when it is registered again.
    pub fn with_anchor(mut self, anchor: Anchor) -> Self {
        for filter in &mut self.filters {
            if let Filter::Similar { anchor: of, .. } = filter
                && self.query == Query::Similar(*of)
            {
                *of = anchor;
            }
        }
        Self { query: Query::Similar(anchor), ..self }
    }

    pub fn required_operation(&self) -> Operation {
        match self.query {
            Query::Similar(_) => Operation::VisualSearch,
            Query::Caption { .. } => Operation::TextSearch,
            Query::Browse if !self.filters.is_empty() || self.order.is_some() => {
                Operation::TextSearch
            }
            Query::Browse => Operation::Read,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Page {
    pub clusters: Vec<Cluster>,
    /// The number of rows that could not be read.
    pub skipped: usize,
    pub repeated: usize,
    /// Whether the service considered only the nearest media of a large dataset, so that no page contains the rest.
    pub is_bounded: bool,
    /// Whether the service fills every page but the last one. Only a local service is known to do so.
    pub fills_pages: bool,
}

impl Page {
    pub const SIZE: usize = 100;

    /// Whether another page may follow. This is a guess, because the service sends no total. No page follows one
    /// without a new cluster, because some services repeat a page forever.
    pub fn may_have_next(&self) -> bool {
        !self.clusters.is_empty() && (!self.fills_pages || self.rows() >= Self::SIZE)
    }

    /// Returns the number of rows that the service sent.
    pub fn rows(&self) -> usize {
        self.clusters.len() + self.skipped + self.repeated
    }

    /// Removes and counts the clusters that are in `seen`, and adds the remaining ones to `seen`.
    pub fn drop_repeated(&mut self, seen: &mut HashSet<ClusterId>) {
        let all = self.clusters.len();
        self.clusters.retain(|cluster| seen.insert(cluster.id));
        self.repeated += all - self.clusters.len();
    }

    /// Returns how the service has broken the maximum score of the search, if a score exceeds it. Public documents
    /// disagree about the direction of this bound.
    pub fn max_score_violation(&self, search: &Search) -> Option<MaxScoreViolation> {
        let Query::Caption { max_score: Some(bound), .. } = &search.query else { return None };
        let scores =
            self.clusters.iter().filter_map(|cluster| Some(cluster.relevance.as_ref()?.score));
        let (above, within): (Vec<f64>, Vec<f64>) =
            scores.partition(|score| *score > bound.value());
        // The scores within the maximum may be on the pages before.
        let is_inverted = search.page == 0 && within.is_empty();
        let violation =
            if is_inverted { MaxScoreViolation::Inverted } else { MaxScoreViolation::Ignored };
        (!above.is_empty()).then_some(violation)
    }
}

/// How a service breaks the maximum score of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxScoreViolation {
    /// Scores on both sides of the maximum are found.
    Ignored,
    /// Only scores above the maximum are found.
    Inverted,
}

impl MaxScoreViolation {
    /// Describes what the service does, for a warning.
    pub fn text(self) -> &'static str {
        match self {
            Self::Ignored => {
                "this service does not apply the maximum score: it also finds scores above it"
            }
            Self::Inverted => {
                "this service interprets the maximum score inversely: it keeps scores above it"
            }
        }
    }
}

// The order of a whole result by a property of its files, which is an addition of local deployments.

keyword_enum!(
    /// A property of files by which results are sorted.
    FileSortKey {
        Name = "name",
        Date = "date",
        Bytes = "bytes",
        Path = "path",
    }
);

impl FromStr for FileSortKey {
    type Err = &'static str;

    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        Self::from_keyword(raw).ok_or("expected name, date, bytes or path")
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
