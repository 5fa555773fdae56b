//! Remembers which folders and profiles the interface opened, for the list with which the program starts.

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};
use tessera_model::{Failure, Place, RecentPlace};

use super::state_folder::file_failure;

/// The schema of the file.
const SCHEMA: &str = "tessera.recent/1";

/// The maximum number of places that are remembered.
const MAX_PLACES: usize = 20;

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
    let read: RecentFile = serde_json::from_str(&text).map_err(file_failure(file, "parsed"))?;
    if read.schema != SCHEMA {
        return Err(file_failure(file, "parsed")(format!("expected the schema {SCHEMA}")));
    }
    Ok(read.places)
}

/// Puts a place first. If its number of media is unknown, the number that is known from before stays.
///
/// # Errors
/// The file cannot be read or written.
pub fn remember_place(file: &Path, opened: RecentPlace) -> Result<(), Failure> {
    let mut places = read_recent(file)?;
    let before = places.iter().position(|known| known.place == opened.place);
    let before = before.map(|index| places.remove(index));
    let media = opened.media.or(before.and_then(|before| before.media));
    places.insert(0, RecentPlace { media, ..opened });
    places.truncate(MAX_PLACES);
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
        RecentPlace { place, media, opened_at }
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
