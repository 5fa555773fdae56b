//! Measures exact nearest neighbors: the distances from one query, the whole graph, near-duplicates and clusters.

#![expect(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "a bench makes its numbers with plain arithmetic and may stop at a failure"
)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use half::f16;
use tessera_search::{
    cluster::cluster,
    index::Keypoints,
    similarity::{Vectors, near_duplicates, neighbor_graph},
};

/// Returns deterministic pseudorandom bits.
fn bits(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 32
    }
}

/// Returns unit vectors of 256 numbers around a hundred centers.
fn vectors(count: usize) -> Vectors {
    let mut bits = bits(1);
    let mut number = || f32::from((bits() >> 16) as u16) / 65_536.0 - 0.5;
    let centres: Vec<Vec<f32>> = (0..100).map(|_| (0..256).map(|_| number()).collect()).collect();
    let mut vectors = Vectors::new(256);
    for row in 0..count {
        let look: Vec<f32> = centres[row % 100].iter().map(|c| c + 0.8 * number()).collect();
        let length = look.iter().map(|v| v * v).sum::<f32>().sqrt();
        vectors.push(&look.iter().map(|v| f16::from_f32(v / length)).collect::<Vec<_>>());
    }
    vectors
}

/// Returns keypoints whose descriptors are variants of a few thousand, as in photographs.
fn keypoints(count: usize) -> Vec<Keypoints> {
    let mut bits = bits(2);
    let ordinary: Vec<u128> =
        (0..4096).map(|_| (0..4).fold(0, |word, _| word << 32 | u128::from(bits()))).collect();
    let mut corner = |packed: &mut Vec<u8>| {
        let mut word = ordinary[(bits() % 4096) as usize];
        (0..12).for_each(|_| word ^= 1 << (bits() % 128));
        packed.extend([bits() as u8, (bits() % 192) as u8]);
        packed.extend(word.to_le_bytes());
    };
    (0..count)
        .map(|_| {
            let mut packed = Vec::new();
            (0..64).for_each(|_| corner(&mut packed));
            Keypoints::from_bytes(&packed)
        })
        .collect()
}

fn queries(criterion: &mut Criterion) {
    let all = vectors(1_000_000);
    criterion.bench_function("distances of 1,000,000 x 256", |bencher| {
        bencher.iter(|| all.distances(black_box(all.row(7))));
    });
}

fn arrangement(criterion: &mut Criterion) {
    let some = vectors(5_000);
    criterion.bench_function("graph of 5,000 x 256, k 16", |bencher| {
        bencher.iter(|| neighbor_graph(black_box(&some), 16, |_| true));
    });
    let neighbours = neighbor_graph(&some, 16, |_| true).unwrap();
    criterion.bench_function("five granularities of 5,000", |bencher| {
        bencher.iter(|| cluster(black_box(&some), &neighbours, &[]));
    });
    let keypoints = keypoints(5_000);
    criterion.bench_function("near-duplicates of 5,000", |bencher| {
        bencher.iter(|| near_duplicates(black_box(&*keypoints), &neighbours, |_| true));
    });
}

criterion_group! {
    name = neighbours;
    config = Criterion::default().sample_size(10);
    targets = queries, arrangement
}
criterion_main!(neighbours);
