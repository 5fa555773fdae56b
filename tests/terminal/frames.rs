//! Frames: only changed cells are written.

use ratatui::buffer::Buffer;
use tessera::{
    runtime::frames::{FrameCost, FrameWriter},
    ui::picture_layer::TerminalWrites,
};

fn text(frames: &mut FrameWriter<Vec<u8>>, text: &str) -> FrameCost {
    let view = |buffer: &mut Buffer| {
        buffer.set_string(0, 0, text, ratatui::style::Style::new());
        TerminalWrites::default()
    };
    frames.draw((20, 3), view).unwrap()
}

#[test]
fn an_unchanged_frame_writes_nothing() {
    let mut frames = FrameWriter::new(Vec::new());
    assert_eq!(text(&mut frames, "calm").cells, 4);
    assert_eq!(text(&mut frames, "calm"), FrameCost::default());
    assert_eq!(text(&mut frames, "palm").cells, 1);
    frames.invalidate();
    assert_eq!(text(&mut frames, "palm").cells, 4);
    let written = String::from_utf8(frames.into_inner()).unwrap();
    assert_eq!(written.matches("\x1b[?2026h").count(), 3);
}
