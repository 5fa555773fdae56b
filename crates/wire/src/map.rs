//! The body with which a local service sends the map of a dataset. It has a list for each property instead of an object
//! for each media item, so that 100,000 media items take about 10 MB.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::fields::Fields;
use tessera_model::{MapIssue, MapPoint, MediaId, MediaMap, SafeText};

/// The unit of coordinates.
const PARTS: f32 = 10_000.0;

/// The media items on a map. The lists have an entry for each media item, in the same order.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MapBody {
    /// Number of media items that the search finds. If it is larger than the lists, the map has a sample.
    pub media_count: u64,
    /// Identifiers.
    pub media_ids: Vec<Uuid>,
    /// Paths, by which the filter `path` finds the media items.
    pub paths: Vec<String>,
    /// First coordinates in ten-thousandths, usually 0 to 10,000. Media that were added after the latest clustering of
    /// the dataset are beyond.
    pub x: Vec<i64>,
    /// Second coordinates in ten-thousandths, 0 to 10,000.
    pub y: Vec<i64>,
    /// The labels of each media item.
    pub labels: MapNamesBody,
    /// The tags of each media item.
    pub tags: MapNamesBody,
    /// The quality issues that any of the media items may have.
    pub issues: Vec<MapIssueBody>,
}

/// Which names the media items on a map have.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MapNamesBody {
    /// At most 50 names, most frequent first, raw.
    pub names: Vec<String>,
    /// Positions in `names` for each media item, most frequent first.
    pub values: Vec<Vec<u32>>,
}

/// A quality issue.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MapIssueBody {
    /// Name, as in filters.
    pub name: &'static str,
    /// Confidence for each media item in percent.
    pub percents: Vec<u8>,
}

#[expect(clippy::cast_possible_truncation, reason = "a small coordinate")]
pub fn write_coordinate(coordinate: f32) -> i64 {
    (coordinate * PARTS).round() as i64
}

#[expect(clippy::cast_precision_loss, reason = "a small coordinate")]
fn read_coordinate(coordinate: i32) -> f32 {
    coordinate as f32 / PARTS
}

/// Reads a map. Returns `None` if a list cannot be read or has another length, because the entries of the lists belong
/// together.
pub fn read_map(map: Fields<'_>) -> Option<MediaMap> {
    let media = map.needed_count("media_count")?;
    let (ids, paths): (Vec<MediaId>, Vec<String>) =
        (column(map, "media_ids")?, column(map, "paths")?);
    let (x, y): (Vec<i32>, Vec<i32>) = (column(map, "x")?, column(map, "y")?);
    let (labels, of_labels) = read_names(map, "labels")?;
    let (tags, of_tags) = read_names(map, "tags")?;
    let issues = read_issues(map)?;
    let lists = [
        ("media_ids", ids.len()),
        ("paths", paths.len()),
        ("x", x.len()),
        ("y", y.len()),
        ("labels", of_labels.len()),
        ("tags", of_tags.len()),
    ];
    let lists = lists.into_iter().chain(issues.iter().map(|it| ("issues", it.percents.len())));
    if lists.clone().any(|(_, count)| count != ids.len()) {
        lists.for_each(|(key, _)| map.note(key));
        return None;
    }
    let positions = x.into_iter().zip(y).map(|(x, y)| [x, y].map(read_coordinate));
    let points = ids.into_iter().zip(paths).zip(positions).zip(of_labels.into_iter().zip(of_tags));
    let point = |(((media, path), position), (labels, tags))| MapPoint {
        media,
        path,
        position,
        labels,
        tags,
    };
    Some(MediaMap { media, points: points.map(point).collect(), labels, tags, issues })
}

/// Reads a list with an entry for each media item.
fn column<T: DeserializeOwned>(map: Fields<'_>, key: &str) -> Option<Vec<T>> {
    map.needed(key, map.get(key).and_then(|list| Vec::deserialize(list).ok()))
}

/// Reads the names, and which of them each media item has.
fn read_names(map: Fields<'_>, key: &'static str) -> Option<(Vec<SafeText>, Vec<Vec<u32>>)> {
    let object = map.needed(key, map.get(key).filter(|object| object.is_object()))?;
    let object = map.element(key, object);
    let names: Vec<String> = column(object, "names")?;
    let values: Vec<Vec<u32>> = column(object, "values")?;
    if values.iter().flatten().any(|value| *value as usize >= names.len()) {
        object.note("values");
        return None;
    }
    Some((names.iter().map(|name| SafeText::name(name)).collect(), values))
}

fn read_issues(map: Fields<'_>) -> Option<Vec<MapIssue>> {
    let issues = map.list("issues")?;
    let read = |issue| {
        let issue = map.element("issues", issue);
        let name = issue.needed("name", issue.get("name").and_then(Value::as_str))?;
        Some(MapIssue { name: SafeText::name(name), percents: column(issue, "percents")? })
    };
    issues.iter().map(read).collect()
}
