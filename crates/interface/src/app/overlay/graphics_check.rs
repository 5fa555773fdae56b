//! Checks the graphics of the terminal. The dialog draws a test picture, asks whether the user sees it, and saves the
//! answer for this terminal.

use tessera_model::MediaId;
use tessera_picture::{Canvas, Crop, Protocol, Thumbnail, thumbnail};
use uuid::Uuid;

use crate::app::overlay::prelude::*;
use crate::{app::Effect, drawing::split_columns};

/// A square of four colors.
const TEST_IMAGE: &[u8] = include_bytes!("../../../../../assets/test-picture.png");
/// The columns and rows of the test picture.
const TEST_IMAGE_CELLS: (u16, u16) = (16, 8);

#[derive(Clone, Debug)]
pub struct GraphicsCheck {
    pub picture: Thumbnail,
    pub canvas: Canvas,
}

impl Dialog for GraphicsCheck {
    fn handle_key(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        let protocol = match chord.key {
            Key::Char('y') => self.canvas.protocol,
            Key::Char('b') => Protocol::HalfBlock,
            Key::Char('n') => Protocol::None,
            Key::Esc | Key::Char('q') => return KeyResult::Close,
            _ => return KeyResult::Stay,
        };
        app.screen.protocol = protocol;
        app.outbox.push(Effect::SaveProtocol(protocol));
        KeyResult::Close
    }

    fn preferred_size(&self, _: (u16, u16)) -> (u16, u16) {
        (66, 12)
    }

    fn hints(&self) -> &'static str {
        "y yes   b half-blocks   n no pictures   Esc ask again next time"
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, "Test picture");
        let theme = ctx.theme;
        let (width, height) = (self.canvas.columns, self.canvas.rows);
        let picture = Rect { x: inside.x + 1, y: inside.y + 1, width, height };
        let key = (MediaId(Uuid::nil()).into(), self.canvas);
        ctx.layer.place(ctx.buf, picture.intersection(inside), key, &self.picture);
        let method = match self.canvas.protocol {
            Protocol::Kitty => "Drawn with kitty graphics.",
            Protocol::Sixel => "Drawn with sixel graphics.",
            Protocol::Iterm => "Drawn as an iTerm2 picture.",
            Protocol::HalfBlock | Protocol::None => "Drawn with half-blocks.",
        };
        let (_, beside) = split_columns(inside, width + 4);
        let text = |text: &'static str, style| Line::styled(text, style);
        let answer = |key: &'static str, text: &'static str| {
            Line::from(vec![Span::styled(key, theme.key), Span::styled(text, theme.text)])
        };
        let lines = [
            Line::default(),
            text(method, theme.dim),
            text("Do you see a square of four colors?", theme.text),
            Line::default(),
            answer("y", "  yes"),
            answer("b", "  no: use half-blocks"),
            answer("n", "  no: show no pictures"),
            Line::default(),
            text("Saved for this terminal.", theme.dim),
        ];
        ctx.put_lines(beside, &lines);
    }
}

impl GraphicsCheck {
    /// Opens the check. If pictures are disabled, the check draws half-blocks, which work everywhere.
    pub(in crate::app) fn open(app: &mut App) {
        let protocol = match app.screen.protocol {
            Protocol::None => Protocol::HalfBlock,
            protocol => protocol,
        };
        let (columns, rows) = TEST_IMAGE_CELLS;
        let canvas = Canvas { protocol, ..app.screen.canvas(columns, rows) };
        match thumbnail(TEST_IMAGE, &Crop::Full, canvas) {
            Ok(picture) => app.overlays.open(GraphicsCheck { picture, canvas }),
            Err(error) => {
                let text = format!("cannot draw the test picture: {error}");
                app.outbox.notify(Level::Error, text);
            }
        }
    }
}
