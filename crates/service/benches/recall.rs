//! Measures how many of the nearest neighbors of photographs and their edits the approximate neighbor graph finds among
//! many other media items, and the processor time of the graph.
//!
//! The photographs are not in the repository. Run `cargo bench --bench recall -- FOLDER COUNT`, for example with the
//! 1,000 photographs of "imagenet-sample-images". The other media items are mixtures of two descriptors of photographs.

#![expect(clippy::unwrap_used, reason = "a bench fails where its world is not as said")]
#![expect(clippy::print_stdout, reason = "it prints the measurements")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "shares of small counts, and pixels within their range"
)]

mod edited_photographs;
mod processor_time;

use std::{env, path::Path};

use edited_photographs::{EDIT_KINDS, jpeg, photographs};
use half::f16;
use image::RgbImage;
use processor_time::cpu_seconds;
use rayon::prelude::*;
use tessera_search::{
    index::{DIMENSION, extract},
    similarity::{Vectors, approximate_neighbor_graph},
};

const NEIGHBORS: usize = 24;
/// The number of photographs, and of other media items, whose neighbors are compared with the exact ones.
const SAMPLES: usize = 500;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    // `cargo test --benches` passes no such argument, because it only checks that the bench compiles.
    let [folder, count, ..] = &arguments[..] else { return };
    let edited = described(&photographs(Path::new(folder)));
    let vectors = among_mixtures(&edited, count.parse().unwrap());
    let used = cpu_seconds();
    let graph = approximate_neighbor_graph(&vectors, NEIGHBORS, |_| true).unwrap();
    println!("graph of {} media items: {:.1} CPU s", vectors.len(), cpu_seconds() - used);
    let recall = |rows: &mut dyn Iterator<Item = usize>| {
        let shares: Vec<f64> = rows
            .map(|row| {
                let farthest = exact_distance(&vectors, row) + 1e-6;
                let found = graph[row].iter().filter(|other| other.distance <= farthest);
                found.count() as f64 / NEIGHBORS as f64
            })
            .collect();
        shares.iter().sum::<f64>() / shares.len() as f64
    };
    let photographs = recall(&mut (0..edited.len()).step_by(edited.len().div_ceil(SAMPLES)));
    println!("recall of the neighbors of photographs and their edits: {photographs:.4}");
    let all = recall(&mut (0..vectors.len()).step_by(vectors.len().div_ceil(SAMPLES)));
    println!("recall of the neighbors of all media items: {all:.4}");
}

/// Returns the distance of the last of the nearest rows.
fn exact_distance(vectors: &Vectors, row: usize) -> f32 {
    let mut distances = vectors.distances(vectors.row(row));
    distances[row] = f32::INFINITY;
    *distances.select_nth_unstable_by(NEIGHBORS - 1, f32::total_cmp).1
}

/// Returns the descriptors of each photograph and its edits, one after the other.
fn described(photographs: &[RgbImage]) -> Vec<Vec<f16>> {
    let descriptors = |photograph: &RgbImage| {
        let edits = EDIT_KINDS.iter().flat_map(|(_, edits)| edits(photograph));
        let files = [jpeg(photograph, 90)].into_iter().chain(edits);
        files.map(|file| extract(&file).unwrap().descriptor).collect::<Vec<_>>()
    };
    photographs.par_iter().flat_map(descriptors).collect()
}

/// Returns the descriptors, followed by mixtures of two of them with a little noise, `count` in total.
fn among_mixtures(descriptors: &[Vec<f16>], count: usize) -> Vectors {
    let mut vectors = Vectors::new(DIMENSION);
    descriptors.iter().take(count).for_each(|descriptor| vectors.push(descriptor));
    let mut state = 1_u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / (1 << 24) as f32
    };
    while vectors.len() < count {
        let mut choose = || &descriptors[(number() * descriptors.len() as f32) as usize];
        let (one, other) = (choose(), choose());
        let share = 0.5 + 0.5 * number();
        let mixed = one.iter().zip(other).map(|(one, other)| {
            share * one.to_f32() + (1.0 - share) * other.to_f32() + 0.01 * (number() - 0.5)
        });
        let mixed: Vec<f32> = mixed.collect();
        let length = mixed.iter().map(|value| value * value).sum::<f32>().sqrt();
        let unit: Vec<f16> = mixed.iter().map(|value| f16::from_f32(value / length)).collect();
        vectors.push(&unit);
    }
    vectors
}
