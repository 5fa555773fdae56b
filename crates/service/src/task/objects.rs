//! Opens the pictures whose objects are new on all cores, and writes what the index keeps of each
//! object.

use std::{
    io::Read as _,
    panic::{AssertUnwindSafe, catch_unwind},
};

use rayon::prelude::*;

use super::{End, Workshop, describe::Unseen};
use crate::{
    index::{self, Features},
    ingest::Folder,
    store::object::{self, Part},
};

/// Pictures opened and written at a time: bounds the memory, and syncs the disk seldom.
const BATCH: usize = 32;

/// Extracts the objects of pictures. One that cannot be opened any more has none.
///
/// # Errors
/// Stopped, or the store failed; what was written stays.
pub fn extract_objects(shop: &Workshop, folder: &Folder, pictures: &[Unseen]) -> Result<(), End> {
    for batch in pictures.chunks(BATCH) {
        shop.go_on()?;
        let seen: Vec<Vec<Features>> =
            batch.par_iter().map(|picture| look(folder, picture).unwrap_or_default()).collect();
        shop.store.write(|tx| {
            for (Unseen { picture, objects }, features) in batch.iter().zip(&seen) {
                let parts: Vec<Part> = objects
                    .iter()
                    .zip(features)
                    .map(|((label, region), features)| Part { label, region: *region, features })
                    .collect();
                object::put(tx, picture.row, &parts)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn look(folder: &Folder, unseen: &Unseen) -> Option<Vec<Features>> {
    if unseen.objects.is_empty() {
        return Some(Vec::new());
    }
    let mut bytes = Vec::new();
    folder.file(&unseen.picture.path).ok()?.read_to_end(&mut bytes).ok()?;
    let regions: Vec<_> = unseen.objects.iter().map(|(_, region)| *region).collect();
    catch_unwind(AssertUnwindSafe(|| index::extract_regions(&bytes, &regions))).ok()?.ok()
}
