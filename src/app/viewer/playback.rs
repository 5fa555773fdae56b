//! Playing the loaded frames of a video in the full-size view.

use std::time::Duration;

use super::PanelPicture;
use crate::app::{App, Uptime};
use tessera_model::Preview;

/// The least time that a frame is shown: a longer one if the next frame is not loaded yet.
const FRAME_DURATION: Duration = Duration::from_millis(250);
/// Frames that are loaded ahead.
const FRAMES_AHEAD: isize = 3;

impl App {
    pub fn is_playing(&self) -> bool {
        self.viewer.as_ref().is_some_and(|viewer| viewer.next_frame_due.is_some())
    }

    /// Plays on from this frame, or from the first one after the last; or stops.
    pub(super) fn toggle_playback(&mut self) {
        if self.is_playing() {
            return self.stop_playback();
        }
        if self.frame_beside(1).is_none() {
            let (position, _) = self.frame_position().unwrap_or_default();
            self.step_frame(-position.cast_signed());
        }
        let due = self.outbox.now + FRAME_DURATION;
        self.edit_viewer(|viewer| viewer.next_frame_due = Some(due));
    }

    pub(super) fn stop_playback(&mut self) {
        self.edit_viewer(|viewer| viewer.next_frame_due = None);
    }

    /// Shows the next frame once it is due and loaded, and stops at the last one.
    pub(in crate::app) fn continue_playback(&mut self) {
        let Some(due) = self.viewer.as_ref().and_then(|viewer| viewer.next_frame_due) else {
            return;
        };
        if due > self.outbox.now || !self.has_loaded_next_frame() {
            return;
        }
        self.step_frame(1);
        let next = self.frame_beside(1).map(|_| self.outbox.now + FRAME_DURATION);
        self.edit_viewer(|viewer| viewer.next_frame_due = next);
    }

    /// When to look again. The response with a missing frame does it, too.
    pub(in crate::app) fn next_frame_due(&self) -> Option<Uptime> {
        let due = self.viewer.as_ref()?.next_frame_due?;
        self.has_loaded_next_frame().then_some(due)
    }

    /// The frames to load while playing.
    pub(super) fn frames_ahead(&self) -> Vec<&Preview> {
        let ahead = (1..=FRAMES_AHEAD).map_while(|by| self.frame_beside(by));
        ahead.filter_map(|frame| self.loaded_preview(frame.media)).collect()
    }

    /// A frame that cannot be loaded counts: playback goes on after it. So does no frame: playback ends.
    fn has_loaded_next_frame(&self) -> bool {
        let (Some(viewer), Some(next)) = (&self.viewer, self.frames_ahead().first().copied())
        else {
            return true;
        };
        let area = self.viewer_areas().pictures;
        let (view, canvas) =
            self.zoomed_picture(PanelPicture::Preview(next), area, viewer.position);
        self.store.pictures.get(&view, canvas).is_some()
    }
}
