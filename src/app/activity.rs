//! What is told outside the panes when a job moves: once for each change, and not at all to a person
//! who looks at the jobs.

use crate::{
    app::{App, Effect, Job, Level, Pane},
    config::NotificationMethod,
};
use tessera_model::SafeText;

/// One thing to tell through the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobAlert {
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
    pub active_jobs: usize,
    /// Percent of those whose part is known.
    pub percent: Option<u8>,
}

impl App {
    /// Tells of the jobs that ended in this step, and of what goes on now.
    pub(in crate::app) fn send_job_alerts(&mut self, ended: &[SafeText]) {
        let looked_at = self.window_focused && self.focus == Pane::Jobs;
        let wants = |way| self.setup.notify.contains(&way);
        if !looked_at && wants(NotificationMethod::Bell) && !ended.is_empty() {
            self.effects.push(Effect::Alert(JobAlert::Bell));
        }
        if !looked_at && wants(NotificationMethod::Desktop) {
            self.effects
                .extend(ended.iter().cloned().map(|words| Effect::Alert(JobAlert::Desktop(words))));
        }
        let activity = overall_activity(self.jobs.iter());
        if wants(NotificationMethod::Progress) && activity != self.jobs.reported_activity {
            self.jobs.reported_activity = activity;
            self.effects.push(Effect::Alert(JobAlert::Activity(activity)));
        }
    }

    /// A line in the program about a job that went well.
    pub(in crate::app) fn toast(&mut self, words: impl AsRef<str>) {
        if self.setup.notify.contains(&NotificationMethod::Toast) {
            self.notify(Level::Success, words);
        }
    }
}

/// What goes on.
fn overall_activity<'a>(jobs: impl Iterator<Item = &'a Job>) -> Activity {
    let active: Vec<&Job> = jobs.filter(|job| job.is_active()).collect();
    let parts: Vec<f64> = active.iter().filter_map(|job| job.fraction_done()).collect();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a percentage of parts from 0.0 to 1.0"
    )]
    let percent =
        (!parts.is_empty()).then(|| (parts.iter().sum::<f64>() / parts.len() as f64 * 100.0) as u8);
    Activity { active_jobs: active.len(), percent }
}
