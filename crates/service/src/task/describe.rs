//! Gives the media of a source the words that the sidecars beside them tell, and finds the objects
//! that they name.
//!
//! All sidecars are read whenever a folder is indexed: that is quick beside everything else, and
//! serves a changed sidecar, a new picture and a kill in the middle alike. Only what changed is
//! written, and only pictures whose objects changed are opened again.

use super::{End, Workshop, objects::extract_objects};
use crate::{
    ingest::{Folder, Survey, sidecar::Reading},
    store::{
        intake, object,
        sidecar::{self as descriptions, Described, Words},
        source::Source,
    },
};

/// A picture and the objects in it, by name and region, that are not in the store.
pub struct Unseen {
    /// The picture.
    pub picture: Described,
    /// Its objects: names and where they are, in fractions.
    pub objects: Vec<(String, tessera_model::Region)>,
}

/// Brings words and objects in line with what `reading` tells. Sidecars with faults are named among
/// the skipped files; what is good in them counts.
///
/// # Errors
/// Stopped, or the store failed.
pub fn describe(
    shop: &Workshop,
    source: &Source,
    folder: &Folder,
    survey: &Survey,
    reading: &Reading,
) -> Result<(), End> {
    let pictures = shop.store.read(|c| descriptions::all(c, source.row))?;
    shop.store.write(|tx| {
        for found in &survey.files {
            let (path, stamp) = (&found.path, found.stamp);
            if let Some(why) = reading.problems.get(path) {
                intake::skip(tx, source.row, path, Some(stamp), why)?;
            } else if reading.sidecars.contains(path) {
                descriptions::read(tx, source.row, path, stamp)?;
            }
        }
        for picture in &pictures {
            let words = words(reading, picture);
            if words != picture.words {
                descriptions::describe(tx, picture.row, &words)?;
            }
        }
        Ok(())
    })?;
    extract_objects(shop, folder, &unseen(shop, pictures, reading)?)
}

fn words(reading: &Reading, picture: &Described) -> Words {
    let told = reading.descriptions.get(&picture.path);
    told.map_or_else(Words::default, |told| Words {
        caption: told.caption.clone(),
        labels: told.labels.clone(),
        tags: told.tags.clone(),
    })
}

/// The pictures whose objects are not those in the store.
fn unseen(
    shop: &Workshop,
    pictures: Vec<Described>,
    reading: &Reading,
) -> Result<Vec<Unseen>, End> {
    let mut unseen = Vec::new();
    shop.store.read(|c| {
        for picture in pictures {
            let told = reading.descriptions.get(&picture.path);
            let boxes = told.map(|told| told.objects.as_slice()).unwrap_or_default();
            let objects: Vec<_> = boxes
                .iter()
                .filter_map(|boxed| {
                    let region = boxed.extent.region(picture.width, picture.height)?;
                    Some((boxed.label.clone(), region))
                })
                .collect();
            if !object::are(c, picture.row, &objects)? {
                unseen.push(Unseen { picture, objects });
            }
        }
        Ok(())
    })?;
    Ok(unseen)
}
