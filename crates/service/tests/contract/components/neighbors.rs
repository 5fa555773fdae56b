//! Nearest neighbors and the neighbor graph.

use half::f16;
use proptest::prelude::*;
use tessera_search::similarity::{
    Neighbor, NeighborGraph, Vectors, approximate_neighbor_graph, neighbor_graph,
};

/// Pseudorandom unit vectors, always the same.
pub fn vectors(count: usize, dimension: usize) -> Vectors {
    let mut state = 1_u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        f32::from((state >> 48) as u16) / 65_536.0 - 0.5
    };
    let mut vectors = Vectors::new(dimension);
    for _ in 0..count {
        let row: Vec<f32> = (0..dimension).map(|_| number()).collect();
        let length = row.iter().map(|v| v * v).sum::<f32>().sqrt().max(1e-6);
        let unit: Vec<f16> = row.iter().map(|v| f16::from_f32(v / length)).collect();
        vectors.push(&unit);
    }
    vectors
}

/// The definition in double precision, never below 0.
fn brute(vectors: &Vectors, query: &[f16]) -> Vec<f64> {
    (0..vectors.len())
        .map(|row| {
            if vectors.row(row) == query {
                return 0.0;
            }
            let pairs = vectors.row(row).iter().zip(query);
            let similarity: f64 = pairs.map(|(a, b)| a.to_f64() * b.to_f64()).sum();
            (1.0 - similarity).max(0.0)
        })
        .collect()
}

/// Checks that these are the neighbors of `row`, nearest first.
fn agree(found: &[Neighbor], vectors: &Vectors, row: usize) {
    let exact = brute(vectors, vectors.row(row));
    let mut sorted: Vec<f64> = exact.clone();
    sorted.remove(row);
    sorted.sort_by(f64::total_cmp);
    for (neighbor, expected) in found.iter().zip(sorted) {
        assert!((f64::from(neighbor.distance) - expected).abs() < 1e-5);
        assert!((exact[neighbor.row as usize] - expected).abs() < 1e-5);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn distances_and_graph_match_brute_force(
        count in 0_usize..300, dimension in 1_usize..40, k in 0_usize..20,
    ) {
        let vectors = vectors(count, dimension);
        let graph = neighbor_graph(&vectors, k, |_| true).unwrap();
        prop_assert_eq!(graph.len(), count);
        for row in (0..count).step_by(17) {
            let query = vectors.row(row);
            let distances = vectors.distances(query);
            prop_assert_eq!(distances.len(), count);
            for (distance, exact) in distances.into_iter().zip(brute(&vectors, query)) {
                prop_assert!((f64::from(distance) - exact).abs() < 1e-5);
            }
            prop_assert_eq!(graph[row].len(), k.min(count - 1));
            prop_assert!(graph[row].iter().all(|other| other.row as usize != row));
            agree(&graph[row], &vectors, row);
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let vectors = vectors(700, 64);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (neighbor_graph(&vectors, 9, |_| true), vectors.distances(vectors.row(3))))
    };
    assert_eq!(with(1), with(5));
}

#[test]
fn graph_reports_progress_and_can_be_canceled() {
    let vectors = vectors(300, 8);
    let last = std::sync::Mutex::new(0.0_f32);
    let heard = |share: f32| {
        let mut last = last.lock().unwrap();
        *last = last.max(share);
        true
    };
    assert!(neighbor_graph(&vectors, 3, heard).is_some());
    assert!((*last.lock().unwrap() - 1.0).abs() < 1e-6);
    assert_eq!(neighbor_graph(&vectors, 3, |_| false), None);
}

#[test]
fn equal_rows_are_neighbors_in_row_order() {
    let mut same = Vectors::new(32);
    let row = vectors(1, 32).row(0).to_vec();
    (0..150).for_each(|_| same.push(&row));
    for (row, nearest) in neighbor_graph(&same, 3, |_| true).unwrap().iter().enumerate() {
        let expected: Vec<u32> = (0..).filter(|&other| other as usize != row).take(3).collect();
        assert_eq!(nearest.iter().map(|n| n.row).collect::<Vec<_>>(), expected);
        assert!(nearest.iter().all(|n| n.distance < 1e-3));
    }
}

/// Rows that are similar in families of `members`, which follow each other.
fn families(count: usize, members: usize) -> Vectors {
    let (centers, noise) = (vectors(count.div_ceil(members), 16), vectors(count, 16));
    let mut vectors = Vectors::new(16);
    for row in 0..count {
        let near = centers.row(row / members).iter().zip(noise.row(row));
        let near: Vec<f32> = near.map(|(a, b)| a.to_f32() + 0.3 * b.to_f32()).collect();
        let length = near.iter().map(|v| v * v).sum::<f32>().sqrt();
        let unit: Vec<f16> = near.iter().map(|v| f16::from_f32(v / length)).collect();
        vectors.push(&unit);
    }
    vectors
}

#[test]
fn approximate_graph_has_nearly_all_neighbors_at_their_distances() {
    let vectors = families(600, 12);
    let graph = approximate_neighbor_graph(&vectors, 16, |_| true).unwrap();
    let exact = neighbor_graph(&vectors, 16, |_| true).unwrap();
    let mut found = 0;
    for (row, (nearest, exact)) in graph.iter().zip(exact.iter()).enumerate() {
        assert!(nearest.is_sorted_by(|a, b| a.order(b).is_lt()));
        assert!(nearest.iter().all(|other| other.row as usize != row));
        let distances = vectors.distances(vectors.row(row));
        for other in nearest {
            assert!((other.distance - distances[other.row as usize]).abs() < 1e-6);
            found += usize::from(exact.iter().any(|expected| expected.row == other.row));
        }
    }
    assert!(found * 1000 >= 600 * 16 * 995, "{found}");
}

#[test]
fn approximate_graph_is_the_same_with_any_number_of_threads() {
    let vectors = families(300, 12);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| approximate_neighbor_graph(&vectors, 5, |_| true))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn approximate_graph_connects_many_equal_rows() {
    let mut same = Vectors::new(16);
    let row = vectors(1, 16).row(0).to_vec();
    (0..600).for_each(|_| same.push(&row));
    let graph = approximate_neighbor_graph(&same, 4, |_| true).unwrap();
    let (mut reached, mut open) = (vec![false; 600], vec![0_usize]);
    while let Some(row) = open.pop() {
        if !std::mem::replace(&mut reached[row], true) {
            assert_eq!(graph[row].len(), 4);
            open.extend(graph[row].iter().map(|other| other.row as usize));
            let back = (0..600).filter(|&other| graph[other].iter().any(|n| n.row as usize == row));
            open.extend(back);
        }
    }
    assert!(reached.iter().all(|reached| *reached));
}

#[test]
fn approximate_graph_reports_progress_and_can_be_canceled() {
    let vectors = families(300, 12);
    let last = std::sync::Mutex::new(0.0_f32);
    let heard = |share: f32| {
        let mut last = last.lock().unwrap();
        *last = last.max(share);
        true
    };
    assert!(approximate_neighbor_graph(&vectors, 3, heard).is_some());
    assert!((*last.lock().unwrap() - 1.0).abs() < 1e-6);
    for share in [0.1, 0.99] {
        assert_eq!(approximate_neighbor_graph(&vectors, 3, |done| done < share), None);
    }
}

#[test]
fn dataset_without_rows_has_no_neighbors() {
    for empty in [Vectors::default(), Vectors::new(256)] {
        assert!(empty.distances(&[]).is_empty());
        assert_eq!(neighbor_graph(&empty, 5, |_| true), Some(NeighborGraph::new(0, 5)));
        assert_eq!(approximate_neighbor_graph(&empty, 5, |_| true), Some(NeighborGraph::new(0, 5)));
    }
}
