//! The members that are, or are in, each picture.

#[derive(Debug)]
pub struct PictureMembers {
    /// Rows of the pictures in increasing order, each as often as it has members.
    rows: Vec<i64>,
    members: Vec<u32>,
}

impl PictureMembers {
    /// `picture_rows` contains the row of the picture of each member.
    pub fn new(picture_rows: &[i64]) -> Self {
        let mut pairs: Vec<(i64, u32)> = picture_rows.iter().copied().zip(0..).collect();
        pairs.sort_unstable();
        let (rows, members) = pairs.into_iter().unzip();
        Self { rows, members }
    }

    /// Calls `each` with every member of the pictures `found`, which are in increasing order of rows.
    pub fn for_each<T: Copy>(&self, found: &[(i64, T)], mut each: impl FnMut(u32, T)) {
        let mut position = 0;
        for &(row, value) in found {
            position += first_from(&self.rows[position..], row);
            while self.rows.get(position) == Some(&row) {
                each(self.members[position], value);
                position += 1;
            }
        }
    }
}

/// The position of the first of increasing `rows` that is not below `row`; it is usually near.
fn first_from(rows: &[i64], row: i64) -> usize {
    let mut bound = 1;
    while rows.get(bound - 1).is_some_and(|&other| other < row) {
        bound *= 2;
    }
    let (from, to) = (bound / 2, (bound - 1).min(rows.len()));
    from + rows[from..to].partition_point(|&other| other < row)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn members_of_found_pictures_are_those_that_a_scan_finds(
            picture_rows in proptest::collection::vec(0..60_i64, 0..80),
            found in proptest::collection::btree_map(-2..64_i64, 0..9_u8, 0..40),
        ) {
            let pairs: Vec<(i64, u8)> = found.iter().map(|(row, value)| (*row, *value)).collect();
            let mut members = Vec::new();
            PictureMembers::new(&picture_rows)
                .for_each(&pairs, |member, value| members.push((member, value)));
            members.sort_unstable();
            let scan = (0..).zip(&picture_rows);
            let scan = scan.filter_map(|(member, row)| Some((member, *found.get(row)?)));
            prop_assert_eq!(members, scan.collect::<Vec<(u32, u8)>>());
        }
    }
}
