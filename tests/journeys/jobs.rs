//! Tests jobs with keys only: an addition of files, the reindex after it, and an export that
//! outlives the program.

use std::path::PathBuf;

use tessera::state::StateFolder;
use tessera_interface::app::JobState;
use tessera_model::{StateKey, StateValue};

use crate::journeys::harness::{Person, Service};

/// Opens the saved state for a new run, once the worker of the previous run has released it.
async fn left_behind(state: PathBuf) -> StateFolder {
    loop {
        let journal = StateFolder::in_dir(state.clone());
        let jobs = journal.load(&StateKey::Jobs).unwrap();
        if matches!(jobs, Some(StateValue::Jobs { this_instance, .. }) if !this_instance.is_empty())
        {
            return journal;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_come_in_and_are_clustered_with_the_rest() {
    let service = Service::over_paintings(12).await;
    let fresh = service.folder.path().join("my new");
    tessera_testing::pictures::write_noise(&fresh, 3);
    let mut person = Person::at(&service).await;
    person.press("A").await;
    person.paste(&format!("'{}'", fresh.display()));
    person.press("enter").await;
    person.sees("3 images");
    person.sees("● reindex the whole dataset");
    person.press("down right enter").await;
    person.follow_job(&service).await;
    person.sees("PARTIAL INDEX");
    person.press("R").await;
    person.sees("READ ONLY → INDEXING → READY");
    person.press("enter").await;
    person.follow_job(&service).await;
    assert!(
        matches!(person.newest_job().state(), JobState::DatasetDone(word) if word.as_str() == "READY")
    );
    assert_eq!(person.session.app.dataset().unwrap().n_images, Some(15));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_in_the_middle_finds_the_export_and_looks_inside_it() {
    let service = Service::over_paintings(12).await;
    let state = service.folder.path().join("state");
    let mut person = Person::keeping(&service, StateFolder::in_dir(state.clone())).await;
    person.press("e enter").await;
    assert!(person.newest_job().is_active(), "the program ends in the middle");
    drop(person);
    let mut person = Person::keeping(&service, left_behind(state).await).await;
    person.press("4").await;
    if person.newest_job().is_active() {
        person.follow_job(&service).await;
    }
    person.sees("downloaded");
    person.press("i").await;
    person.sees("uniqueness_score");
    person.sees("pictures              12");
}
