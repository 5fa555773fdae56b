//! Finds out which terminal is outside of tmux, and wraps sequences that a multiplexer passes on to that terminal.

use crate::subprocess;

/// The terminal that shows a client of tmux.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OuterTerminal {
    /// The name and version that the terminal has reported to tmux, such as `kitty(0.36.4)`, or the value of `TERM`
    /// outside of tmux.
    pub name: String,
    /// Whether tmux passes sequences on, which its option `allow-passthrough` decides.
    pub passes_sequences: bool,
    /// Whether tmux sends 24-bit colors to the terminal.
    pub true_color: bool,
}

impl OuterTerminal {
    /// Asks tmux about its client. Returns `None` if tmux does not reply.
    pub(super) fn of_tmux() -> Option<Self> {
        let mut tmux = subprocess::command("tmux");
        tmux.args(["display-message", "-p"]);
        if let Some(pane) = std::env::var_os("TMUX_PANE") {
            tmux.arg("-t").arg(pane);
        }
        tmux.arg(
            "#{allow-passthrough}\t#{client_termfeatures}\t#{client_termtype}\t#{client_termname}",
        );
        let output = tmux.output().ok().filter(|output| output.status.success())?;
        Self::parse(&String::from_utf8_lossy(&output.stdout))
    }

    fn parse(answer: &str) -> Option<Self> {
        let mut fields = answer.trim_end_matches('\n').split('\t');
        let passthrough = fields.next()?;
        let true_color = fields.next()?.split(',').any(|feature| feature == "RGB");
        let name = fields.find(|field| !field.is_empty()).unwrap_or_default();
        let passes_sequences = matches!(passthrough, "on" | "all" | "1" | "2");
        Some(Self { name: name.to_owned(), passes_sequences, true_color })
    }
}

/// Wraps a sequence for tmux, which passes it on to the outer terminal.
pub(super) fn wrap_for_tmux(sequence: &str) -> String {
    format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"))
}

/// Wraps a sequence for screen, which passes it on to the outer terminal. The sequence must not end with `ESC \`, which
/// would end the wrapping.
pub(super) fn wrap_for_screen(sequence: &str) -> String {
    format!("\x1bP{sequence}\x1b\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_tmux_names_the_outer_terminal() {
        let outer = |name: &str, passes_sequences, true_color| {
            Some(OuterTerminal { name: name.to_owned(), passes_sequences, true_color })
        };
        let parse = OuterTerminal::parse;
        assert_eq!(
            parse("on\ttitle,RGB\tkitty(0.36.4)\txterm-kitty\n"),
            outer("kitty(0.36.4)", true, true)
        );
        assert_eq!(parse("off\ttitle\t\txterm-256color\n"), outer("xterm-256color", false, false));
        // An older tmux has no such option and always passes sequences on only from version 3.3.
        assert_eq!(parse("\t\t\t\n"), outer("", false, false));
    }
}
