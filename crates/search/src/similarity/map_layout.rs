//! Places rows on a map in two dimensions, so that similar rows are near each other.
//!
//! The rows start at their two principal components. In each step, a row is pulled toward its nearest neighbors and
//! pushed away from a few random rows, as in UMAP (arXiv 1802.03426). All rows move at once, so the
//! positions do not depend on the number of threads. Memory is 16 bytes a row, and time is linear in the rows.

use std::array;

use half::f16;
use rayon::prelude::*;
use tessera_model::pseudorandom::splitmix64;

use super::{NeighborGraph, Vectors};

/// A position, from 0.0 to 1.0 in both directions.
pub type MapPosition = [f32; 2];

/// Number of nearest neighbors that pull a row. More neighbors blur small groups.
const PULLING_ROWS: usize = 8;
/// Number of random rows that push a row in each step.
const PUSHING_ROWS: usize = 4;
/// How much stronger rows push than they pull.
const PUSH: f32 = 2.5;
/// The distance of the first positions from the center, in the unit in which neighbors come to rest near each other.
const START_RADIUS: f32 = 10.0;
/// Number of steps for up to [`MANY_ROWS`] rows. With more steps, the neighbors of a row on the map stay the same.
const STEPS: usize = 200;
const MANY_ROWS: usize = 20_000;
const STEPS_OF_MANY_ROWS: usize = 80;
/// Number of rows from which the principal components are computed.
const COMPONENT_ROWS: usize = 4_096;
/// Number of multiplications after which the direction of a component hardly changes.
const COMPONENT_STEPS: usize = 30;
/// Number of rows from which another thread is worth its cost.
const ROWS_PER_TASK: usize = 1_024;

/// Returns the position of each row. Equal vectors with equal graphs have equal positions. Returns `None` if
/// `should_continue` returns false.
pub fn map_positions(
    vectors: &Vectors,
    graph: &NeighborGraph,
    should_continue: impl Fn() -> bool,
) -> Option<Vec<MapPosition>> {
    let mut positions = principal_components(vectors);
    let mut next = positions.clone();
    let steps = if vectors.len() > MANY_ROWS { STEPS_OF_MANY_ROWS } else { STEPS };
    for step in 0..steps {
        if !should_continue() {
            return None;
        }
        let rate = 1.0 - step as f32 / steps as f32;
        let seed = splitmix64(step as u64);
        next.par_iter_mut().with_min_len(ROWS_PER_TASK).enumerate().for_each(|(row, to)| {
            let [pull, push] = [pull(row, &positions, graph), push(row, &positions, seed)];
            *to = array::from_fn(|axis| {
                positions[row][axis] + rate * (pull[axis] + PUSH * push[axis])
            });
        });
        std::mem::swap(&mut positions, &mut next);
    }
    Some(in_unit_square(positions))
}

/// Returns the mean force of the nearest neighbors of a row.
fn pull(row: usize, positions: &[MapPosition], graph: &NeighborGraph) -> [f32; 2] {
    let nearest = &graph[row][..PULLING_ROWS.min(graph[row].len())];
    let mut force = [0.0; 2];
    for neighbor in nearest {
        let (x, y) = offset(positions[row], positions[neighbor.row as usize]);
        let strength = 1.0 / ((1.0 + x * x + y * y) * nearest.len() as f32);
        force = [force[0] + strength * x, force[1] + strength * y];
    }
    force
}

/// Returns the mean force of some random rows. A single force is limited, because rows may be at the same position.
fn push(row: usize, positions: &[MapPosition], seed: u64) -> [f32; 2] {
    const NEARNESS: f32 = 0.01;
    let mut force = [0.0; 2];
    for number in 0..PUSHING_ROWS {
        let random = splitmix64(seed ^ (row * PUSHING_ROWS + number) as u64);
        let (x, y) = offset(positions[(random % positions.len() as u64) as usize], positions[row]);
        let squares = x * x + y * y;
        let strength = 1.0 / ((NEARNESS + squares) * (1.0 + squares));
        let limited = |offset: f32| (strength * offset).clamp(-1.0, 1.0) / PUSHING_ROWS as f32;
        force = [force[0] + limited(x), force[1] + limited(y)];
    }
    force
}

fn offset(from: MapPosition, to: MapPosition) -> (f32, f32) {
    (to[0] - from[0], to[1] - from[1])
}

/// Returns the rows at the coordinates of their two principal components.
fn principal_components(vectors: &Vectors) -> Vec<MapPosition> {
    let step = vectors.len().div_ceil(COMPONENT_ROWS).max(1);
    let sample: Vec<Vec<f32>> =
        (0..vectors.len()).step_by(step).map(|row| to_f32(vectors.row(row))).collect();
    let mut mean = vec![0.0; vectors.dimension()];
    for row in &sample {
        add_scaled(&mut mean, row, 1.0 / sample.len() as f32);
    }
    let first = component(&sample, &mean, None);
    let second = component(&sample, &mean, Some(&first));
    let centers = [&first, &second].map(|direction| dot(&mean, direction));
    let project = |row| {
        let row = to_f32(vectors.row(row));
        [dot(&row, &first) - centers[0], dot(&row, &second) - centers[1]]
    };
    let rows = (0..vectors.len()).into_par_iter().with_min_len(ROWS_PER_TASK);
    let mut positions: Vec<MapPosition> = rows.map(project).collect();
    let largest = positions.iter().flatten().fold(f32::EPSILON, |it, side| it.max(side.abs()));
    positions.iter_mut().flatten().for_each(|side| *side *= START_RADIUS / largest);
    positions
}

/// Returns the direction in which rows differ most, among those that are perpendicular to `first`. The power method
/// finds the direction.
fn component(rows: &[Vec<f32>], mean: &[f32], first: Option<&Vec<f32>>) -> Vec<f32> {
    let mut direction: Vec<f32> =
        (0..).take(mean.len()).map(|at| (splitmix64(at) % 1_000) as f32 + 1.0).collect();
    for _ in 0..COMPONENT_STEPS {
        let center = dot(mean, &direction);
        let mut next = vec![0.0; mean.len()];
        for row in rows {
            let along = dot(row, &direction) - center;
            add_scaled(&mut next, row, along);
            add_scaled(&mut next, mean, -along);
        }
        if let Some(first) = first {
            let along = dot(&next, first);
            add_scaled(&mut next, first, -along);
        }
        let length = dot(&next, &next).sqrt();
        if length <= f32::MIN_POSITIVE {
            // The rows do not differ in any other direction.
            return vec![0.0; mean.len()];
        }
        direction = next.into_iter().map(|number| number / length).collect();
    }
    direction
}

/// Scales positions equally in both directions until they fit the unit square, and centers them.
fn in_unit_square(mut positions: Vec<MapPosition>) -> Vec<MapPosition> {
    let bound = |axis: usize, most: fn(f32, f32) -> f32| {
        positions.iter().map(|position| position[axis]).reduce(most).unwrap_or_default()
    };
    let lowest: [f32; 2] = array::from_fn(|axis| bound(axis, f32::min));
    let highest: [f32; 2] = array::from_fn(|axis| bound(axis, f32::max));
    let side = (highest[0] - lowest[0]).max(highest[1] - lowest[1]).max(f32::MIN_POSITIVE);
    for position in &mut positions {
        *position = array::from_fn(|axis| {
            let center = f32::midpoint(lowest[axis], highest[axis]);
            ((position[axis] - center) / side + 0.5).clamp(0.0, 1.0)
        });
    }
    positions
}

fn to_f32(row: &[f16]) -> Vec<f32> {
    row.iter().map(|number| number.to_f32()).collect()
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn add_scaled(sum: &mut [f32], row: &[f32], factor: f32) {
    sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += factor * number);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::neighbor_graph;

    const DIMENSION: usize = 16;
    const GROUPS: usize = 6;

    /// Returns rows around a few random centers. The group of a row is its number modulo the number of groups.
    fn grouped(rows: usize) -> Vectors {
        let random = |seed: u64| (splitmix64(seed) % 2_000) as f32 / 1_000.0 - 1.0;
        let mut vectors = Vectors::new(DIMENSION);
        for row in 0..rows as u64 {
            let number = |at: u64| {
                let center = random(row % GROUPS as u64 * 100 + at);
                center + 0.3 * random(1_000_000 + row * 100 + at)
            };
            let row: Vec<f32> = (0..DIMENSION as u64).map(number).collect();
            let length = dot(&row, &row).sqrt();
            let row: Vec<f16> = row.iter().map(|number| f16::from_f32(number / length)).collect();
            vectors.push(&row);
        }
        vectors
    }

    fn positions(vectors: &Vectors) -> Vec<MapPosition> {
        let graph = neighbor_graph(vectors, 24, |_| true).unwrap();
        map_positions(vectors, &graph, || true).unwrap()
    }

    #[test]
    fn neighbors_on_the_map_are_of_the_same_group() {
        let positions = positions(&grouped(600));
        let distance = |one: usize, other: usize| {
            let (x, y) = offset(positions[one], positions[other]);
            x.hypot(y)
        };
        let same_group = (0..600).filter(|row| {
            let others = (0..600).filter(|other| other != row);
            let nearest = others.min_by(|a, b| distance(*row, *a).total_cmp(&distance(*row, *b)));
            nearest.unwrap() % GROUPS == row % GROUPS
        });
        assert!(same_group.count() > 590);
        assert!(positions.iter().flatten().all(|side| (0.0..=1.0).contains(side)));
    }

    #[test]
    fn positions_are_the_same_on_any_number_of_threads() {
        let vectors = grouped(3_000);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| positions(&vectors))
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn few_and_equal_rows_have_positions() {
        for rows in 0..4 {
            assert_eq!(positions(&grouped(rows)).len(), rows);
        }
        let mut equal = Vectors::new(2);
        (0..50).for_each(|_| equal.push(&[f16::ONE, f16::ZERO]));
        assert!(positions(&equal).iter().flatten().all(|side| side.is_finite()));
        let graph = neighbor_graph(&equal, 24, |_| true).unwrap();
        assert_eq!(map_positions(&equal, &graph, || false), None);
    }
}
