//! Measures the processor time of finding near-duplicates, among photographs, their edits, and many other media items.
//! The bench `quality` measures how many are found.
//!
//! The photographs are not in the repository. Run `cargo bench --bench duplicates -- FOLDER COUNT...`, for example with
//! the 1,000 photographs of "imagenet-sample-images". Each COUNT is reached by adding media items with mixed
//! descriptors and corners.

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
    index::{DIMENSION, Features, Keypoints, extract},
    similarity::{DuplicatePair, Vectors, near_duplicates, neighbor_graph},
};

const NEIGHBORS: usize = 24;
/// One in this many photographs is edited, and twice as many are not.
const PHOTOGRAPHS_PER_EDITED: usize = 5;
/// The share of the bits of a corner that differ in a mixed media item.
const CHANGED_BITS: f32 = 0.08;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|it| it != "--bench").collect();
    // `cargo test --benches` passes no such argument, because it only checks that the bench compiles.
    let [folder, counts @ ..] = &arguments[..] else { return };
    let photographs = photographs(Path::new(folder));
    let edited = Collection::new(&photographs);
    for count in counts {
        edited.filled_up(count.parse().unwrap()).print_time();
    }
}

/// Media items: photographs, each followed by its edits, and then media items without edits.
#[derive(Clone)]
struct Collection {
    items: Vec<(Vec<f16>, Keypoints)>,
}

impl Collection {
    fn new(photographs: &[RgbImage]) -> Self {
        let edited: Vec<&RgbImage> = photographs.iter().step_by(PHOTOGRAPHS_PER_EDITED).collect();
        let others = photographs.iter().skip(1).step_by(PHOTOGRAPHS_PER_EDITED);
        let others = others.chain(photographs.iter().skip(3).step_by(PHOTOGRAPHS_PER_EDITED));
        let files = |photograph: &&RgbImage| {
            let original = [jpeg(photograph, 90)];
            let edits = EDIT_KINDS.iter().flat_map(|(_, edits)| edits(photograph));
            original.into_iter().chain(edits).collect::<Vec<_>>()
        };
        let mut all: Vec<Vec<u8>> = edited.par_iter().flat_map(files).collect();
        all.extend(others.map(|photograph| jpeg(photograph, 90)));
        let item = |file: &Vec<u8>| {
            let Features { descriptor, keypoints, .. } = extract(file).unwrap();
            (descriptor, keypoints)
        };
        Self { items: all.par_iter().map(item).collect() }
    }

    /// Returns the pairs of near-duplicates, and the processor time of finding them without the time of the graph.
    fn pairs(&self) -> (Vec<DuplicatePair>, f64) {
        let mut vectors = Vectors::new(DIMENSION);
        self.items.iter().for_each(|(descriptor, _)| vectors.push(descriptor));
        let keypoints: Vec<Keypoints> = self.items.iter().map(|item| item.1.clone()).collect();
        let graph = neighbor_graph(&vectors, NEIGHBORS, |_| true).unwrap();
        let used = cpu_seconds();
        let pairs = near_duplicates(&*keypoints, &graph, |_| true).unwrap().unwrap();
        (pairs, cpu_seconds() - used)
    }

    fn print_time(&self) {
        let (pairs, time) = self.pairs();
        println!("{} media items: {time:.1} CPU s, {} pairs", self.items.len(), pairs.len());
    }

    /// Adds media items until there are `count`. The descriptor of an added item is a mixture of two descriptors, and
    /// its corners are chosen from all items, with some bits changed.
    fn filled_up(&self, count: usize) -> Self {
        let mut filled = self.clone();
        let mut state = 1_u64;
        let mut number = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f32 / (1 << 24) as f32
        };
        let known = self.items.len() as f32;
        let corners: Vec<[u8; Keypoints::ENCODED_SIZE]> =
            self.items.iter().flat_map(|item| item.1.as_bytes().as_chunks().0).copied().collect();
        while filled.items.len() < count {
            let mut choose = || &self.items[(number() * known) as usize].0;
            let (one, other) = (choose(), choose());
            let share = 0.5 + 0.5 * number();
            let mixed = one.iter().zip(other);
            let mixed = mixed.map(|(one, other)| {
                let mixture = share * one.to_f32() + (1.0 - share) * other.to_f32();
                mixture + 0.01 * (number() - 0.5)
            });
            let mixed: Vec<f32> = mixed.collect();
            let length = mixed.iter().map(|value| value * value).sum::<f32>().sqrt();
            let unit = mixed.iter().map(|value| f16::from_f32(value / length)).collect();
            let mut keypoints = Vec::with_capacity(64 * Keypoints::ENCODED_SIZE);
            for _ in 0..64 {
                let mut corner = corners[(number() * corners.len() as f32) as usize];
                for _ in 0..(128.0 * CHANGED_BITS) as usize {
                    let bit = (number() * 128.0) as usize;
                    corner[3 + bit / 8] ^= 1 << (bit % 8);
                }
                keypoints.extend(corner);
            }
            filled.items.push((unit, Keypoints::from_bytes(&keypoints)));
        }
        filled
    }
}
