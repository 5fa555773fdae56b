//! Jobs across restarts: what is saved of each, and in which state it resumes.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tessera_model::{
    JobRecord, StateKey, StateValue, Timestamp, job::drop_oldest_finished, text::count_with_noun,
};

use super::Jobs;
use crate::{
    app::{App, Level, LoadedState, Uptime},
    job::{Job, JobId, JobState},
    message::{Lane, Request},
};

impl Jobs {
    /// When the jobs of other instances are due. Those that cannot be read are not tried again.
    pub(in crate::app) fn load_due(&self, interval: Duration) -> Option<Uptime> {
        self.loaded.due(self.loaded.failure().is_none().then_some(interval))
    }

    /// Adds the jobs of instances that have exited, and shows those of running ones. A job that is
    /// known keeps its id. Returns the added ones of exited instances.
    fn adopt(&mut self, own: Vec<JobRecord>, other_instances: Vec<JobRecord>) -> Vec<JobId> {
        let (elsewhere, mine): (Vec<&Job>, Vec<&Job>) =
            self.iter().partition(|job| matches!(job.state(), JobState::OtherInstance(_)));
        let followed: BTreeSet<Timestamp> = mine.iter().map(|job| job.started_at).collect();
        let known: BTreeMap<Timestamp, JobId> =
            elsewhere.iter().map(|job| (job.started_at, job.id)).collect();
        let id_of = |record: &JobRecord| known.get(&record.started_at).copied();
        self.by_id.retain(|_, job| !matches!(job.state(), JobState::OtherInstance(_)));
        let is_new = |record: &JobRecord| !followed.contains(&record.started_at);
        let adopted = own.into_iter().filter(is_new);
        let adopted: Vec<JobId> =
            adopted.map(|it| self.insert(id_of(&it), |id| Job::resume(id, it))).collect();
        for record in other_instances {
            self.insert(id_of(&record), |id| Job::resume(id, record).of_other_instance());
        }
        adopted
    }

    /// Puts the cursor on a job, or on the newest one.
    fn select(&mut self, job: Option<JobId>) {
        let row = self.iter().rev().position(|other| Some(other.id) == job);
        self.select_row(row.unwrap_or(0));
    }

    /// The records to save, if they have changed. None before the saved ones were loaded, so that
    /// they are not overwritten.
    fn changed_records(&mut self) -> Option<Vec<JobRecord>> {
        if self.loaded.value().is_none() && self.loaded.failure().is_none() {
            return None;
        }
        let mut records: Vec<JobRecord> = self.iter().filter_map(Job::record).collect();
        drop_oldest_finished(&mut records);
        if records == self.saved_records {
            return None;
        }
        self.saved_records.clone_from(&records);
        Some(records)
    }
}

impl App {
    /// The jobs of earlier runs and of commands were loaded; those in progress are followed.
    pub(in crate::app) fn jobs_loaded(&mut self, result: LoadedState) {
        let value = match result {
            Ok(value) => value,
            Err(failure) => return self.jobs.loaded.finish(self.outbox.now, Err(failure)),
        };
        let is_first = self.jobs.loaded.value().is_none();
        self.jobs.loaded.finish(self.outbox.now, Ok(()));
        let (own, other_instances) = match value {
            Some(StateValue::Jobs { own, other_instances }) => (own, other_instances),
            _ => (Vec::new(), Vec::new()),
        };
        let selected = self.jobs.selected().map(|job| job.id);
        let resumed = self.jobs.adopt(own, other_instances);
        self.jobs.select(selected);
        if resumed.is_empty() {
            return;
        }
        self.store.datasets.invalidate();
        let origin = if is_first { "from the last run" } else { "of a command" };
        if let Some(summary) = self.resumed_jobs_summary(&resumed, origin) {
            self.outbox.notify(Level::Success, summary);
        }
    }

    fn resumed_jobs_summary(&self, resumed: &[JobId], origin: &str) -> Option<String> {
        let states = || resumed.iter().filter_map(|id| self.jobs.get(*id)).map(Job::state);
        let ready = states().filter(|state| matches!(state, JobState::ExportReady(_))).count();
        let uncertain = states().filter(|state| matches!(state, JobState::Uncertain(_))).count();
        let parts = [
            (states().filter(|state| state.is_active()).count(), "still running"),
            (ready, "finished: d requests a new link"),
            (uncertain, "may have started"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, text)| format!("{count} {text}")).collect();
        let all = count_with_noun(resumed.len(), "job", "jobs");
        (!parts.is_empty()).then(|| format!("{all} {origin}: {}", parts.join(", ")))
    }

    /// Saves what has changed. It is the first effect, so that no later one can be lost by a crash
    /// without a trace.
    pub(super) fn save_jobs(&mut self) {
        let Some(own) = self.jobs.changed_records() else { return };
        let value = StateValue::Jobs { own, other_instances: Vec::new() };
        self.outbox.send_first(Lane::SaveState(StateKey::Jobs), Request::SaveState(value));
    }
}
