//! A job in words: its state, and what is known of it.

use crate::job::{Job, JobState};
use tessera_model::{
    JobKind, SafeText,
    operation_tracker::OperationTracker,
    text::{count_with_noun, format_bytes, format_duration},
};

pub fn job_state_text(job: &Job) -> String {
    match (job.state(), job.progress()) {
        (JobState::ExportRunning(..) | JobState::DatasetRunning, Some((percent, 100))) => {
            format!("{} {percent}%", job.label())
        }
        _ => job.label().to_owned(),
    }
}

/// What is known of a job that cannot be followed without login.
pub(super) fn login_summary(job: &Job) -> String {
    format!("last {} · L opens the login", job_state_text(job))
}

pub fn job_summary(job: &Job) -> String {
    let state = match job.state() {
        JobState::ExportRunning(_, task) => match task.failure() {
            Some(failure) => format!("last known state; {failure}"),
            None => describe_work(job),
        },
        JobState::Starting => describe_work(job),
        JobState::Queued(_) => {
            format!("waiting until the dataset is free · {}", describe_work(job))
        }
        JobState::DatasetRunning | JobState::DatasetDone(_) => {
            format!("{}{}", added_text(job), last_states(job))
        }
        JobState::ExportReady(_) => format!("{} · d downloads it", describe_work(job)),
        JobState::Uploading(done, Some(total)) | JobState::Downloading(_, done, Some(total)) => {
            format!("{} of {}", format_bytes(*done), format_bytes(*total))
        }
        JobState::Uploading(done, None) | JobState::Downloading(_, done, None) => {
            format_bytes(*done)
        }
        JobState::Downloaded(archive, _) => {
            let path = SafeText::file_name(&archive.path.to_string_lossy());
            format!("{path} · {} verified", format_bytes(archive.bytes))
        }
        JobState::Failed(failure, _) | JobState::Uncertain(failure) => failure.to_string(),
        JobState::OtherInstance(saved) if saved.has_ended() => describe_work(job),
        JobState::OtherInstance(_) => {
            format!("followed by another instance · {}", describe_work(job))
        }
        JobState::Unwatched(_) => "continues on the service; r resumes watching".to_owned(),
    };
    let left = job.history().time_left().map(|left| format!("{} left", format_duration(left)));
    let is_transfer = matches!(job.state(), JobState::Uploading(..) | JobState::Downloading(..));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes a second")]
    let rate = job.history().rate().map(|rate| format!("{}/s", format_bytes(rate as u64)));
    let parts = [left, rate.filter(|_| is_transfer), Some(state)].into_iter().flatten();
    parts.collect::<Vec<_>>().join(" · ")
}

fn added_text(job: &Job) -> String {
    let added =
        job.tracker().and_then(OperationTracker::added_media_count).filter(|added| *added > 0);
    let items = |added| count_with_noun(added, "media item", "media items");
    added.map_or_else(String::new, |added| format!("+{} · ", items(added)))
}

/// The last two states; the detail of the job shows all.
fn last_states(job: &Job) -> String {
    let states: Vec<&str> =
        job.history().transitions().iter().map(|step| step.state.as_str()).collect();
    states[states.len().saturating_sub(2)..].join(" → ")
}

fn describe_work(job: &Job) -> String {
    match &job.kind {
        JobKind::Export(export) => {
            let images = if export.spec.include_images { " + images" } else { "" };
            let selection = export.selection.as_ref().map_or("", SafeText::as_str);
            let gap = if selection.is_empty() { "" } else { " · " };
            let (name, format) = (export.spec.file_name.as_str(), export.spec.format.as_str());
            format!("{name} · {selection}{gap}{format}{images}")
        }
        JobKind::AddMedia(addition) => addition.source.to_string(),
        JobKind::Reindex => "all clusters are computed again".to_owned(),
    }
}
