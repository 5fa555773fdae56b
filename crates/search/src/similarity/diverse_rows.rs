//! Chooses rows that differ as much as possible, for a small set that stands for a large one.

use half::f16;

use super::Vectors;

/// Chooses `count` rows, the most different ones first: each row is the one that is farthest from those before it. The
/// first row is the one that is nearest to the mean, because it is the most typical. This is the greedy method for
/// k-center: no row is more than twice as far from its nearest chosen row as the best choice would allow. Among equal
/// distances, the first row wins. `on_progress` returns whether to go on; without it, the rows so far are returned.
pub fn diverse_rows(
    vectors: &Vectors,
    count: usize,
    mut on_progress: impl FnMut(usize) -> bool,
) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(count.min(vectors.len()));
    let mut next = (!vectors.is_empty()).then(|| nearest(&vectors.distances(&mean(vectors))));
    let mut distances = vec![f32::INFINITY; vectors.len()];
    while let Some(row) = next.filter(|_| chosen.len() < count && on_progress(chosen.len())) {
        chosen.push(row);
        for (nearest, found) in distances.iter_mut().zip(vectors.distances(vectors.row(row))) {
            *nearest = nearest.min(found);
        }
        // A chosen row is never chosen again, even among rows that are all equal.
        distances[row] = f32::NEG_INFINITY;
        next = (chosen.len() < vectors.len()).then(|| farthest(&distances));
    }
    chosen
}

/// Returns the direction of the mean.
fn mean(vectors: &Vectors) -> Vec<f16> {
    let mut sum = vec![0.0_f32; vectors.dimension()];
    for row in 0..vectors.len() {
        for (sum, number) in sum.iter_mut().zip(vectors.row(row)) {
            *sum += number.to_f32();
        }
    }
    let length =
        sum.iter().map(|number| number * number).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    sum.into_iter().map(|number| f16::from_f32(number / length)).collect()
}

fn nearest(distances: &[f32]) -> usize {
    let nearest = distances.iter().enumerate().min_by(|one, other| one.1.total_cmp(other.1));
    nearest.map_or(0, |(row, _)| row)
}

fn farthest(distances: &[f32]) -> usize {
    // `max_by` returns the last of equal rows, so the rows are read from the end.
    let rows = distances.iter().enumerate().rev();
    rows.max_by(|one, other| one.1.total_cmp(other.1)).map_or(0, |(row, _)| row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(degrees: f32) -> Vec<f16> {
        let angle = degrees.to_radians();
        vec![f16::from_f32(angle.cos()), f16::from_f32(angle.sin())]
    }

    fn vectors(angles: &[f32]) -> Vectors {
        let mut vectors = Vectors::new(2);
        for angle in angles {
            vectors.push(&unit(*angle));
        }
        vectors
    }

    #[test]
    fn groups_come_before_their_other_members() {
        let vectors = vectors(&[0.0, 1.0, 2.0, 60.0, 61.0, 120.0, 121.0, 122.0]);
        let chosen = diverse_rows(&vectors, 3, |_| true);
        assert!([3, 4].contains(&chosen[0]), "the most typical row is first: {chosen:?}");
        assert_eq!(chosen.iter().filter(|row| **row <= 2).count(), 1, "{chosen:?}");
        assert_eq!(chosen.iter().filter(|row| **row >= 5).count(), 1, "{chosen:?}");
    }

    #[test]
    fn every_row_is_chosen_once_and_at_most_all_of_them() {
        for angles in [&[][..], &[5.0], &[5.0; 4], &[0.0, 90.0, 45.0]] {
            let mut chosen = diverse_rows(&vectors(angles), 9, |_| true);
            chosen.sort_unstable();
            assert_eq!(chosen, (0..angles.len()).collect::<Vec<_>>());
        }
        assert_eq!(diverse_rows(&vectors(&[1.0, 2.0, 3.0]), 3, |done| done < 2).len(), 2);
    }
}
