//! Changes rest on what is known for certain: a form that changes a dataset is sent only on a
//! record of at most five seconds. On an older one the service is asked first, and the form waits.

use std::time::Duration;

use crate::app::{App, Level, Overlay};
use tessera_model::Failure;

/// Oldest record that a change may rest on.
const MAX_STATUS_AGE: Duration = Duration::from_secs(5);

impl App {
    /// Accepts a layer at once, or holds it until it is known how its dataset stands.
    pub(in crate::app) fn submit_overlay(&mut self, overlay: Overlay) {
        let age = self.now.saturating_sub(self.store.datasets.updated_at());
        if overlay.operation().is_some() && age > MAX_STATUS_AGE {
            self.store.datasets.invalidate();
            self.submit_pending = true;
            self.overlay = Some(overlay);
        } else {
            self.accept_overlay(overlay);
        }
    }

    /// The datasets came: a held form is sent, or stays with the reason why not.
    pub(in crate::app) fn submit_held_form(&mut self) {
        if !std::mem::take(&mut self.submit_pending) {
            return;
        }
        let Some(overlay) = self.overlay.take() else { return };
        let refusal = overlay.operation().and_then(|(dataset, operation)| {
            let status = &self.store.dataset(dataset)?.status;
            let reason = status.allows(operation).denial_reason()?;
            Some(format!(
                "{} {reason} (now {}); nothing was sent",
                operation.label(),
                status.word()
            ))
        });
        match refusal {
            None => self.accept_overlay(overlay),
            Some(reason) => {
                self.notify(Level::Warning, reason);
                self.overlay = Some(overlay);
            }
        }
    }

    /// The datasets did not come: a held form stays, and the person is told.
    pub(in crate::app) fn keep_form_open(&mut self, failure: &Failure) {
        if std::mem::take(&mut self.submit_pending) {
            let text = format!(
                "nothing was sent, because it is not known how the dataset stands: {failure}"
            );
            self.notify(Level::Error, text);
        }
    }
}
