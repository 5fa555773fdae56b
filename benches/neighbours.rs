//! Exact nearest neighbours: one query against 100,000 rows, and the whole graph of 5,000.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use half::f16;
use tessera::local::{
    cluster::cluster,
    search::{Vectors, graph},
};

/// Unit vectors of 256 numbers around a hundred centres, the same in every run.
fn vectors(count: usize) -> Vectors {
    let mut state = 1_u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        f32::from((state >> 48) as u16) / 65_536.0 - 0.5
    };
    let centres: Vec<Vec<f32>> = (0..100).map(|_| (0..256).map(|_| number()).collect()).collect();
    let mut vectors = Vectors::new(256);
    for row in 0..count {
        let look: Vec<f32> = centres[row % 100].iter().map(|c| c + 0.8 * number()).collect();
        let length = look.iter().map(|v| v * v).sum::<f32>().sqrt();
        vectors.push(&look.iter().map(|v| f16::from_f32(v / length)).collect::<Vec<_>>());
    }
    vectors
}

fn bench(criterion: &mut Criterion) {
    let many = vectors(100_000);
    criterion.bench_function("nearest 50 of 100,000 x 256", |bencher| {
        bencher.iter(|| many.nearest(black_box(many.row(7)), 50));
    });
    let some = vectors(5_000);
    criterion.bench_function("graph of 5,000 x 256, k 16", |bencher| {
        bencher.iter(|| graph(black_box(&some), 16, |_| true));
    });
    let neighbours = graph(&some, 16, |_| true).unwrap();
    criterion.bench_function("five granularities of 5,000", |bencher| {
        bencher.iter(|| cluster(black_box(&some), &neighbours, &[]));
    });
}

criterion_group! {
    name = neighbours;
    config = Criterion::default().sample_size(10);
    targets = bench
}
criterion_main!(neighbours);
