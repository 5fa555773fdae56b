//! The test picture: whether what the terminal was found to draw is what the person sees. The answer
//! is kept for this terminal.

use crate::{
    app::{App, Effect, Overlay, overlay::KeyResult},
    input::{Chord, Key},
};
use tessera_picture::{Canvas, Crop, Protocol, Thumbnail, thumbnail};

/// A square of four colours.
const TEST_IMAGE: &[u8] = include_bytes!("../../../assets/test-picture.png");
/// Cells it is drawn in (columns, rows).
const TEST_IMAGE_CELLS: (u16, u16) = (16, 8);

/// The test under way.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureTest {
    /// The picture as this terminal is sent it.
    pub picture: Thumbnail,
    /// The cells it is made for.
    pub canvas: Canvas,
    /// What was answered.
    chosen_protocol: Protocol,
}

impl PictureTest {
    /// Takes a key.
    pub fn handle_key(&mut self, chord: Chord) -> KeyResult {
        self.chosen_protocol = match chord.key {
            Key::Char('y') => self.canvas.protocol,
            Key::Char('b') => Protocol::HalfBlock,
            Key::Char('n') => Protocol::None,
            Key::Esc | Key::Char('q') => return KeyResult::Close,
            _ => return KeyResult::Stay,
        };
        KeyResult::Accept
    }
}

impl App {
    /// Shows the test picture. Without pictures half-blocks are tried, which work everywhere.
    pub(in crate::app) fn open_picture_test(&mut self) {
        let protocol = match self.protocol {
            Protocol::None => Protocol::HalfBlock,
            protocol => protocol,
        };
        let canvas = Canvas { protocol, ..self.canvas(TEST_IMAGE_CELLS.0, TEST_IMAGE_CELLS.1) };
        match thumbnail(TEST_IMAGE, Crop::Full, canvas) {
            Ok(picture) => {
                let test = PictureTest { picture, canvas, chosen_protocol: protocol };
                self.overlay = Some(Overlay::PictureTest(Box::new(test)));
            }
            Err(error) => self.notify_failure(&tessera_model::Failure::new(
                tessera_model::FailureKind::Local,
                format!("the test picture cannot be drawn: {error}"),
            )),
        }
    }

    /// Draws as the person has seen it, now and whenever this terminal is used.
    pub(in crate::app) fn save_picture_test_result(&mut self, test: &PictureTest) {
        self.protocol = test.chosen_protocol;
        self.effects.push(Effect::SaveProtocol(test.chosen_protocol));
    }
}
