//! From the environment and the answers of a terminal to what it can draw.

use std::{env, time::Duration};

use super::{Capabilities, replies::Replies};
use crate::picture::Protocol;

/// The variables that say which terminal this is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `TERM`.
    pub term: String,
    /// `TERM_PROGRAM`, or what of it survives SSH, `LC_TERMINAL`.
    pub program: String,
    /// `COLORTERM`.
    pub colour: String,
    /// `TMUX` is set.
    pub in_tmux: bool,
    /// `STY` (screen) or `ZELLIJ` is set.
    pub in_other_multiplexer: bool,
    /// `SSH_CONNECTION` is set.
    pub over_ssh: bool,
}

impl Environment {
    /// Reads the variables of this process.
    #[must_use]
    pub fn read() -> Self {
        let text = |name: &str| env::var(name).unwrap_or_default();
        let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        Self {
            term: text("TERM"),
            program: ["TERM_PROGRAM", "LC_TERMINAL"]
                .map(text)
                .into_iter()
                .find(|name| !name.is_empty())
                .unwrap_or_default(),
            colour: text("COLORTERM"),
            in_tmux: is_set("TMUX"),
            in_other_multiplexer: is_set("STY") || is_set("ZELLIJ"),
            over_ssh: is_set("SSH_CONNECTION"),
        }
    }

    /// Whether questions about graphics are safe: a multiplexer takes them for something else,
    /// and two old terminals print them.
    pub(super) fn may_be_asked(&self) -> bool {
        !self.is_multiplexed()
            && !matches!(self.term.as_str(), "linux" | "dumb" | "")
            && self.program != "Apple_Terminal"
    }

    /// How long to wait for the last answer. One that is known to answer gets more: it may still
    /// be opening its window, and without an answer it would show half-blocks for a whole session.
    pub(super) fn patience(&self) -> Duration {
        let answers = ["kitty", "ghostty", "foot", "wezterm", "WezTerm", "iTerm"];
        if answers.iter().any(|name| self.term.contains(name) || self.program.contains(name)) {
            Duration::from_secs(2)
        } else if self.over_ssh {
            Duration::from_millis(800)
        } else {
            Duration::from_millis(300)
        }
    }

    fn is_multiplexed(&self) -> bool {
        self.in_tmux
            || self.in_other_multiplexer
            || self.term.starts_with("screen")
            || self.term.starts_with("tmux")
    }
}

/// Puts it together; `forced` wins over what is best.
pub(super) fn capabilities(
    environment: &Environment,
    replies: Replies,
    cell: (u16, u16),
    forced: Option<Protocol>,
) -> Capabilities {
    let version = replies.version.as_deref().unwrap_or_default();
    let attributes = replies.attributes.as_deref().unwrap_or_default();
    let is_alone = !environment.is_multiplexed();
    let iterm = is_alone && draws_iterm(version, &environment.program);
    let sixel = is_alone && attributes.contains(&4);
    let best = if replies.kitty && has_placeholders(version) {
        Protocol::Kitty
    } else if iterm {
        Protocol::Iterm
    } else if sixel {
        Protocol::Sixel
    } else {
        Protocol::HalfBlock
    };
    Capabilities {
        protocol: forced.unwrap_or(best),
        cell,
        in_tmux: environment.in_tmux,
        truecolour: draws_truecolour(environment, version, attributes),
        answered: replies.attributes.is_some(),
        kitty: replies.kitty,
        iterm,
        sixel,
        leftover: replies.keys,
    }
}

/// Many terminals answer the question about kitty graphics, but only these know placeholders;
/// the others would show a screen of boxes.
fn has_placeholders(version: &str) -> bool {
    let kitty = version.strip_prefix("kitty(").and_then(|rest| rest.split(')').next()).and_then(
        |numbers| {
            let mut numbers = numbers.split('.').map(str::parse::<u32>);
            Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
        },
    );
    kitty.is_some_and(|version| version >= (0, 28)) || version.starts_with("ghostty")
}

fn draws_iterm(version: &str, program: &str) -> bool {
    let known = ["iTerm", "WezTerm"];
    known.iter().any(|name| version.starts_with(name) || program.starts_with(name))
}

fn draws_truecolour(environment: &Environment, version: &str, attributes: &[u16]) -> bool {
    let Environment { term, program, colour, .. } = environment;
    if matches!(colour.as_str(), "truecolor" | "24bit") || !version.is_empty() {
        return true;
    }
    let is_screen = term.starts_with("screen") && !environment.in_tmux;
    // A VT100 with video option is what the old ones say they are.
    !is_screen && program != "Apple_Terminal" && attributes != [1, 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(environment: &Environment, answer: &[u8], forced: Option<Protocol>) -> Capabilities {
        let mut replies = Replies::default();
        replies.feed(answer);
        replies.end();
        capabilities(environment, replies, (10, 20), forced)
    }

    fn xterm() -> Environment {
        Environment { term: "xterm-256color".into(), ..Environment::default() }
    }

    #[test]
    fn t17_a_silent_terminal_gets_half_blocks_and_is_never_asked_again() {
        let silent = decide(&xterm(), b"", None);
        assert_eq!((silent.protocol, silent.answered), (Protocol::HalfBlock, false));
    }

    #[test]
    fn t18_placeholders_only_where_they_are_known() {
        let ok = "\x1b_Gi=31;OK\x1b\\";
        for (version, protocol) in [
            ("kitty(0.36.4)", Protocol::Kitty),
            ("kitty(0.28.0)", Protocol::Kitty),
            ("kitty(1.0)", Protocol::Kitty),
            ("ghostty 1.1.3", Protocol::Kitty),
            ("kitty(0.26.5)", Protocol::HalfBlock),
            ("kitty(", Protocol::HalfBlock),
            ("Konsole 24.02", Protocol::HalfBlock),
            ("WezTerm 20240203", Protocol::Iterm),
        ] {
            let answer = format!("{ok}\x1bP>|{version}\x1b\\\x1b[?62;c");
            let found = decide(&xterm(), answer.as_bytes(), None);
            assert_eq!((found.protocol, found.kitty), (protocol, true), "{version}");
        }
        let nameless = decide(&xterm(), format!("{ok}\x1b[?62;c").as_bytes(), None);
        assert_eq!(nameless.protocol, Protocol::HalfBlock);
    }

    #[test]
    fn t18_sixel_by_attribute_and_iterm_by_name() {
        assert_eq!(decide(&xterm(), b"\x1b[?63;1;4c", None).protocol, Protocol::Sixel);
        assert_eq!(decide(&xterm(), b"\x1b[?64;14c", None).protocol, Protocol::HalfBlock);
        let iterm = Environment { program: "iTerm.app".into(), ..xterm() };
        assert_eq!(decide(&iterm, b"\x1b[?62;4c", None).protocol, Protocol::Iterm);
    }

    #[test]
    fn t19_multiplexers_are_not_asked_and_get_half_blocks_unless_told_otherwise() {
        let tmux = Environment { in_tmux: true, program: "WezTerm".into(), ..xterm() };
        let zellij = Environment { in_other_multiplexer: true, ..xterm() };
        let screen = Environment { term: "screen.xterm-256color".into(), ..xterm() };
        for environment in [tmux, zellij, screen] {
            assert!(!environment.may_be_asked());
            assert_eq!(decide(&environment, b"", None).protocol, Protocol::HalfBlock);
            let forced = decide(&environment, b"", Some(Protocol::Kitty));
            assert_eq!(forced.protocol, Protocol::Kitty);
        }
        assert!(xterm().may_be_asked());
    }

    #[test]
    fn t17_only_a_terminal_that_will_answer_is_waited_for() {
        let of = |term: &str| Environment { term: term.into(), ..Environment::default() };
        assert_eq!(of("xterm-256color").patience(), Duration::from_millis(300));
        assert_eq!(of("xterm-kitty").patience(), Duration::from_secs(2));
    }

    #[test]
    fn t18_colours_are_not_taken_for_granted() {
        let apple = Environment { program: "Apple_Terminal".into(), ..xterm() };
        assert!(!decide(&apple, b"", None).truecolour);
        assert!(!decide(&xterm(), b"\x1b[?1;2c", None).truecolour);
        let said = Environment { colour: "truecolor".into(), ..xterm() };
        assert!(decide(&said, b"\x1b[?1;2c", None).truecolour);
        assert!(decide(&xterm(), b"\x1b[?62;22c", None).truecolour);
    }
}
