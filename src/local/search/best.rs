//! Groups of rows ranked by their best row: what a page of a ranking shows, without sorting all.

use std::ops::Range;

use super::Neighbour;

/// A group of a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The group.
    pub group: u32,
    /// Its nearest rows, nearest first; never empty.
    pub nearest: Vec<Neighbour>,
}

/// The groups at the places `page` of the ranking by nearest row, each with up to `members` rows
/// (at least 1). Equally near groups come in their order.
///
/// `groups` has the group of every row, numbered from 0 without large gaps. A row whose distance
/// is not finite is left out, and so is a group that has no other.
#[must_use]
pub fn best_per_group(
    distances: &[f32],
    groups: &[u32],
    page: Range<usize>,
    members: usize,
) -> Vec<Best> {
    let mut lowest = vec![f32::INFINITY; groups.iter().max().map_or(0, |&last| last as usize + 1)];
    for (&distance, &group) in distances.iter().zip(groups) {
        let lowest = &mut lowest[group as usize];
        *lowest = lowest.min(distance);
    }
    let shown = ranked(&lowest, page);
    let mut places = vec![None; lowest.len()];
    for (place, &group) in shown.iter().enumerate() {
        places[group as usize] = Some(place);
    }
    let mut best: Vec<Best> =
        shown.into_iter().map(|group| Best { group, nearest: Vec::new() }).collect();
    for (row, (&distance, &group)) in (0..).zip(distances.iter().zip(groups)) {
        if let Some(place) = places[group as usize]
            && distance.is_finite()
        {
            best[place].offer(Neighbour { row, distance }, members.max(1));
        }
    }
    best
}

/// The groups at the places `page`, lowest first.
fn ranked(lowest: &[f32], page: Range<usize>) -> Vec<u32> {
    let mut ranked: Vec<Neighbour> = (0..)
        .zip(lowest)
        .filter(|(_, distance)| distance.is_finite())
        .map(|(row, &distance)| Neighbour { row, distance })
        .collect();
    if page.end < ranked.len() {
        ranked.select_nth_unstable_by(page.end, Neighbour::order);
        ranked.truncate(page.end);
    }
    ranked.sort_unstable_by(Neighbour::order);
    ranked.iter().skip(page.start).map(|group| group.row).collect()
}

impl Best {
    fn offer(&mut self, newcomer: Neighbour, most: usize) {
        let full = self.nearest.len() == most;
        if full && self.nearest.last().is_some_and(|last| last.order(&newcomer).is_lt()) {
            return;
        }
        let place = self.nearest.partition_point(|known| known.order(&newcomer).is_lt());
        self.nearest.insert(place, newcomer);
        self.nearest.truncate(most);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By sorting all rows.
    fn plain(distances: &[f32], groups: &[u32], members: usize) -> Vec<Best> {
        let mut best: Vec<Best> = Vec::new();
        let mut rows: Vec<Neighbour> = (0..)
            .zip(distances)
            .filter(|(_, distance)| distance.is_finite())
            .map(|(row, &distance)| Neighbour { row, distance })
            .collect();
        rows.sort_by(Neighbour::order);
        for row in rows {
            let group = groups[row.row as usize];
            match best.iter_mut().find(|best| best.group == group) {
                Some(best) if best.nearest.len() < members => best.nearest.push(row),
                Some(_) => {}
                None => best.push(Best { group, nearest: vec![row] }),
            }
        }
        best.sort_by(|a, b| {
            a.nearest[0].distance.total_cmp(&b.nearest[0].distance).then(a.group.cmp(&b.group))
        });
        best
    }

    proptest! {
        #[test]
        fn m44_a_page_is_what_sorting_all_rows_would_show(
            rows in proptest::collection::vec((0_u8..20, 0_u32..9), 0..60),
            first in 0_usize..12, count in 0_usize..12, members in 1_usize..5,
        ) {
            let far = |step: &u8| if *step == 0 { f32::INFINITY } else { f32::from(*step) / 10.0 };
            let distances: Vec<f32> = rows.iter().map(|row| far(&row.0)).collect();
            let groups: Vec<u32> = rows.iter().map(|row| row.1).collect();
            let page = best_per_group(&distances, &groups, first..first + count, members);
            let all = plain(&distances, &groups, members);
            let expected: Vec<Best> = all.into_iter().skip(first).take(count).collect();
            prop_assert_eq!(page, expected);
        }
    }
}
