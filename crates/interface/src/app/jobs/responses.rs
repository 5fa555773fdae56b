//! Applies the responses of the service to jobs, and sends alerts about jobs that ended. While the user has the jobs pane
//! open, only the progress is sent.

use tessera_config::NotificationMethod;
use tessera_model::{Archive, ExportTask, FailureKind, text::count_with_noun};
use tessera_wire::add_media::Accepted;

use crate::app::prelude::*;
use crate::{
    app::{Activity, Effect, Job, JobAlert, jobs::send_queued},
    job::{JobId, JobState},
};

pub(in crate::app) fn operation_accepted(app: &mut App, id: JobId, accepted: Accepted) {
    app.service_data.datasets.invalidate();
    let clock = app.outbox.clock();
    app.jobs.transition(id, |job| job.operation_accepted(clock, accepted), &mut app.outbox);
}

pub(in crate::app) fn export_reported(app: &mut App, id: JobId, task: ExportTask) {
    let now = app.outbox.now;
    app.jobs.transition(id, |job| job.export_reported(now, task), &mut app.outbox);
    match app.jobs.get(id).map(Job::state) {
        Some(JobState::Failed(failure, _)) => {
            let failure = failure.clone();
            export_failed(app, id, &failure);
        }
        Some(JobState::ExportReady(_)) => export_ready(app, id),
        _ => {}
    }
}

pub(in crate::app) fn export_poll_failed(app: &mut App, id: JobId, failure: &Failure) {
    let now = app.outbox.now;
    app.jobs.transition(id, |job| job.poll_failed(now, failure.clone()), &mut app.outbox);
    if let Some(JobState::Failed(..)) = app.jobs.get(id).map(Job::state) {
        export_failed(app, id, failure);
    }
}

pub(in crate::app) fn export_failed(app: &mut App, id: JobId, failure: &Failure) {
    let Some(job) = app.jobs.get(id) else { return };
    let of_selection = job.export().is_some_and(|export| export.selection.is_some());
    let dataset = job.dataset;
    // What is stored about the dataset was out of date.
    if matches!(failure.kind, FailureKind::Conflict | FailureKind::NotFound) {
        app.service_data.datasets.invalidate();
    }
    if of_selection && failure.kind == FailureKind::NotFound {
        app.baskets.flag_stale(dataset, &mut app.outbox);
    }
    app.outbox.notify_failure(failure);
}

fn export_ready(app: &mut App, id: JobId) {
    let Some(export) = app.jobs.get(id).and_then(Job::export) else { return };
    let file_name = export.spec.file_name.as_str();
    if let Some(shortfall) = &export.shortfall {
        app.outbox.notify(Level::Warning, format!("{file_name}: {shortfall}"));
    }
    if export.auto_download {
        app.jobs.download(id, &mut app.outbox);
    } else {
        app.outbox.toast(format!("{file_name} is ready: d downloads it"), &app.setup);
    }
}

pub(in crate::app) fn download_finished(
    app: &mut App,
    id: JobId,
    result: Result<Archive, Failure>,
) {
    let finished =
        app.jobs.transition(id, |job| job.download_finished(result), &mut app.outbox).is_some();
    if let (true, Some(JobState::Downloaded(archive, _))) =
        (finished, app.jobs.get(id).map(Job::state))
    {
        let path = SafeText::file_name(&archive.path.to_string_lossy());
        let entries = count_with_noun(archive.entries, "entry", "entries");
        let images = count_with_noun(archive.images, "image", "images");
        let text = format!("{path}: {entries} verified, including {images}");
        app.outbox.toast(text, &app.setup);
    }
}

/// Follows the jobs whose datasets were loaded, and sends the additions that waited for their datasets.
pub(in crate::app) fn advance_dataset_jobs(app: &mut App) {
    let clock = app.outbox.clock();
    let mut ends = Vec::new();
    for job in app.jobs.by_id.values_mut() {
        if let Some(dataset) = app.service_data.dataset(job.dataset) {
            ends.extend(job.dataset_observed(clock, dataset));
        }
    }
    for end in ends {
        match end {
            Ok(text) => app.outbox.toast(text, &app.setup),
            Err(text) => app.outbox.notify(Level::Error, text),
        }
    }
    send_queued(app);
}

/// Runs after every event. Adds the new states to the histories, announces the jobs that ended,
/// and saves.
pub(in crate::app) fn track_jobs(app: &mut App) {
    let clock = app.outbox.clock();
    let mut ended = Vec::new();
    for job in app.jobs.by_id.values_mut() {
        if job.record_state(clock) {
            ended.extend(job.end_message());
        }
    }
    send_alerts(app, ended);
    app.jobs.save(&mut app.outbox);
}

fn send_alerts(app: &mut App, ended: Vec<SafeText>) {
    let App { jobs, outbox, setup, screen, panes, .. } = app;
    let jobs_on_screen = screen.window_focused && panes.focus == Pane::Jobs;
    let enabled = |method| setup.settings.ui.notify.contains(&method);
    if !jobs_on_screen && enabled(NotificationMethod::Bell) && !ended.is_empty() {
        outbox.push(Effect::Alert(JobAlert::Bell));
    }
    if !jobs_on_screen && enabled(NotificationMethod::Desktop) {
        for text in ended {
            outbox.push(Effect::Alert(JobAlert::Desktop(text)));
        }
    }
    let activity = overall_activity(jobs.iter());
    if enabled(NotificationMethod::Progress) && activity != jobs.reported_activity {
        jobs.reported_activity = activity;
        outbox.push(Effect::Alert(JobAlert::Activity(activity)));
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
