//! Applies the responses of the service to jobs, and sends alerts about jobs that ended. No alert is sent while the
//! user has the jobs pane open.

use tessera_config::NotificationMethod;
use tessera_model::{Archive, ExportTask, FailureKind, text::count_with_noun};
use tessera_wire::add_media::Accepted;

use crate::app::prelude::*;
use crate::{
    app::{Activity, Baskets, Effect, Job, JobAlert, Jobs, LoginState, Screen, ServiceData},
    job::{JobId, JobState},
};

impl Jobs {
    pub(in crate::app) fn operation_accepted(
        &mut self,
        id: JobId,
        accepted: Accepted,
        service_data: &mut ServiceData,
        outbox: &mut Outbox,
    ) {
        service_data.datasets.invalidate();
        let clock = outbox.clock();
        self.transition(id, |job| job.operation_accepted(clock, accepted), outbox);
    }

    pub(in crate::app) fn export_reported(
        &mut self,
        id: JobId,
        task: ExportTask,
        service_data: &mut ServiceData,
        baskets: &mut Baskets,
        setup: &Setup,
        outbox: &mut Outbox,
    ) {
        let now = outbox.now;
        self.transition(id, |job| job.export_reported(now, task), outbox);
        match self.get(id).map(Job::state) {
            Some(JobState::Failed(failure, _)) => {
                let failure = failure.clone();
                self.export_failed(id, &failure, service_data, baskets, outbox);
            }
            Some(JobState::ExportReady(_)) => self.export_ready(id, setup, outbox),
            _ => {}
        }
    }

    pub(in crate::app) fn export_poll_failed(
        &mut self,
        id: JobId,
        failure: &Failure,
        service_data: &mut ServiceData,
        baskets: &mut Baskets,
        outbox: &mut Outbox,
    ) {
        let now = outbox.now;
        self.transition(id, |job| job.poll_failed(now, failure.clone()), outbox);
        if self.get(id).is_some_and(|job| matches!(job.state(), JobState::Failed(..))) {
            self.export_failed(id, failure, service_data, baskets, outbox);
        }
    }

    pub(in crate::app) fn export_failed(
        &mut self,
        id: JobId,
        failure: &Failure,
        service_data: &mut ServiceData,
        baskets: &mut Baskets,
        outbox: &mut Outbox,
    ) {
        let Some(job) = self.get(id) else { return };
        let of_selection = job.export().is_some_and(|export| export.selection.is_some());
        let dataset = job.dataset;
        // What is stored about the dataset was out of date.
        if matches!(failure.kind, FailureKind::Conflict | FailureKind::NotFound) {
            service_data.datasets.invalidate();
        }
        if of_selection && failure.kind == FailureKind::NotFound {
            baskets.flag_stale(dataset, outbox);
        }
        outbox.notify_failure(failure);
    }

    fn export_ready(&mut self, id: JobId, setup: &Setup, outbox: &mut Outbox) {
        let Some(export) = self.get(id).and_then(Job::export) else { return };
        if let Some(shortfall) = &export.shortfall {
            let text = format!("{}: {shortfall}", export.spec.file_name.as_str());
            outbox.notify(Level::Warning, text);
        }
        if export.auto_download {
            self.download(id, outbox);
        } else {
            outbox.toast(
                format!("{} is ready: d downloads it", export.spec.file_name.as_str()),
                setup,
            );
        }
    }

    pub(in crate::app) fn download_finished(
        &mut self,
        id: JobId,
        result: Result<Archive, Failure>,
        setup: &Setup,
        outbox: &mut Outbox,
    ) {
        let Some(()) = self.transition(id, |job| job.download_finished(result), outbox) else {
            return;
        };
        if let Some(JobState::Downloaded(archive, _)) = self.get(id).map(Job::state) {
            let path = SafeText::file_name(&archive.path.to_string_lossy());
            let entries = count_with_noun(archive.entries, "entry", "entries");
            let images = count_with_noun(archive.images, "image", "images");
            outbox.toast(format!("{path}: {entries} verified, including {images}"), setup);
        }
    }

    pub(in crate::app) fn advance_dataset_jobs(
        &mut self,
        service_data: &ServiceData,
        login: &LoginState,
        setup: &Setup,
        outbox: &mut Outbox,
    ) {
        let clock = outbox.clock();
        let mut ends = Vec::new();
        for job in self.by_id.values_mut() {
            if let Some(dataset) = service_data.dataset(job.dataset) {
                ends.extend(job.dataset_observed(clock, dataset));
            }
        }
        for end in ends {
            match end {
                Ok(text) => outbox.toast(text, setup),
                Err(text) => outbox.notify(Level::Error, text),
            }
        }
        self.send_queued(service_data, login, outbox);
    }

    /// Runs after every event. Adds the new states to the histories, announces the jobs that ended,
    /// and saves.
    pub(in crate::app) fn track(
        &mut self,
        setup: &Setup,
        screen: &Screen,
        focus: Pane,
        outbox: &mut Outbox,
    ) {
        let clock = outbox.clock();
        let mut ended = Vec::new();
        for job in self.by_id.values_mut() {
            if job.record_state(clock) {
                ended.extend(job.end_message());
            }
        }
        self.send_alerts(&ended, setup, screen, focus, outbox);
        self.save(outbox);
    }
}

impl Jobs {
    pub(in crate::app) fn send_alerts(
        &mut self,
        ended: &[SafeText],
        setup: &Setup,
        screen: &Screen,
        focus: Pane,
        outbox: &mut Outbox,
    ) {
        let jobs_on_screen = screen.window_focused && focus == Pane::Jobs;
        let enabled = |method| setup.notify.contains(&method);
        if !jobs_on_screen && enabled(NotificationMethod::Bell) && !ended.is_empty() {
            outbox.push(Effect::Alert(JobAlert::Bell));
        }
        if !jobs_on_screen && enabled(NotificationMethod::Desktop) {
            for text in ended {
                outbox.push(Effect::Alert(JobAlert::Desktop(text.clone())));
            }
        }
        let activity = overall_activity(self.iter());
        if enabled(NotificationMethod::Progress) && activity != self.reported_activity {
            self.reported_activity = activity;
            outbox.push(Effect::Alert(JobAlert::Activity(activity)));
        }
    }
}

impl Outbox {
    pub(in crate::app) fn toast(&mut self, text: impl AsRef<str>, setup: &Setup) {
        if setup.notify.contains(&NotificationMethod::Toast) {
            self.notify(Level::Success, text);
        }
    }
}

fn overall_activity<'a>(jobs: impl Iterator<Item = &'a Job>) -> Activity {
    let active: Vec<&Job> = jobs.filter(|job| job.is_active()).collect();
    let fractions: Vec<f64> = active.iter().filter_map(|job| job.fraction_done()).collect();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a percentage of parts from 0.0 to 1.0"
    )]
    let percent = (!fractions.is_empty())
        .then(|| (fractions.iter().sum::<f64>() / fractions.len() as f64 * 100.0) as u8);
    Activity { active_jobs: active.len(), percent }
}
