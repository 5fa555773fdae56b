//! Quits the program, or cancels what the user waits for. Come here to change what is said about unfinished work.

use std::collections::BTreeSet;

use tessera_model::text::count_with_noun;

use crate::app::prelude::*;
use crate::app::{Effect, Jobs};

impl Jobs {
    /// Quits, or opens another deployment. If media are still only on this machine, the first call warns and the second
    /// call leaves. Exports and downloads are resumed at the next start.
    pub(in crate::app) fn leave(&mut self, exit: Effect, outbox: &mut Outbox) {
        let unsent = self.iter().filter(|job| job.state().is_unsent()).map(|job| job.id);
        let unsent: BTreeSet<_> = unsent.collect();
        if unsent.is_subset(&self.warned_about) {
            return outbox.push(exit);
        }
        let additions = count_with_noun(unsent.len(), "addition ends", "additions end");
        self.warned_about = unsent;
        let text = format!("{additions} before all media are sent; repeat this to leave anyway");
        outbox.notify(Level::Warning, text);
    }
}

/// Cancels what the user waits for. Quits if there is nothing to cancel.
pub(in crate::app) fn stop_or_quit(app: &mut App) {
    if app.baskets.stop_loading(&mut app.outbox)
        || app.results.view_mut().is_some_and(View::stop_scan)
    {
        return;
    }
    let lanes: Vec<Lane> = app.results.awaited_lanes(&app.outbox).collect();
    if lanes.is_empty() {
        return app.jobs.leave(Effect::Quit, &mut app.outbox);
    }
    for lane in lanes {
        if let Lane::Page(search) = &lane {
            app.results.edit_view(|view| view.pending_page = None);
            let stopped = Failure::local("cancelled before the service responded");
            app.results.pages.entry(search.clone()).finish(app.outbox.now, Err(stopped));
        }
        if lane == Lane::Anchor {
            app.results.registering = None;
        }
        app.outbox.cancel(lane);
    }
}

/// Describes the writes that the end of the program would stop, or would not send any more.
pub fn unfinished_writes(app: &App) -> Vec<String> {
    let names: BTreeSet<_> = app.outbox.tickets.lanes().filter_map(Lane::write_name).collect();
    let names: Vec<_> = names.into_iter().collect();
    let mut lines = Vec::new();
    if !names.is_empty() {
        lines.push(format!("the program ended before this was finished: {}", names.join(", ")));
    }
    let unsent = app.tagging.unsent();
    if unsent > 0 {
        let changes = count_with_noun(unsent, "change of tags was", "changes of tags were");
        lines.push(format!("{changes} not sent"));
    }
    lines
}
