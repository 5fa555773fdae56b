//! Shows a secret once, on the alternate screen, so that neither the screen nor its history keeps it.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead as _, BufReader, Write},
    sync::Arc,
    time::Duration,
};

use tessera_interface::printable_text::PrintableText;

use crate::cli::terminal_changes::{TerminalChange, wait_for_foreground};

const SHOWN_FOR: Duration = Duration::from_secs(30);
const ENTER_AND_CLEAR: &str = "\x1b[?1049h\x1b[2J\x1b[H";
const CLEAR_AND_LEAVE: &str = "\x1b[2J\x1b[H\x1b[?1049l";

/// Opens the terminal of this process, which is not necessarily its standard output.
pub(super) fn open_terminal() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/tty")
}

/// Shows `text` until the user presses Enter, for at most 30 seconds.
pub(super) async fn show(terminal: File, text: &PrintableText) -> io::Result<()> {
    let mut input = BufReader::new(terminal.try_clone()?);
    // After the timeout, the thread is left behind and ends with the process.
    let enter = tokio::task::spawn_blocking(move || input.read_line(&mut String::new()));
    let dismissed = async { drop(enter.await) };
    show_until(Arc::new(terminal), text, dismissed, tokio::time::sleep(SHOWN_FOR)).await
}

async fn show_until(
    out: impl Write + Clone + Send + 'static,
    text: &PrintableText,
    dismissed: impl Future<Output = ()>,
    expired: impl Future<Output = ()>,
) -> io::Result<()> {
    let shown = format!("{ENTER_AND_CLEAR}{text}\nPress Enter to clear it.\n");
    let (mut entered, mut left) = (out.clone(), out);
    let _screen = TerminalChange::new(
        move || {
            // A secret must not cover what the shell shows meanwhile.
            wait_for_foreground()?;
            entered.write_all(shown.as_bytes()).and_then(|()| entered.flush())
        },
        move || left.write_all(CLEAR_AND_LEAVE.as_bytes()).and_then(|()| left.flush()),
    )?;
    tokio::select! {
        () = dismissed => {}
        () = expired => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, ready},
        sync::Mutex,
    };

    use super::*;

    /// A terminal with a history that the test can read.
    #[derive(Clone)]
    struct Terminal(Arc<Mutex<vt100::Parser>>);

    impl Terminal {
        fn new() -> Self {
            let (rows, columns) = (5.try_into().unwrap(), 40.try_into().unwrap());
            Self(Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 1_000))))
        }

        fn shows_secret(&self) -> bool {
            self.0.lock().unwrap().screen().contents().contains("s3cret")
        }
    }

    impl Write for Terminal {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().process(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn secret() -> PrintableText {
        PrintableText::lines("api_secret=s3cret\n")
    }

    fn assert_gone(terminal: &Terminal) {
        let mut parser = terminal.0.lock().unwrap();
        for scrolled in 0..20 {
            parser.screen_mut().set_scrollback(scrolled);
            let contents = parser.screen().contents();
            assert!(!contents.contains("s3cret"), "{contents}");
        }
        assert!(!parser.screen().alternate_screen());
    }

    /// Polls once and checks that the secret is still shown.
    async fn poll_once(shown: &mut (impl Future<Output = io::Result<()>> + Unpin)) {
        tokio::select! {
            biased;
            _ = shown => panic!("the secret is no longer shown"),
            () = ready(()) => {}
        }
    }

    #[tokio::test]
    async fn a_secret_leaves_the_screen_when_its_time_is_over() {
        let (terminal, text) = (Terminal::new(), secret());
        let (expire, expired) = tokio::sync::oneshot::channel::<()>();
        let expired = async { drop(expired.await) };
        let mut shown = Box::pin(show_until(terminal.clone(), &text, pending(), expired));
        poll_once(&mut shown).await;
        assert!(terminal.shows_secret());
        expire.send(()).unwrap();
        shown.await.unwrap();
        assert_gone(&terminal);
    }

    #[tokio::test]
    async fn a_secret_leaves_the_screen_when_the_user_says_so_or_interrupts() {
        let (terminal, text) = (Terminal::new(), secret());
        show_until(terminal.clone(), &text, ready(()), pending()).await.unwrap();
        assert_gone(&terminal);
        let mut shown = Box::pin(show_until(terminal.clone(), &text, pending(), pending()));
        poll_once(&mut shown).await;
        assert!(terminal.shows_secret());
        drop(shown);
        assert_gone(&terminal);
    }
}
