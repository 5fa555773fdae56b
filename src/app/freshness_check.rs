//! A form that changes a dataset is sent only if the dataset's status was loaded in the last five
//! seconds. Otherwise the status is loaded first, and the form waits.

use std::time::Duration;

use crate::app::{App, Level, Overlay, availability};
use tessera_model::Failure;

const MAX_STATUS_AGE: Duration = Duration::from_secs(5);

impl App {
    /// Accepts an overlay at once, or after the status of its dataset is loaded.
    pub(super) fn submit_overlay(&mut self, overlay: Overlay) {
        let age = self.outbox.now.saturating_sub(self.store.datasets.updated_at());
        if overlay.operation().is_some() && age > MAX_STATUS_AGE {
            self.store.datasets.invalidate();
            self.overlays.submit_pending = true;
            self.overlays.open(overlay);
        } else {
            self.accept_overlay(overlay);
        }
    }

    /// The datasets were loaded: sends the waiting form, or keeps it open with the reason.
    pub(super) fn submit_held_form(&mut self) {
        if !std::mem::take(&mut self.overlays.submit_pending) {
            return;
        }
        let Some(overlay) = self.overlays.take() else { return };
        let refusal = overlay.operation().and_then(|(dataset, operation)| {
            availability::status_denial(self.store.dataset(dataset)?, operation)
        });
        match refusal {
            None => self.accept_overlay(overlay),
            Some(reason) => {
                self.outbox.notify(Level::Warning, format!("{reason} Nothing was sent."));
                self.overlays.open(overlay);
            }
        }
    }

    pub(super) fn keep_form_open(&mut self, failure: &Failure) {
        if std::mem::take(&mut self.overlays.submit_pending) {
            let text = format!(
                "nothing was sent, because the dataset's status could not be loaded: {failure}"
            );
            self.outbox.notify(Level::Error, text);
        }
    }
}
