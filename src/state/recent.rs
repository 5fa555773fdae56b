//! Remembers which folders and profiles the interface opened, for the list with which the program starts.

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};
use tessera_model::{Cover, Failure, Place, RecentPlace};

use super::state_folder::{damaged_file, file_failure};

/// The schema of the file.
const SCHEMA: &str = "tessera.recent/1";

/// The maximum number of places that are remembered.
const MAX_PLACES: usize = 20;

/// The number of places, most recent first, whose covers are kept. The start screen shows no more.
const MAX_COVERS: usize = 4;

#[derive(Serialize, Deserialize)]
struct RecentFile {
    schema: String,
    places: Vec<RecentPlace>,
}

/// Returns the places, most recent first. A missing file means none.
///
/// # Errors
/// The file cannot be read, or is not one of this program.
pub fn read_recent(file: &Path) -> Result<Vec<RecentPlace>, Failure> {
    let failed = file_failure(file, "read");
    let text = tessera_files::if_exists(fs::read_to_string(file)).map_err(&failed)?;
    let Some(text) = text else { return Ok(Vec::new()) };
    let read: RecentFile = serde_json::from_str(&text).map_err(damaged_file(file))?;
    if read.schema != SCHEMA {
        return Err(damaged_file(file)(format!("expected the schema {SCHEMA}")));
    }
    Ok(read.places)
}

/// Puts a place first. If its number of media or its cover is unknown, what is known from before stays.
///
/// # Errors
/// The file cannot be read or written.
pub fn remember_place(file: &Path, opened: RecentPlace) -> Result<(), Failure> {
    let _lock = tessera_files::lock_changes(file).map_err(file_failure(file, "written"))?;
    let mut places = read_recent(file)?;
    let before = places.iter().position(|known| known.place == opened.place);
    let before = before.map(|index| places.remove(index));
    let media = opened.media.or(before.as_ref().and_then(|before| before.media));
    let cover = Some(opened.cover).filter(|cover| *cover != Cover::default());
    let cover = cover.or(before.map(|before| before.cover)).unwrap_or_default();
    places.insert(0, RecentPlace { media, cover, ..opened });
    places.truncate(MAX_PLACES);
    for place in places.iter_mut().skip(MAX_COVERS) {
        place.cover = Cover::default();
    }
    // A path that is not Unicode cannot be written as JSON, and is not remembered.
    let is_text = |known: &RecentPlace| match &known.place {
        Place::Folder(path) => path.to_str().is_some(),
        Place::Profile(_) => true,
    };
    places.retain(is_text);
    let written = RecentFile { schema: SCHEMA.to_owned(), places };
    let text = serde_json::to_string_pretty(&written).map_err(file_failure(file, "written"))?;
    tessera_files::write_user_file(file, text + "\n").map_err(file_failure(file, "written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(place: Place, media: Option<u64>, opened_at: u64) -> RecentPlace {
        RecentPlace { place, media, opened_at, cover: Cover::default() }
    }

    #[test]
    fn the_place_that_was_opened_last_is_first_and_keeps_its_count() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("recent.json");
        assert_eq!(read_recent(&file), Ok(Vec::new()));
        let photos = || Place::Folder("/photos".into());
        let team = || Place::Profile("team".to_owned());
        remember_place(&file, opened(photos(), Some(12), 1)).unwrap();
        remember_place(&file, opened(team(), None, 2)).unwrap();
        remember_place(&file, opened(photos(), None, 3)).unwrap();
        let expected = vec![opened(photos(), Some(12), 3), opened(team(), None, 2)];
        assert_eq!(read_recent(&file), Ok(expected));
        for number in 0..30 {
            let place = Place::Folder(format!("/{number}").into());
            remember_place(&file, opened(place, None, number)).unwrap();
        }
        assert_eq!(read_recent(&file).unwrap().len(), MAX_PLACES);
    }

    #[test]
    fn the_covers_of_the_last_places_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("recent.json");
        let cover = Cover::new(&[[1, 2, 3]], 1);
        for number in 0..6 {
            let place = opened(Place::Profile(number.to_string()), None, number);
            remember_place(&file, RecentPlace { cover: cover.clone(), ..place }).unwrap();
        }
        remember_place(&file, opened(Place::Profile("5".to_owned()), None, 9)).unwrap();
        let covers: Vec<Cover> =
            read_recent(&file).unwrap().into_iter().map(|it| it.cover).collect();
        assert!(covers[..4].iter().all(|kept| *kept == cover), "{covers:?}");
        assert!(covers[4..].iter().all(|kept| *kept == Cover::default()), "{covers:?}");
    }

    #[test]
    fn a_file_of_another_kind_is_refused_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("recent.json");
        for text in ["[]", r#"{"schema":"tessera.jobs/1","places":[]}"#] {
            fs::write(&file, text).unwrap();
            let place = opened(Place::Profile("team".to_owned()), None, 1);
            assert!(remember_place(&file, place).is_err());
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
    }
}
