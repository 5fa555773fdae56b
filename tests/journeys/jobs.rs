//! Tests jobs with keys only: an addition of files, the reindex after it, and an export that
//! outlives the program.

use std::path::PathBuf;

use tessera::state::StateFolder;
use tessera_interface::app::JobState;
use tessera_model::{StateKey, StateValue};

use crate::journeys::harness::{Service, UserHarness};

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
    let mut user = UserHarness::at(&service).await;
    user.press("A").await;
    user.paste(&format!("'{}'", fresh.display()));
    user.press("enter").await;
    user.sees("3 images");
    user.sees("● reindex the whole dataset");
    user.press("down right enter").await;
    user.follow_job(&service).await;
    user.sees("PARTIAL INDEX");
    user.press("R").await;
    user.sees("READ ONLY → INDEXING → READY");
    user.press("enter").await;
    user.follow_job(&service).await;
    assert!(
        matches!(user.newest_job().state(), JobState::DatasetDone(word) if word.as_str() == "READY")
    );
    assert_eq!(user.session.app.dataset().unwrap().n_images, Some(15));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_in_the_middle_finds_the_export_and_looks_inside_it() {
    let service = Service::over_paintings(12).await;
    let state = service.folder.path().join("state");
    let mut user = UserHarness::keeping(&service, StateFolder::in_dir(state.clone())).await;
    user.press("e enter").await;
    assert!(user.newest_job().is_active(), "the program ends in the middle");
    drop(user);
    let mut user = UserHarness::keeping(&service, left_behind(state).await).await;
    user.press("4").await;
    if user.newest_job().is_active() {
        user.follow_job(&service).await;
    }
    user.sees("downloaded");
    user.press("i").await;
    user.sees("uniqueness_score");
    user.sees("pictures              12");
}
