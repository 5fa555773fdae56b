//! The test picture: whether what the terminal was found to draw is what the person sees. The answer
//! is kept for this terminal.

use crate::{
    app::{App, Effect, Overlay, overlay::Press},
    input::{Chord, Key},
};
use tessera_picture::{Canvas, Part, Protocol, Thumbnail, thumbnail};

/// A square of four colours.
const SQUARE: &[u8] = include_bytes!("../../../assets/test-picture.png");
/// Cells it is drawn in (columns, rows).
const CELLS: (u16, u16) = (16, 8);

/// The test under way.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureTest {
    /// The picture as this terminal is sent it.
    pub picture: Thumbnail,
    /// The cells it is made for.
    pub canvas: Canvas,
    /// What was answered.
    verdict: Protocol,
}

impl PictureTest {
    /// Takes a key.
    pub fn key(&mut self, chord: Chord) -> Press {
        self.verdict = match chord.key {
            Key::Char('y') => self.canvas.protocol,
            Key::Char('b') => Protocol::HalfBlock,
            Key::Char('n') => Protocol::None,
            Key::Esc | Key::Char('q') => return Press::Leave,
            _ => return Press::Stay,
        };
        Press::Accept
    }
}

impl App {
    /// Shows the test picture. Without pictures half-blocks are tried, which work everywhere.
    pub(in crate::app) fn test_pictures(&mut self) {
        let protocol = match self.protocol {
            Protocol::None => Protocol::HalfBlock,
            protocol => protocol,
        };
        let canvas = Canvas { protocol, ..self.canvas(CELLS.0, CELLS.1) };
        match thumbnail(SQUARE, Part::Whole, canvas) {
            Ok(picture) => {
                let test = PictureTest { picture, canvas, verdict: protocol };
                self.overlay = Some(Overlay::PictureTest(Box::new(test)));
            }
            Err(error) => self.notices.fail(
                self.now,
                &tessera_model::Failure::new(
                    tessera_model::FailureKind::Local,
                    format!("the test picture cannot be drawn: {error}"),
                ),
            ),
        }
    }

    /// Draws as the person has seen it, now and whenever this terminal is used.
    pub(in crate::app) fn keep_verdict(&mut self, test: &PictureTest, effects: &mut Vec<Effect>) {
        self.protocol = test.verdict;
        effects.push(Effect::Graphics(test.verdict));
    }
}
