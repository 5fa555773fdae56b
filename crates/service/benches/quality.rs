//! Measures how many copies of photographs are found, and with how many false results: as near-duplicates of a dataset,
//! and by the scores of searches by a picture.
//!
//! The photographs are not in the repository. Run `cargo bench --bench quality -- FOLDER FIRST`, for example with the
//! 1,000 photographs of "imagenet-sample-images". Every fifth photograph, starting at number FIRST (0 to 4), is edited,
//! so that constants can be chosen on some photographs and evaluated on others.

#![expect(clippy::unwrap_used, reason = "a bench fails where its world is not as said")]
#![expect(clippy::print_stdout, reason = "it prints the measurements")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "shares of small counts, and pixels within their range"
)]

mod edited_photographs;

use std::{env, path::Path};

use edited_photographs::{EDIT_KINDS, EDITS, Edits, jpeg, photographs};
use image::RgbImage;
use rayon::prelude::*;
use tessera_search::{
    index::{DIMENSION, Features, Keypoints, extract},
    similarity::{
        CopySearch, GroupedRow, Vectors, near_duplicates, neighbor_graph, order_by_group,
    },
};

const NEIGHBORS: usize = 24;
/// One in this many photographs is edited.
const PHOTOGRAPHS_PER_EDITED: usize = 5;
/// Results of a search that are nearer than this count as copies. The value was chosen on other photographs.
const COPY_DISTANCE: f32 = 0.1;
/// The number of first results among which the copy is expected.
const FIRST_RESULTS: usize = 5;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|it| it != "--bench").collect();
    // `cargo test --benches` passes no such argument, because it only checks that the bench compiles.
    let [folder, first, ..] = &arguments[..] else { return };
    let photographs = photographs(Path::new(folder));
    let first = first.parse().unwrap();
    for (what, edits) in EDIT_KINDS {
        let collection = Collection::new(&photographs, first, edits);
        println!("{what}: {} media items", collection.items.len());
        collection.print_duplicates();
        collection.print_searches();
    }
}

/// Returns the pairs of rows in a group.
fn all_pairs(group: &[GroupedRow]) -> Vec<(u32, u32)> {
    let pairs_of = |at: usize| group[at + 1..].iter().map(move |other| (group[at].row, other.row));
    (0..group.len()).flat_map(pairs_of).collect()
}

/// Media items: photographs, each followed by its edits, and then all other photographs.
struct Collection {
    items: Vec<Features>,
    /// The number of photographs that are edited.
    edited: usize,
    vectors: Vectors,
}

/// The results of a measurement: the number of found edits of each kind, and the number of other results.
#[derive(Default)]
struct Found {
    by_edit: [usize; EDITS],
    right: usize,
    wrong: usize,
}

impl Found {
    fn print(&self, what: &str, edited: usize) {
        let share = |count: usize| count as f64 / edited as f64;
        let by_edit = self.by_edit.map(|count| format!("{:.3}", share(count))).join(", ");
        println!(
            "  {what}: recall {:.3} ({by_edit}), precision {:.4}",
            share(self.by_edit.iter().sum()) / EDITS as f64,
            self.right as f64 / (self.right + self.wrong).max(1) as f64,
        );
    }
}

impl Collection {
    fn new(photographs: &[RgbImage], first: usize, edits: Edits) -> Self {
        let is_edited = |number: usize| number % PHOTOGRAPHS_PER_EDITED == first;
        let numbered = || photographs.iter().enumerate();
        let edited: Vec<&RgbImage> =
            numbered().filter(|(number, _)| is_edited(*number)).map(|it| it.1).collect();
        let others = numbered().filter(|(number, _)| !is_edited(*number)).map(|it| it.1);
        let files = |photograph: &&RgbImage| {
            let original = [jpeg(photograph, 90)];
            original.into_iter().chain(edits(photograph)).collect::<Vec<_>>()
        };
        let mut all: Vec<Vec<u8>> = edited.par_iter().flat_map(files).collect();
        all.extend(others.map(|photograph| jpeg(photograph, 90)));
        let items: Vec<Features> = all.par_iter().map(|file| extract(file).unwrap()).collect();
        let mut vectors = Vectors::new(DIMENSION);
        for item in &items {
            vectors.push(&item.descriptor);
        }
        Self { items, edited: edited.len(), vectors }
    }

    /// Returns the photograph that a media item is or was edited from, and the number of the edit.
    fn origin(&self, row: usize) -> Option<(usize, usize)> {
        let (photograph, edit) = (row / (EDITS + 1), row % (EDITS + 1));
        (photograph < self.edited).then_some((photograph, edit))
    }

    /// Prints precision and recall of the pairs that are similar, and of the pairs in groups, which are the results of
    /// a search for duplicates. Recall counts pairs of a photograph and an edit; precision counts all pairs.
    fn print_duplicates(&self) {
        let keypoints: Vec<Keypoints> =
            self.items.iter().map(|item| item.keypoints.clone()).collect();
        let graph = neighbor_graph(&self.vectors, NEIGHBORS, |_| true).unwrap();
        let pairs = near_duplicates(&*keypoints, &graph, |_| true).unwrap().unwrap();
        let order = order_by_group(&pairs, self.items.len());
        for least in [0.0, 0.9, 0.95] {
            let similar = pairs.iter().filter(|pair| pair.similarity >= least);
            let found = self.compare(similar.map(|pair| pair.rows));
            found.print(&format!("near-duplicates from {least:.2}"), self.edited);
            let groups = order.chunk_by(|_, next| next.link > 0.0 && next.link >= least);
            let found = self.compare(groups.flat_map(all_pairs));
            found.print(&format!("groups of near-duplicates from {least:.2}"), self.edited);
        }
    }

    /// Compares pairs of rows with the photographs that they were edited from.
    fn compare(&self, pairs: impl Iterator<Item = (u32, u32)>) -> Found {
        let mut found = Found::default();
        for (one, other) in pairs {
            let [one, other] =
                [one.min(other), one.max(other)].map(|row| self.origin(row as usize));
            match (one, other) {
                (Some((photograph, edit)), Some((of, other))) if photograph == of => {
                    found.right += 1;
                    if edit == 0 {
                        found.by_edit[other - 1] += 1;
                    }
                }
                _ => found.wrong += 1,
            }
        }
        found
    }

    fn print_searches(&self) {
        let searches: Vec<(usize, Vec<f32>)> = (0..self.edited)
            .into_par_iter()
            .map(|photograph| photograph * (EDITS + 1))
            .map(|row| (row, self.search(row)))
            .collect();
        let (mut near, mut first) = (Found::default(), Found::default());
        for (query, distances) in &searches {
            let photograph = self.origin(*query).map(|origin| origin.0);
            let others: Vec<usize> = (0..self.items.len())
                .filter(|&row| self.origin(row).map(|origin| origin.0) != photograph)
                .collect();
            let nearest = |limit: f32| others.iter().filter(move |&&row| distances[row] <= limit);
            near.wrong += nearest(COPY_DISTANCE).count();
            for edit in 1..=EDITS {
                let distance = distances[query + edit];
                let is_near = distance <= COPY_DISTANCE;
                near.by_edit[edit - 1] += usize::from(is_near);
                near.right += usize::from(is_near);
                // Edits other than this one are not counted.
                let is_first = nearest(distance).count() < FIRST_RESULTS;
                first.by_edit[edit - 1] += usize::from(is_first);
            }
        }
        near.print(&format!("search, distance up to {COPY_DISTANCE}"), self.edited);
        first.right = 1;
        first.print(&format!("search, first {FIRST_RESULTS} results"), self.edited);
    }

    /// Returns the distances of all media items from one of them, as a search computes them.
    fn search(&self, row: usize) -> Vec<f32> {
        let query = &self.items[row];
        let mut distances = self.vectors.distances(&query.descriptor);
        if let Some(search) = CopySearch::new(&query.keypoints, &query.thumbnail) {
            let hashes: Vec<u64> = self.items.iter().map(|item| item.hash).collect();
            let candidates = search.candidates(&distances, &hashes);
            let keypoints = |row: u32| Some(&self.items[row as usize].keypoints);
            for (row, distance) in search.copies(&candidates, keypoints) {
                let known = &mut distances[row as usize];
                *known = known.min(distance);
            }
        }
        distances
    }
}
