//! What is told outside the panes when a job moves: once for each change, and not at all to a person
//! who looks at the jobs (M75).

use crate::{
    app::{App, Effect, Job, Level, Pane, Stage},
    config::Notify,
};
use tessera_model::SafeText;

/// One thing to tell through the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tell {
    /// Ring.
    Bell,
    /// Notify on the desktop.
    Desktop(SafeText),
    /// What goes on: active jobs, and percent where it is known.
    Activity(Activity),
}

/// What goes on in all jobs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Jobs that are going on.
    pub jobs: usize,
    /// Percent of those whose part is known.
    pub percent: Option<u8>,
}

impl App {
    /// Tells of the jobs that ended in this step, and of what goes on now.
    pub(in crate::app) fn tell(&mut self, ended: &[SafeText], effects: &mut Vec<Effect>) {
        let looked_at = self.attended && self.focus == Pane::Jobs;
        let wants = |way| self.setup.notify.contains(&way);
        if !looked_at && wants(Notify::Bell) && !ended.is_empty() {
            effects.push(Effect::Tell(Tell::Bell));
        }
        if !looked_at && wants(Notify::Desktop) {
            effects.extend(ended.iter().cloned().map(|words| Effect::Tell(Tell::Desktop(words))));
        }
        let activity = activity(self.store.jobs.values());
        if wants(Notify::Progress) && activity != self.jobs.told {
            self.jobs.told = activity;
            effects.push(Effect::Tell(Tell::Activity(activity)));
        }
    }

    /// A line in the program about a job that went well.
    pub(in crate::app) fn toast(&mut self, words: impl AsRef<str>) {
        if self.setup.notify.contains(&Notify::Toast) {
            self.notices.add(self.now, Level::Success, words);
        }
    }
}

/// What goes on.
fn activity<'a>(jobs: impl Iterator<Item = &'a Job>) -> Activity {
    let active: Vec<&Job> = jobs.filter(|job| job.is_active()).collect();
    let parts: Vec<f64> = active.iter().filter_map(|job| job.part()).collect();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a percentage of parts from 0.0 to 1.0"
    )]
    let percent =
        (!parts.is_empty()).then(|| (parts.iter().sum::<f64>() / parts.len() as f64 * 100.0) as u8);
    Activity { jobs: active.len(), percent }
}

/// What is told of a job that ended just now.
pub(in crate::app) fn ended(job: &Job) -> Option<SafeText> {
    let how = match &job.stage {
        Stage::Failed(_) => "failed",
        Stage::Uncertain(_) => "may have started: look at it",
        Stage::Completed(_) => "is ready to be downloaded",
        Stage::Downloaded(_) => "is downloaded and verified",
        Stage::Done(_) => "is done",
        // Still going on; or the person did it, or another copy tells of it.
        Stage::Unwatched(_)
        | Stage::Elsewhere(_)
        | Stage::Queued(_)
        | Stage::Starting
        | Stage::Sending(..)
        | Stage::Following
        | Stage::Running(..)
        | Stage::Downloading(..) => return None,
    };
    Some(SafeText::detail(&format!("{} of {} {how}", job.work.word(), job.dataset_name)))
}
