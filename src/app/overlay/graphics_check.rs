//! The graphics check: asks whether the terminal draws a test picture, and saves the answer.

use tessera_picture::{Canvas, Crop, Protocol, Thumbnail, thumbnail};

use super::{Dialog, KeyResult, Overlay};
use crate::{
    app::{App, Effect, Level},
    input::{Chord, Key},
};

/// A square of four colors.
const TEST_IMAGE: &[u8] = include_bytes!("../../../assets/test-picture.png");
/// Its size in cells (columns, rows).
const TEST_IMAGE_CELLS: (u16, u16) = (16, 8);

#[derive(Clone, Debug)]
pub struct GraphicsCheck {
    pub picture: Thumbnail,
    pub canvas: Canvas,
    chosen_protocol: Protocol,
}

impl Dialog for GraphicsCheck {
    fn handle_key(&mut self, chord: Chord, _: &App) -> KeyResult {
        self.chosen_protocol = match chord.key {
            Key::Char('y') => self.canvas.protocol,
            Key::Char('b') => Protocol::HalfBlock,
            Key::Char('n') => Protocol::None,
            Key::Esc | Key::Char('q') => return KeyResult::Close,
            _ => return KeyResult::Stay,
        };
        KeyResult::Accept
    }

    fn preferred_size(&self, _: (u16, u16)) -> (u16, u16) {
        (66, 12)
    }

    fn hints(&self) -> &'static str {
        "y yes   b half-blocks   n no pictures   Esc ask again next time"
    }

    fn accept(self, app: &mut App) {
        app.screen.protocol = self.chosen_protocol;
        app.outbox.push(Effect::SaveProtocol(self.chosen_protocol));
    }
}

impl App {
    /// Opens the test; without pictures it tests half-blocks, which work everywhere.
    pub(in crate::app) fn open_graphics_check(&mut self) {
        let protocol = match self.screen.protocol {
            Protocol::None => Protocol::HalfBlock,
            protocol => protocol,
        };
        let canvas =
            Canvas { protocol, ..self.screen.canvas(TEST_IMAGE_CELLS.0, TEST_IMAGE_CELLS.1) };
        match thumbnail(TEST_IMAGE, &Crop::Full, canvas) {
            Ok(picture) => {
                let test = GraphicsCheck { picture, canvas, chosen_protocol: protocol };
                self.overlays.open(Overlay::GraphicsCheck(Box::new(test)));
            }
            Err(error) => {
                self.outbox.notify(Level::Error, format!("cannot draw the test picture: {error}"));
            }
        }
    }
}
