//! The tasks of the event loop for which it gives up the terminal or writes to it directly:
//! suspend, editor, clipboard.

use std::io;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use tessera_model::Failure;
use tessera_picture::Protocol;

use crate::{
    printable_text::PrintableText,
    runtime::{editor, event_loop::EventLoop, options, probe::Environment, signals, terminal},
};

impl EventLoop<'_> {
    /// Restores the terminal, stops the process, and enters the terminal again afterwards.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        self.delete_pictures()?;
        terminal::restore();
        // The input reader stops with the process.
        signals::suspend_process()?;
        // The screen is entered again immediately, so that no frame goes to the shell's screen.
        // `Signal::Resume` handles the other changes.
        self.screen.reenter()
    }

    pub(super) async fn edit_text(&mut self, text: String) -> io::Result<Result<String, Failure>> {
        self.delete_pictures()?;
        terminal::restore();
        let settings = terminal::LineSettings::read();
        let edited = tokio::task::spawn_blocking(move || editor::edit(&text)).await;
        // An editor that was killed leaves its own line settings behind.
        settings.restore();
        self.screen.reenter()?;
        edited.map_err(io::Error::other)
    }

    pub(super) fn save_graphics_result(&mut self, protocol: Protocol) -> Result<(), Failure> {
        if let Some(capabilities) = &mut self.capabilities {
            capabilities.protocol = protocol;
        }
        self.confirmed_protocol = Some(protocol);
        options::save_graphics_result(&Environment::read(), protocol)
    }

    pub(super) fn copy_to_clipboard(&mut self, text: &PrintableText) -> io::Result<()> {
        self.screen.frames.write(clipboard_sequence(text, Environment::read().in_tmux).as_bytes())
    }
}

/// Returns the OSC 52 sequence. For tmux, the sequence is sent twice: plain for tmux's own buffer,
/// and wrapped for the outer terminal.
fn clipboard_sequence(text: &PrintableText, in_tmux: bool) -> String {
    let plain = format!("\x1b]52;c;{}\x07", BASE64_STANDARD.encode(text.as_str()));
    if in_tmux { format!("{plain}\x1bPtmux;\x1b{plain}\x1b\\") } else { plain }
}
