//! What is noticed about the rows of all sidecars while their descriptions are merged. Start here to see what a sidecar
//! is reported for although each of its rows is valid.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use tessera_model::text::count_with_noun;

use crate::ingest::file_names::printable_path;

/// The number of pictures that a sidecar (first) and another sidecar (second) both describe.
type SharedPictures = BTreeMap<(PathBuf, Arc<Path>), usize>;

#[derive(Default)]
pub(super) struct RowFindings {
    /// The limits that descriptions reach, by sidecar.
    reached_limits: BTreeMap<PathBuf, BTreeSet<&'static str>>,
    /// The number of objects for which there was no room beside those of other rows or sidecars, by sidecar.
    further_objects: BTreeMap<PathBuf, usize>,
    /// The number of rows whose boxes are in another unit than those of an earlier row of the picture, by sidecar.
    other_units: BTreeMap<PathBuf, usize>,
    /// The pictures for which the first sidecar is not used, because the second one is.
    unused: SharedPictures,
    /// The pictures that get objects from two sidecars of which only one has scores.
    predicted: SharedPictures,
}

impl RowFindings {
    pub fn add_limits(&mut self, sidecar: &Path, limits: BTreeSet<&'static str>) {
        if !limits.is_empty() {
            self.reached_limits.entry(sidecar.to_owned()).or_default().extend(limits);
        }
    }

    pub fn add_further_objects(&mut self, sidecar: &Path, count: usize) {
        if count > 0 {
            *self.further_objects.entry(sidecar.to_owned()).or_default() += count;
        }
    }

    pub fn add_other_unit(&mut self, sidecar: &Path) {
        *self.other_units.entry(sidecar.to_owned()).or_default() += 1;
    }

    pub fn add_unused(&mut self, sidecar: &Path, used: Arc<Path>) {
        *self.unused.entry((sidecar.to_owned(), used)).or_default() += 1;
    }

    pub fn add_predicted(&mut self, sidecar: &Path, other: Arc<Path>) {
        *self.predicted.entry((sidecar.to_owned(), other)).or_default() += 1;
    }

    /// Returns the findings as problems of their sidecars.
    pub fn problems(self) -> impl Iterator<Item = (PathBuf, String)> {
        let each_limit = |(sidecar, limits): (PathBuf, BTreeSet<&'static str>)| {
            limits.into_iter().map(move |limit| (sidecar.clone(), limit.to_owned()))
        };
        let limits = self.reached_limits.into_iter().flat_map(each_limit);
        let further = self.further_objects.into_iter().map(|(sidecar, count)| {
            let objects = count_with_noun(count, "object is", "objects are");
            (sidecar, format!("{objects} not kept, because a picture has at most 4,096"))
        });
        let other_units = self.other_units.into_iter().map(|(sidecar, count)| {
            let rows = count_with_noun(count, "row states", "rows state");
            let why = format!(
                "{rows} another size or unit than an earlier row of the picture, so the boxes are not used; state \
                 the same in all rows of a picture"
            );
            (sidecar, why)
        });
        let unused = self.unused.into_iter().map(|((sidecar, used), count)| {
            let pictures = count_with_noun(count, "picture", "pictures");
            let used = printable_path(&used);
            (sidecar, format!("what it says about {pictures} differs from {used}, and is not used"))
        });
        let predicted = self.predicted.into_iter().map(|((sidecar, other), count)| {
            let pictures = count_with_noun(count, "picture", "pictures");
            let why = format!(
                "its objects are added to those of {} in {pictures}, and only one of the files has scores; exclude it \
                 if it has predictions",
                printable_path(&other)
            );
            (sidecar, why)
        });
        limits.chain(further).chain(other_units).chain(unused).chain(predicted)
    }
}
