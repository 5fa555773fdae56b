//! Divides the media items of a dataset into sets such as training, validation and test. Near-duplicates and the frames
//! of a video stay together, so that no set contains what another set is measured with.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    path::PathBuf,
};

use tessera_model::{
    Failure, FailureKind, Selection,
    pseudorandom::mix64,
    split::{Balance, SplitPlan, SplitSet},
    tag::{PICKED, REJECTED},
};

use super::{file_actions::selection_of_media, media_rows::MediaRow};

/// Divides the rows, except those that the plan omits. Returns the rows of each set.
///
/// # Errors
/// No row has a tag that the plan omits, or no row is left.
pub fn divide<'a>(
    rows: &'a [MediaRow],
    plan: &SplitPlan,
) -> Result<Vec<Vec<&'a MediaRow>>, Failure> {
    for tag in &plan.without {
        // A tag without media divides the same way as no tag, and may be a mistake in its name. Picking and
        // rejecting are always possible, so that there may be none yet.
        let is_known = [PICKED, REJECTED].contains(&tag.as_str());
        if !is_known && !rows.iter().any(|row| row.tags.contains(tag)) {
            let sentence = format!("no media item of the dataset has the tag `{tag}`");
            return Err(Failure::new(FailureKind::NotFound, sentence));
        }
    }
    let is_left_out = |row: &MediaRow| row.tags.iter().any(|tag| plan.without.contains(tag));
    let rows: Vec<&MediaRow> = rows.iter().filter(|row| !is_left_out(row)).collect();
    if rows.is_empty() {
        return Err(Failure::local("no media item is left to divide"));
    }
    let mut sets = vec![Vec::new(); plan.sets.len()];
    for (row, set) in rows.iter().zip(split(&rows, plan)) {
        sets[set].push(*row);
    }
    Ok(sets)
}

/// Returns the selections of divided rows by their names.
///
/// # Errors
/// The service sends no ids of media items.
pub fn selections_of(
    plan: &SplitPlan,
    sets: &[Vec<&MediaRow>],
) -> Result<BTreeMap<String, Selection>, Failure> {
    let selection = |(set, rows): (&SplitSet, &Vec<&MediaRow>)| {
        let media = rows.iter().map(|row| Some((row.media?, PathBuf::from(&row.path))));
        let media: Option<Vec<_>> = media.collect();
        let media = media.ok_or_else(|| {
            Failure::local("the service sends no ids of media items, so no set can be saved")
        })?;
        Ok((set.name.clone(), selection_of_media(&media)))
    };
    plan.sets.iter().zip(sets).map(selection).collect()
}

/// Returns the number of the set of each row. The same rows and seed give the same sets, whatever the order of the
/// rows.
///
/// Labels are balanced as in iterative stratification (Sechidis, Tsoumakas and Vlahavas, "On the Stratification of
/// Multi-Label Data", 2011): rare labels are distributed first, each row to the set that lacks most of its label. That
/// method lets the sizes of the sets drift if labels have few rows. Here a full set takes no more rows. At first, each
/// set takes only the whole part of its share of a label, 2 of 2.4 rows, so that the room for the rows that are left
/// over is shared by all labels.
fn split<'a>(rows: &[&'a MediaRow], plan: &SplitPlan) -> Vec<usize> {
    let total: f64 = plan.sets.iter().map(|set| set.share).sum();
    let shares: Vec<f64> = plan.sets.iter().map(|set| set.share / total).collect();
    let balances_labels = plan.balance == Balance::Labels;
    let labels_of = |row: &&'a MediaRow| if balances_labels { row.classes() } else { Vec::new() };
    let labels: Vec<Vec<&str>> = rows.iter().map(labels_of).collect();
    let mut frequency: HashMap<&str, usize> = HashMap::new();
    for label in labels.iter().flatten() {
        *frequency.entry(label).or_default() += 1;
    }
    let units = inseparable_units(rows).into_iter();
    let mut units: Vec<Unit> = units.map(|rows| Unit::new(rows, &labels, &frequency)).collect();
    // Large units come first, because small ones can fill what remains.
    units.sort_by_cached_key(|unit| {
        let frequency = unit.label.map_or(usize::MAX, |(label, _)| frequency[label]);
        (Reverse(unit.rows.len()), frequency, order_key(rows, &unit.rows, plan.seed))
    });
    let mut missing = Missing::new(&shares, rows.len(), &frequency);
    let (mut sets_of_rows, mut left_over) = (vec![0; rows.len()], Vec::new());
    let mut put = |unit: &Unit, set: usize, missing: &mut Missing| {
        for &row in &unit.rows {
            sets_of_rows[row] = set;
            missing.take(set, &labels[row]);
        }
    };
    for unit in units {
        let set = missing.neediest_set(&unit);
        if unit.rows.len() == 1 && !missing.needs_all(set, &unit) {
            left_over.push(unit);
        } else {
            put(&unit, set, &mut missing);
        }
    }
    for unit in left_over {
        put(&unit, missing.neediest_set(&unit), &mut missing);
    }
    sets_of_rows
}

/// Rows that are in the same set.
struct Unit<'a> {
    rows: Vec<usize>,
    /// The rarest label of the rows, and how often they have it.
    label: Option<(&'a str, usize)>,
}

impl<'a> Unit<'a> {
    fn new(rows: Vec<usize>, labels: &[Vec<&'a str>], frequency: &HashMap<&str, usize>) -> Self {
        let all = || rows.iter().flat_map(|row| labels[*row].iter().copied());
        let rarest = all().min_by_key(|label| (frequency[label], *label));
        let label = rarest.map(|rarest| (rarest, all().filter(|label| *label == rarest).count()));
        Self { rows, label }
    }
}

/// How many rows each set still needs, and how many labels of each name.
struct Missing<'a> {
    rows: Vec<f64>,
    labels: HashMap<&'a str, Vec<f64>>,
}

/// Sums of shares are not exact.
const TOLERANCE: f64 = 1e-6;

#[expect(clippy::cast_precision_loss, reason = "there are far fewer rows than 2^52")]
impl<'a> Missing<'a> {
    fn new(shares: &[f64], rows: usize, frequency: &HashMap<&'a str, usize>) -> Self {
        let of = |count: usize| shares.iter().map(|share| share * count as f64).collect();
        let labels = frequency.iter().map(|(label, count)| (*label, of(*count))).collect();
        Self { rows: of(rows), labels }
    }

    /// Returns the set that needs the unit's label most often, then most rows in all, among the sets that have room
    /// for the unit. If there is none, the set with the most room takes the unit. The first of equal sets wins.
    fn neediest_set(&self, unit: &Unit) -> usize {
        let has_room = |set: &usize| self.rows[*set] + TOLERANCE >= unit.rows.len() as f64;
        let of_label = |set: usize| unit.label.map_or(0.0, |(label, _)| self.labels[label][set]);
        let needier = |best: usize, set: usize| {
            let more = of_label(set) - of_label(best);
            let is_tie = more.abs() <= TOLERANCE;
            if more > TOLERANCE || is_tie && self.has_more_room(set, best) { set } else { best }
        };
        let roomier =
            |best: usize, set: usize| if self.has_more_room(set, best) { set } else { best };
        let sets = 0..self.rows.len();
        let set = sets.clone().filter(has_room).reduce(needier);
        set.or_else(|| sets.reduce(roomier)).unwrap_or(0)
    }

    fn has_more_room(&self, set: usize, other: usize) -> bool {
        self.rows[set] > self.rows[other] + TOLERANCE
    }

    /// Whether the share of the unit's label that the set still needs includes the whole unit.
    fn needs_all(&self, set: usize, unit: &Unit) -> bool {
        unit.label.is_some_and(|(label, count)| self.labels[label][set] + TOLERANCE >= count as f64)
    }

    fn take(&mut self, set: usize, labels: &[&str]) {
        self.rows[set] -= 1.0;
        for label in labels {
            if let Some(of_label) = self.labels.get_mut(*label) {
                of_label[set] -= 1.0;
            }
        }
    }
}

/// Returns the rows that must be in the same set: those of a group of near-duplicates, and the frames of a video. A
/// frame that is a near-duplicate joins both.
fn inseparable_units(rows: &[&MediaRow]) -> Vec<Vec<usize>> {
    let mut parents: Vec<usize> = (0..rows.len()).collect();
    let mut first_of: HashMap<(bool, &str), usize> = HashMap::new();
    for (number, row) in rows.iter().enumerate() {
        let video = row.is_frame.then_some((true, row.file()));
        let group = row.duplicate_group().map(|group| (false, group));
        for key in [video, group].into_iter().flatten() {
            let first = *first_of.entry(key).or_insert(number);
            let (a, b) = (root(&mut parents, first), root(&mut parents, number));
            parents[a.max(b)] = a.min(b);
        }
    }
    let mut units: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for number in 0..rows.len() {
        units.entry(root(&mut parents, number)).or_default().push(number);
    }
    units.into_values().collect()
}

fn root(parents: &mut [usize], mut node: usize) -> usize {
    while parents[node] != node {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    node
}

/// Orders units of the same size and frequency of their label at random, but always in the same way.
fn order_key(rows: &[&MediaRow], unit: &[usize], seed: u64) -> (u64, String) {
    let path = unit.iter().map(|row| rows[*row].path.as_str()).min().unwrap_or_default();
    let mut hash = mix64(seed ^ 0x5EED);
    for byte in path.bytes() {
        hash = mix64(hash ^ u64::from(byte));
    }
    (hash, path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::media_rows::RowIssue;

    fn split_by(shares: &[f64], rows: &[MediaRow], balance: Balance, seed: u64) -> Vec<usize> {
        let set =
            |(number, share): (usize, &f64)| SplitSet { name: number.to_string(), share: *share };
        let sets = shares.iter().enumerate().map(set).collect();
        let plan = SplitPlan { sets, balance, without: Vec::new(), seed };
        split(&rows.iter().collect::<Vec<_>>(), &plan)
    }

    fn row(path: &str, label: &str, group: Option<&str>) -> MediaRow {
        let issue = group.map(|group| RowIssue {
            kind: "duplicates".to_owned(),
            confidence: Some(1.0),
            group: Some(group.to_owned()),
        });
        MediaRow {
            path: path.to_owned(),
            labels: vec![label.to_owned()],
            issues: issue.into_iter().collect(),
            ..MediaRow::default()
        }
    }

    fn rows() -> Vec<MediaRow> {
        (0..1_000)
            .map(|n| {
                let label = if n % 50 == 0 { "rare" } else { "common" };
                let group = (n % 7 == 0).then(|| (n / 21).to_string());
                row(&format!("{n}.jpg"), label, group.as_deref())
            })
            .collect()
    }

    #[test]
    fn sets_have_their_shares_and_groups_stay_together() {
        let rows = rows();
        for balance in [Balance::Size, Balance::Labels] {
            let found = split_by(&[80.0, 10.0, 10.0], &rows, balance, 1);
            let count = |set: usize, label: Option<&str>| {
                let fits = |row: &MediaRow| label.is_none_or(|label| row.labels[0] == label);
                rows.iter().zip(&found).filter(|(row, of)| **of == set && fits(row)).count()
            };
            assert_eq!([count(0, None), count(1, None), count(2, None)], [800, 100, 100]);
            if balance == Balance::Labels {
                assert_eq!([0, 1, 2].map(|set| count(set, Some("rare"))), [16, 2, 2]);
            }
            let mut of_group: HashMap<&str, usize> = HashMap::new();
            for (row, set) in rows.iter().zip(&found) {
                if let Some(group) = row.duplicate_group() {
                    assert_eq!(of_group.entry(group).or_insert(*set), set, "{group}");
                }
            }
        }
    }

    #[test]
    fn sets_have_their_sizes_although_labels_have_few_rows() {
        let sizes = |shares: &[f64], counts: &[usize]| {
            let rows = counts.iter().enumerate().flat_map(|(label, count)| {
                (0..*count).map(move |n| row(&format!("{label}/{n}.jpg"), &label.to_string(), None))
            });
            let rows: Vec<MediaRow> = rows.collect();
            let found = split_by(shares, &rows, Balance::Labels, 0);
            for (label, count) in counts.iter().enumerate() {
                let label = label.to_string();
                for (set, share) in shares.iter().enumerate() {
                    let is_in =
                        |(row, of): &(&MediaRow, &usize)| row.labels[0] == label && **of == set;
                    let in_set = rows.iter().zip(&found).filter(is_in).count();
                    let in_set = f64::from(u32::try_from(in_set).unwrap());
                    let expected = share / 100.0 * f64::from(u32::try_from(*count).unwrap());
                    assert!((in_set - expected).abs() < 1.5, "{label}: {in_set}, not {expected}");
                }
            }
            [0, 1, 2].map(|set| found.iter().filter(|of| **of == set).count())
        };
        let common: [f64; 3] = [80.0, 10.0, 10.0];
        assert_eq!(sizes(&common, &[3; 100]), [240, 30, 30]);
        assert_eq!(sizes(&common, &[2; 25]), [40, 5, 5]);
        assert_eq!(sizes(&common, &[&[1; 30][..], &[20]].concat()), [40, 5, 5]);
        assert_eq!(sizes(&common, &[7; 50]), [280, 35, 35]);
        assert_eq!(sizes(&[70.0, 15.0, 15.0], &[7; 50]), [245, 53, 52]);
    }

    #[test]
    fn groups_do_not_keep_sets_from_their_sizes_if_others_can_fill_them() {
        let of = |label: &str, group: Option<&str>, count: usize| {
            let path = |n| format!("{label}/{group:?}/{n}");
            (0..count).map(|n| row(&path(n), label, group)).collect::<Vec<_>>()
        };
        let rows = [of("a", None, 60), of("b", Some("1"), 40)].concat();
        let found = split_by(&[80.0, 10.0, 10.0], &rows, Balance::Labels, 0);
        assert_eq!(
            [0, 1, 2].map(|set| found.iter().filter(|of| **of == set).count()),
            [80, 10, 10]
        );
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_the_seed_does() {
        let mut rows = rows();
        let by_path = |rows: &[MediaRow], seed| -> BTreeMap<String, usize> {
            let found = split_by(&[1.0, 1.0], rows, Balance::Labels, seed);
            rows.iter().map(|row| row.path.clone()).zip(found).collect()
        };
        let first = by_path(&rows, 1);
        assert_ne!(first, by_path(&rows, 2));
        rows.reverse();
        assert_eq!(first, by_path(&rows, 1));
    }

    #[test]
    fn frames_of_a_video_are_in_one_set() {
        let frame = |path: &str| MediaRow { is_frame: true, ..row(path, "x", None) };
        let rows: Vec<MediaRow> =
            (0..40).map(|n| frame(&format!("{0}.mp4/{0}_{n:06}.jpg", ["a", "b"][n % 2]))).collect();
        let found = split_by(&[1.0, 1.0], &rows, Balance::Size, 0);
        assert!(found.chunks(2).all(|pair| pair == &found[..2]) && found[0] != found[1]);
        assert_eq!(split_by(&[1.0], &[], Balance::Size, 0), Vec::<usize>::new());
    }
}
