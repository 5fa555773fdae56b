//! Alerts outside the panes about jobs that ended, and their overall progress. No alert about a job
//! while the user has the jobs pane open.

use crate::{
    app::{App, Effect, Job, Level, Pane},
    config::NotificationMethod,
};
use tessera_model::SafeText;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobAlert {
    Bell,
    Desktop(SafeText),
    /// Active jobs, with percent where it is known.
    Activity(Activity),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    pub active_jobs: usize,
    /// Average percent of the jobs whose progress is known.
    pub percent: Option<u8>,
}

impl App {
    pub(super) fn send_job_alerts(&mut self, ended: &[SafeText]) {
        let jobs_on_screen = self.screen.window_focused && self.panes.focus == Pane::Jobs;
        let enabled = |method| self.setup.notify.contains(&method);
        if !jobs_on_screen && enabled(NotificationMethod::Bell) && !ended.is_empty() {
            self.outbox.push(Effect::Alert(JobAlert::Bell));
        }
        if !jobs_on_screen && enabled(NotificationMethod::Desktop) {
            for text in ended {
                self.outbox.push(Effect::Alert(JobAlert::Desktop(text.clone())));
            }
        }
        let activity = overall_activity(self.jobs.iter());
        if enabled(NotificationMethod::Progress) && activity != self.jobs.reported_activity {
            self.jobs.reported_activity = activity;
            self.outbox.push(Effect::Alert(JobAlert::Activity(activity)));
        }
    }

    pub(super) fn toast(&mut self, text: impl AsRef<str>) {
        if self.setup.notify.contains(&NotificationMethod::Toast) {
            self.outbox.notify(Level::Success, text);
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
