//! Tests `tessera::state`: jobs of several instances.

use uuid::Uuid;

use tessera::state::StateFolder;
use tessera_model::{
    DatasetId, JobKind, JobRecord, SafeText, SavedJobState, StateKey, StateValue, Timestamp,
};

fn jobs(seconds: &[u64]) -> StateValue {
    let job = |second: &u64| JobRecord {
        started_at: Timestamp::from_secs(*second),
        ended_at: None,
        dataset: DatasetId(Uuid::nil()),
        dataset_name: SafeText::name("x"),
        kind: JobKind::Reindex,
        state: SavedJobState::Accepted,
    };
    StateValue::Jobs {
        this_instance: seconds.iter().map(job).collect(),
        other_instances: Vec::new(),
    }
}

#[test]
fn jobs_of_a_running_instance_cannot_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let open = || StateFolder::in_dir(folder.path().to_owned());
    let gone = open();
    gone.save(1, &jobs(&[1, 2])).unwrap();
    drop(gone);
    let running = open();
    running.save(1, &jobs(&[3])).unwrap();

    let reader = open();
    let listed = || {
        let noted = reader.jobs().unwrap();
        noted.iter().map(|noted| (noted.job.started_at.as_secs(), noted.is_followed)).collect()
    };
    let before: Vec<(u64, bool)> = listed();
    assert_eq!(before, [(1, false), (2, false), (3, true)]);
    assert_eq!(reader.forget_jobs(|job| job.started_at.as_secs() != 2), Ok(1));
    let after: Vec<(u64, bool)> = listed();
    assert_eq!(after, [(2, false), (3, true)]);
    let Ok(Some(StateValue::Jobs { this_instance, .. })) = open().load(&StateKey::Jobs) else {
        panic!("what was only read can be taken over");
    };
    assert_eq!(this_instance.len(), 1);
}
