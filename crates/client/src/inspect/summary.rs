//! Counts rows and pictures, and finds those without a counterpart.

use std::{collections::HashSet, fs::File, path::Path};

use super::{
    listing::{ArchiveListing, image_name},
    metadata::{INSPECTED_COLUMNS, SCORE_COLUMN, find_picture},
};
use crate::archive::{ArchiveError, IMAGES_PREFIX, for_each_entry, into_failure};
use tessera_model::{Failure, Inspection, PictureSource, SafeText};
use tessera_wire::{fields::number, preview::read_row_frame};

/// Inspects an archive. Blocks on the disk.
pub fn inspect_archive(path: &Path) -> Result<Inspection, Failure> {
    inspect(path).map_err(|error| {
        into_failure(path, error).with_remedy("Check that it is an export archive")
    })
}

fn inspect(path: &Path) -> Result<Inspection, ArchiveError> {
    let (mut listing, metadata) = ArchiveListing::read(File::open(path)?)?;
    let source =
        |name: &String| PictureSource::Entry(path.into(), format!("{IMAGES_PREFIX}{name}"));
    let mut inspection = Inspection {
        path: path.to_owned(),
        bytes: path.metadata().map_or(0, |metadata| metadata.len()),
        metadata_file: SafeText::file_name(&metadata.name),
        images: listing.images,
        first_images: listing.first_images.iter().map(source).collect(),
        unsafe_entries: listing.rejected,
        ..Inspection::default()
    };
    listing.image_hashes.sort_unstable();
    listing.image_hashes.dedup();
    let index = |name: &str| listing.image_hashes.binary_search(&listing.hasher.hash(name)).ok();
    let mut has_row = vec![false; listing.image_hashes.len()];
    let mut videos = HashSet::new();
    let columns = metadata.for_each_row(Some(INSPECTED_COLUMNS), |row| {
        inspection.rows += 1;
        if let Some(frame) = read_row_frame(&row) {
            inspection.frames += 1;
            videos.insert(listing.hasher.hash(frame.video.as_str()));
        }
        count_score(&mut inspection, number(&row, SCORE_COLUMN));
        match find_picture(&row, index) {
            Some(Ok(index)) => has_row[index] = true,
            Some(Err(name)) => inspection.rows_without_file.add(name),
            None => {}
        }
        Ok(())
    })?;
    inspection.videos = videos.len() as u64;
    inspection.columns = columns.iter().map(|name| SafeText::name(name)).collect();
    if has_row.contains(&false) {
        // Names are not kept, so they are read again.
        for_each_entry(File::open(path)?, |entry| {
            if let Some(name) = image_name(&entry)
                && let Some(index) = index(name)
                && !std::mem::replace(&mut has_row[index], true)
            {
                inspection.files_without_row.add(name);
            }
            Ok(())
        })?;
    }
    Ok(inspection)
}

fn count_score(inspection: &mut Inspection, score: Option<f64>) {
    match score.filter(|score| (0.0..=1.0).contains(score)) {
        Some(score) => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 0.0 to 10.0"
            )]
            let bin = (score * 10.0) as usize;
            inspection.uniqueness[bin.min(Inspection::BINS - 1)] += 1;
        }
        None => inspection.unscored += 1,
    }
}
