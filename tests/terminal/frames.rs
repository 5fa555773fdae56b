//! Tests frames: only changed cells are written.

use ratatui::buffer::Buffer;
use tessera::runtime::frames::{FrameCost, FrameWriter};
use tessera_interface::drawing::picture_layer::TerminalWrites;

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

#[test]
fn a_frame_is_written_at_once_between_the_sequences_of_its_pictures() {
    let mut frames = FrameWriter::new(Vec::new());
    let draw = |frames: &mut FrameWriter<Vec<u8>>, text: &str| {
        let view = |buffer: &mut Buffer| {
            buffer.set_string(1, 0, text, ratatui::style::Style::new());
            TerminalWrites { before: "<".to_owned(), after: ">".to_owned() }
        };
        frames.draw((20, 3), view).unwrap()
    };
    assert_eq!(draw(&mut frames, "ab").cells, 2);
    assert_eq!(draw(&mut frames, "ac").cells, 1);
    let written = String::from_utf8(frames.into_inner()).unwrap();
    assert_eq!(
        written,
        "\x1b[?2026h\x1b[m\x1b[2J<\x1b[1;2Hab\x1b[m>\x1b[?2026l\
         \x1b[?2026h<\x1b[1;3Hc\x1b[m>\x1b[?2026l"
    );
}

#[test]
fn a_changed_row_is_written_whole_if_it_has_or_had_joined_characters() {
    let flag = "🇨🇭";
    let mut frames = FrameWriter::new(Vec::new());
    let joined = format!("  \x1b[1;2H{flag}");
    let rest = format!("\x1b[1;4Hb{}", " ".repeat(16));
    let expected = [
        (format!("a{flag}b"), format!("\x1b[m\x1b[2J\x1b[1;1Ha{joined}{rest}")),
        (format!("c{flag}b"), format!("\x1b[1;1Hc{joined}{rest}")),
        ("c  b".to_owned(), format!("\x1b[1;1Hc  b{}", " ".repeat(16))),
        ("c  d".to_owned(), "\x1b[1;4Hd".to_owned()),
    ];
    for (shown, _) in &expected {
        text(&mut frames, shown);
    }
    let written = String::from_utf8(frames.into_inner()).unwrap();
    let expected = expected.map(|(_, bytes)| format!("\x1b[?2026h{bytes}\x1b[m\x1b[?2026l"));
    assert_eq!(written, expected.concat());
}

/// An output that accepts this many writes and then fails.
struct FailingOutput(usize);

impl std::io::Write for FailingOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(1).ok_or(std::io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_frame_has_one_write() {
    let mut frames = FrameWriter::new(FailingOutput(2));
    let mut draw = |text: &str| {
        let view = |buffer: &mut Buffer| {
            buffer.set_string(0, 0, text, ratatui::style::Style::new());
            TerminalWrites::default()
        };
        frames.draw((20, 3), view).map(|cost| cost.cells)
    };
    assert_eq!(draw("ab").unwrap(), 2);
    assert_eq!(draw("ac").unwrap(), 1);
    assert!(draw("ad").is_err());
}
