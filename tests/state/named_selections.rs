//! Tests `tessera::state`: named selections.

use std::collections::BTreeMap;

use uuid::Uuid;

use tessera::state::StateFolder;
use tessera_client::ExistingFile;
use tessera_model::{
    DatasetId, EntityType, EntryContent, Granularity, MediaId, SafeText, Selection, SelectionEntry,
};

#[test]
fn a_named_selection_is_saved_replaced_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store = StateFolder::in_dir(folder.path().to_owned());
    let dataset = DatasetId(Uuid::nil());
    let entry = |id| SelectionEntry {
        name: SafeText::file_name("a.jpg"),
        entity: EntityType::Images,
        granularity: Granularity::DEFAULT,
        content: EntryContent::MediaItem(MediaId(Uuid::from_u128(id)), None),
    };
    assert_eq!(store.load_named_selection("vans", dataset), Ok(None));
    for id in [1, 2] {
        let selection: Selection = [entry(id)].into_iter().collect();
        store.save_named_selection("vans", dataset, &selection, ExistingFile::Replace).unwrap();
        assert_eq!(store.load_named_selection("vans", dataset), Ok(Some(selection)));
    }
    let other = DatasetId(Uuid::from_u128(9));
    assert_eq!(store.load_named_selection("vans", other), Ok(None));
    let empty = Selection::default();
    store.save_named_selection("vans", other, &empty, ExistingFile::Keep).unwrap();
    let names = [("vans".to_owned(), dataset), ("vans".to_owned(), other)];
    assert_eq!(store.selection_names(), Ok(names.to_vec()));
    let kept = store.load_named_selection("vans", dataset).unwrap().unwrap();
    assert_eq!(kept, [entry(2)].into_iter().collect(), "another dataset has its own");
    let kept = store.save_named_selection("vans", dataset, &empty, ExistingFile::Keep);
    assert_eq!(kept, Ok(None));
    let sets: BTreeMap<_, _> = ["cars", "vans"].map(|it| (it.to_owned(), empty.clone())).into();
    let taken = store.save_named_selections(dataset, &sets, ExistingFile::Keep);
    assert_eq!(taken, Ok(vec!["vans".to_owned()]));
    let saved = ["cars", "vans"].map(|it| store.load_named_selection(it, dataset).unwrap());
    assert_eq!(saved.map(|it| it.map(|it| it.len())), [None, Some(1)], "none was saved");
    assert_eq!(store.delete_named_selection("vans", dataset), Ok(true));
    assert_eq!(store.delete_named_selection("vans", dataset), Ok(false));
    assert_eq!(store.selection_names(), Ok(names[1..].to_vec()));
    for bad in ["", "../up", "a/b", ".", "x\u{1b}"] {
        assert!(store.load_named_selection(bad, dataset).is_err(), "{bad:?}");
    }
}
