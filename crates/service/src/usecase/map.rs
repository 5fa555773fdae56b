//! The map of a dataset: where the media items are that a search finds. The clustering has computed the positions.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use super::{
    SearchParams, ServiceError,
    search::{require_searchable, until_current},
};
use crate::Deployment;
use tessera_model::{DatasetId, MAX_MAP_POINTS, is_metadata_label, vql::IssueKind};
use tessera_retrieval::issues::confidence;
use tessera_store::map_position::{self, StoredMapPoint};
use tessera_wire::map::{MapBody, MapIssueBody, MapNamesBody, write_coordinate};

/// The maximum number of names of labels or tags. Nobody looks through a longer list.
const MAX_NAMES: usize = 50;
/// The lowest confidence, in percent, with which an issue colors a point.
const MIN_PERCENT: u8 = 50;

impl Deployment {
    /// Returns the map of what a search finds. A map of more than [`MAX_MAP_POINTS`] media items has a sample, which is
    /// the same each time.
    pub(crate) fn map(
        &self,
        id: DatasetId,
        params: &SearchParams,
    ) -> Result<MapBody, ServiceError> {
        until_current(|| self.current_map(id, params))
    }

    fn current_map(&self, id: DatasetId, params: &SearchParams) -> Result<MapBody, ServiceError> {
        let operation = params.operation();
        let record = self.require_ready(id, operation)?;
        require_searchable(&record, operation)?;
        let query = self.search_query(id, params)?;
        let ranking = self.search_context(&record).search(&query)?;
        let rows: Vec<i64> = ranking.members(None)?.iter().map(|member| member.row).collect();
        let step = rows.len().div_ceil(MAX_MAP_POINTS).max(1);
        let sample: Vec<i64> = rows.iter().step_by(step).copied().collect();
        let points = self.store.read(|c| map_position::points_of(c, id, &sample))?;
        let coordinates = |axis: usize| {
            points.iter().map(|point| write_coordinate(point.position[axis])).collect()
        };
        Ok(MapBody {
            media_count: rows.len() as u64,
            x: coordinates(0),
            y: coordinates(1),
            labels: names(points.iter().map(|it| &it.labels), |label| !is_metadata_label(label)),
            tags: names(points.iter().map(|point| &point.tags), |_| true),
            issues: issues(&points),
            media_ids: points.iter().map(|point| point.media.0).collect(),
            paths: points.into_iter().map(|point| point.path).collect(),
        })
    }
}

/// Returns the names that are shown, the most frequent first, and which of them each point has.
fn names<'a>(
    of_points: impl Iterator<Item = &'a Vec<String>>,
    is_shown: impl Fn(&str) -> bool,
) -> MapNamesBody {
    let shown = |names: &'a Vec<String>| names.iter().filter(|name| is_shown(name)).collect();
    let of_points: Vec<BTreeSet<&String>> = of_points.map(shown).collect();
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for name in of_points.iter().flatten() {
        *counts.entry(name).or_default() += 1;
    }
    let mut frequent: Vec<(&String, usize)> = counts.into_iter().collect();
    // The sort is stable, so that equally frequent names stay in alphabetical order.
    frequent.sort_by_key(|(_, count)| Reverse(*count));
    frequent.truncate(MAX_NAMES);
    let positions: HashMap<&String, u32> =
        frequent.iter().zip(0..).map(|((name, _), position)| (*name, position)).collect();
    let values = of_points.iter().map(|names| {
        let found: BTreeSet<u32> =
            names.iter().filter_map(|name| positions.get(name)).copied().collect();
        found.into_iter().collect()
    });
    let values = values.collect();
    MapNamesBody { names: frequent.into_iter().map(|(name, _)| name.clone()).collect(), values }
}

/// Returns the issues that any point may have, with the confidence of each point in percent.
fn issues(points: &[StoredMapPoint]) -> Vec<MapIssueBody> {
    let kinds = IssueKind::ALL.iter().filter(|kind| **kind != IssueKind::Normal);
    let columns = kinds.map(|kind| {
        let percent = |point: &StoredMapPoint| {
            let StoredMapPoint { sharpness, brightness, assignment, .. } = point;
            percent(confidence(*kind, *sharpness, *brightness, assignment))
        };
        MapIssueBody { name: kind.as_str(), percents: points.iter().map(percent).collect() }
    });
    columns.filter(|issue| issue.percents.iter().any(|it| *it >= MIN_PERCENT)).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
fn percent(confidence: f64) -> u8 {
    (confidence.clamp(0.0, 1.0) * 100.0).round() as u8
}
