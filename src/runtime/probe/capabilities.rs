//! Decides what the terminal can draw, from its replies and from the environment variables that identify it. Also
//! finds out which terminal is outside of tmux, and wraps sequences that a multiplexer passes on to that terminal.

use std::{env, process::Stdio};

use tessera_interface::drawing::{picture_layer::ColorDepth, theme::ThemeName};
use tessera_picture::{Protocol, fit::DEFAULT_SIXEL_SIDE};

use crate::{
    environment::{is_set, refuses_colors},
    runtime::probe::replies::TerminalReplies,
    subprocess,
};

#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a terminal")]
pub struct Capabilities {
    pub protocol: Protocol,
    /// The width and height of a cell in pixels. They change with the font: see
    /// [`super::cell_size`].
    pub cell: (u16, u16),
    /// Whether the program runs in tmux, which passes graphics on only if they are wrapped.
    pub in_tmux: bool,
    pub color_depth: ColorDepth,
    /// The theme that `auto` selects.
    pub theme: ThemeName,
    /// Whether the environment claims a terminal that draws the protocol, while the terminal itself does not confirm
    /// it.
    pub is_contradictory: bool,
    /// What the terminal has said so far.
    pub replies: TerminalReplies,
    pub iterm: bool,
    pub sixel: bool,
    /// The largest side of a sixel picture in pixels.
    pub sixel_side: u16,
    /// Whether the terminal knows the keyboard protocol of kitty, which reports keys of all layouts.
    pub keyboard: bool,
    /// The terminal outside of tmux, if tmux knows it.
    pub outer: Option<OuterTerminal>,
}

impl Capabilities {
    /// Returns the protocols that draw a picture at the cursor, best first. Kitty and sixel need a terminal that has
    /// replied, because `viuer` queries again without a timeout. A multiplexer passes neither of them.
    pub fn cursor_protocols(&self) -> Vec<Protocol> {
        let may_ask = self.replies.has_ended() && !self.in_tmux;
        let draws = [
            (may_ask && self.replies.kitty, Protocol::Kitty),
            (self.iterm, Protocol::Iterm),
            (may_ask && self.sixel, Protocol::Sixel),
            (true, Protocol::HalfBlock),
        ];
        draws.into_iter().filter_map(|(draws, protocol)| draws.then_some(protocol)).collect()
    }
}

/// The terminal whose sixel pictures stay where text is written later, so that they would cover the interface.
const KEEPS_SIXELS: &str = "Konsole";

/// Combines all facts. `forced` overrides the best protocol.
pub(super) fn decide_capabilities(
    environment: &Environment,
    replies: &TerminalReplies,
    cell: (u16, u16),
    forced: Option<Protocol>,
    outer: Option<OuterTerminal>,
) -> Capabilities {
    let version = replies.version.as_deref().unwrap_or_default();
    let outer_true_color = outer.as_ref().is_some_and(|outer| outer.true_color);
    let drawing_terminal = outer.as_ref().map_or(version, |outer| &outer.name);
    let attributes = replies.attributes.as_deref().unwrap_or_default();
    let is_alone = !environment.is_multiplexed();
    let iterm = is_alone && draws_iterm(version, &environment.program);
    let sixel = is_alone && attributes.contains(&4);
    let best = if replies.kitty && has_placeholders(drawing_terminal) {
        Protocol::Kitty
    } else if iterm {
        Protocol::Iterm
    } else if sixel && !version.starts_with(KEEPS_SIXELS) {
        Protocol::Sixel
    } else {
        Protocol::HalfBlock
    };
    Capabilities {
        protocol: forced.unwrap_or(best),
        is_contradictory: best == Protocol::Iterm && !draws_iterm(version, ""),
        cell,
        in_tmux: environment.in_tmux,
        color_depth: if outer_true_color {
            ColorDepth::TrueColor
        } else {
            color_depth(environment, version, attributes)
        },
        theme: environment.theme(replies.background),
        replies: replies.clone(),
        iterm,
        sixel,
        sixel_side: sixel_side(replies.sixel),
        keyboard: replies.keyboard && is_alone,
        outer,
    }
}

/// Returns the largest side that the terminal draws. A smaller report comes from a small window,
/// and larger pictures would take too long to encode.
fn sixel_side(reported: Option<(u16, u16)>) -> u16 {
    const MAX_SIDE: u16 = 4096;
    reported.map_or(DEFAULT_SIXEL_SIDE, |(width, height)| {
        width.min(height).clamp(DEFAULT_SIXEL_SIDE, MAX_SIDE)
    })
}

/// Returns whether the terminal supports placeholders. Many terminals reply to the kitty graphics
/// query, but all except these would show boxes.
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

fn color_depth(environment: &Environment, version: &str, attributes: &[u16]) -> ColorDepth {
    if environment.claims_truecolor() || !version.is_empty() {
        return ColorDepth::TrueColor;
    }
    let is_screen = environment.term.starts_with("screen") && !environment.in_tmux;
    // Some old terminals identify as a VT100 with video option.
    let is_poor = is_screen || environment.program == "Apple_Terminal" || attributes == [1, 2];
    match environment.limited_color_depth() {
        ColorDepth::Palette256 if !is_poor => ColorDepth::TrueColor,
        palette => palette,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a terminal")]
pub struct Environment {
    pub term: String,
    /// The value of `TERM_PROGRAM`, or of `LC_TERMINAL`, which survives SSH.
    pub program: String,
    pub colorterm: String,
    /// The value of `COLORFGBG`, which contains the numbers of the text and background colors.
    pub colorfgbg: String,
    pub no_color: bool,
    pub in_tmux: bool,
    pub in_screen: bool,
    pub in_zellij: bool,
}

impl Environment {
    pub fn read() -> Self {
        let text = |name: &str| env::var(name).unwrap_or_default();
        Self {
            term: text("TERM"),
            program: ["TERM_PROGRAM", "LC_TERMINAL"]
                .map(text)
                .into_iter()
                .find(|name| !name.is_empty())
                .unwrap_or_default(),
            colorterm: text("COLORTERM"),
            colorfgbg: text("COLORFGBG"),
            no_color: refuses_colors(),
            in_tmux: is_set("TMUX"),
            in_screen: is_set("STY"),
            in_zellij: is_set("ZELLIJ"),
        }
    }

    /// Returns whether queries are safe. Two old terminals print them.
    pub(super) fn can_be_queried(&self) -> bool {
        !matches!(self.term.as_str(), "linux" | "dumb" | "") && self.program != "Apple_Terminal"
    }

    /// Returns the key under which graphics results are stored: the name of the terminal, and
    /// whether it is in a multiplexer.
    pub fn terminal_name(&self) -> String {
        let name = if self.program.is_empty() { &self.term } else { &self.program };
        if self.is_multiplexed() { format!("{name} in a multiplexer") } else { name.clone() }
    }

    /// Returns the default theme: plain under `NO_COLOR`, otherwise a theme that fits the reported
    /// background or, less reliably, `COLORFGBG`.
    pub fn theme(&self, background: Option<[u8; 3]>) -> ThemeName {
        let number = self.colorfgbg.rsplit(';').next().and_then(|number| number.parse::<u8>().ok());
        let is_light = match background {
            Some(color) => is_light(color),
            None => matches!(number, Some(7 | 9..=15)),
        };
        match (self.no_color, is_light) {
            (true, _) => ThemeName::Plain,
            (false, true) => ThemeName::Light,
            (false, false) => ThemeName::Dark,
        }
    }

    /// Returns the color depth to use until the terminal has replied.
    pub fn initial_color_depth(&self) -> ColorDepth {
        if self.claims_truecolor() { ColorDepth::TrueColor } else { self.limited_color_depth() }
    }

    pub(super) fn claims_truecolor(&self) -> bool {
        matches!(self.colorterm.as_str(), "truecolor" | "24bit")
    }

    /// Returns the color depth of a terminal without 24-bit colors.
    pub(super) fn limited_color_depth(&self) -> ColorDepth {
        let old =
            ["linux", "ansi", "cygwin", "vt", "rxvt-16color", "xterm-16color", "screen-16color"];
        let is_old = self.term == "screen" || old.iter().any(|name| self.term.starts_with(name));
        if is_old { ColorDepth::Palette16 } else { ColorDepth::Palette256 }
    }

    pub(super) fn is_multiplexed(&self) -> bool {
        self.in_tmux
            || self.in_screen
            || self.in_zellij
            || self.term.starts_with("screen")
            || self.term.starts_with("tmux")
    }
}

/// Returns whether dark text is readable on this background.
fn is_light(color: [u8; 3]) -> bool {
    let [red, green, blue] = color.map(u32::from);
    // The weights are those of luma, in thousandths.
    299 * red + 587 * green + 114 * blue > 127_500
}

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
    /// Asks tmux about its client. Returns `None` if tmux does not reply. Blocks until then.
    pub(super) fn of_tmux() -> Option<Self> {
        let mut tmux = subprocess::command("tmux");
        tmux.args(["display-message", "-p"]);
        if let Some(pane) = std::env::var_os("TMUX_PANE") {
            tmux.arg("-t").arg(pane);
        }
        tmux.arg(
            "#{allow-passthrough}\t#{client_termfeatures}\t#{client_termtype}\t#{client_termname}",
        );
        let output = subprocess::run_in_time(tmux.stdout(Stdio::piped()), "")?.wait_with_output();
        Self::parse(&String::from_utf8_lossy(&output.ok()?.stdout))
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
    use tessera_config::input::{SequenceSplitter, TerminalInput, decode};

    use super::*;

    fn decide(environment: &Environment, reply: &[u8], forced: Option<Protocol>) -> Capabilities {
        decide_with_outer(environment, reply, forced, None)
    }

    fn decide_with_outer(
        environment: &Environment,
        reply: &[u8],
        forced: Option<Protocol>,
        outer: Option<OuterTerminal>,
    ) -> Capabilities {
        let mut replies = TerminalReplies::default();
        for input in SequenceSplitter::default().feed(reply).into_iter().flat_map(decode) {
            if let TerminalInput::Reply(reply) = input {
                replies.read(&reply);
            }
        }
        decide_capabilities(environment, &replies, (10, 20), forced, outer)
    }

    fn xterm() -> Environment {
        Environment { term: "xterm-256color".into(), ..Environment::default() }
    }

    #[test]
    fn a_silent_terminal_gets_half_blocks_and_is_never_queried_again() {
        let silent = decide(&xterm(), b"", None);
        assert_eq!((silent.protocol, silent.replies.has_ended()), (Protocol::HalfBlock, false));
    }

    #[test]
    fn placeholders_only_in_supporting_terminals() {
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
            let reply = format!("{ok}\x1bP>|{version}\x1b\\\x1b[?62;c");
            let found = decide(&xterm(), reply.as_bytes(), None);
            assert_eq!((found.protocol, found.replies.kitty), (protocol, true), "{version}");
        }
        let nameless = decide(&xterm(), format!("{ok}\x1b[?62;c").as_bytes(), None);
        assert_eq!(nameless.protocol, Protocol::HalfBlock);
    }

    #[test]
    fn sixel_by_attribute_and_iterm_by_name() {
        assert_eq!(decide(&xterm(), b"\x1b[?63;1;4c", None).protocol, Protocol::Sixel);
        assert_eq!(decide(&xterm(), b"\x1b[?64;14c", None).protocol, Protocol::HalfBlock);
        let iterm = Environment { program: "iTerm.app".into(), ..xterm() };
        assert_eq!(decide(&iterm, b"\x1b[?62;4c", None).protocol, Protocol::Iterm);
    }

    #[test]
    fn sixels_that_text_does_not_erase_are_drawn_only_on_request_or_at_the_cursor() {
        let reply = b"\x1bP>|Konsole 22.12.3\x1b\\\x1b[?62;1;4c";
        let konsole = decide(&xterm(), reply, None);
        assert_eq!(konsole.protocol, Protocol::HalfBlock);
        assert_eq!(konsole.cursor_protocols(), [Protocol::Sixel, Protocol::HalfBlock]);
        assert_eq!(decide(&xterm(), reply, Some(Protocol::Sixel)).protocol, Protocol::Sixel);
    }

    #[test]
    fn sixels_are_as_large_as_the_terminal_reports() {
        for (reply, side) in [
            ("", 1000),
            ("\x1b[?2;0;640;480S", 1000),
            ("\x1b[?2;0;2560;1440S", 1440),
            ("\x1b[?2;0;10000;10000S", 4096),
        ] {
            let reply = format!("{reply}\x1b[?63;4c");
            assert_eq!(decide(&xterm(), reply.as_bytes(), None).sixel_side, side, "{reply:?}");
        }
    }

    #[test]
    fn a_variable_that_the_terminal_does_not_confirm_is_a_contradiction() {
        let inherited = Environment { program: "iTerm.app".into(), ..xterm() };
        let contradicts = |reply: &[u8]| decide(&inherited, reply, None).is_contradictory;
        assert!(contradicts(b"\x1b[?62;4c"));
        assert!(contradicts(b"\x1bP>|Konsole 24.02\x1b\\\x1b[?62;4c"));
        assert!(!contradicts(b"\x1bP>|iTerm2 3.5.0\x1b\\\x1b[?62;4c"));
        assert!(!decide(&xterm(), b"\x1b[?63;1;4c", None).is_contradictory);
    }

    #[test]
    fn multiplexers_default_to_half_blocks() {
        let tmux = Environment { in_tmux: true, program: "WezTerm".into(), ..xterm() };
        let zellij = Environment { in_zellij: true, ..xterm() };
        let screen = Environment { term: "screen.xterm-256color".into(), ..xterm() };
        for environment in [tmux, zellij, screen] {
            assert_eq!(decide(&environment, b"\x1b[?4c", None).protocol, Protocol::HalfBlock);
            let forced = decide(&environment, b"", Some(Protocol::Kitty));
            assert_eq!(forced.protocol, Protocol::Kitty);
        }
    }

    #[test]
    fn tmux_draws_pictures_where_the_outer_terminal_replies_and_has_placeholders() {
        let tmux = Environment { in_tmux: true, term: "tmux-256color".into(), ..xterm() };
        let outer = |name: &str| {
            Some(OuterTerminal { name: name.to_owned(), passes_sequences: true, true_color: false })
        };
        let reply = b"\x1b[?1;2c\x1b_Gi=31;OK\x1b\\";
        for (name, reply, protocol) in [
            ("kitty(0.36.4)", &reply[..], Protocol::Kitty),
            ("kitty(0.36.4)", b"\x1b[?1;2c", Protocol::HalfBlock),
            ("kitty(0.26.5)", reply, Protocol::HalfBlock),
            ("xterm-256color", reply, Protocol::HalfBlock),
        ] {
            let found = decide_with_outer(&tmux, reply, None, outer(name));
            assert_eq!(found.protocol, protocol, "{name}");
        }
    }

    #[test]
    fn color_depth_is_detected_conservatively() {
        let apple = Environment { program: "Apple_Terminal".into(), ..xterm() };
        assert_eq!(decide(&apple, b"", None).color_depth, ColorDepth::Palette256);
        assert_eq!(decide(&xterm(), b"\x1b[?1;2c", None).color_depth, ColorDepth::Palette256);
        let said = Environment { colorterm: "truecolor".into(), ..xterm() };
        assert_eq!(decide(&said, b"\x1b[?1;2c", None).color_depth, ColorDepth::TrueColor);
        assert_eq!(decide(&xterm(), b"\x1b[?62;22c", None).color_depth, ColorDepth::TrueColor);
        for term in ["linux", "vt220", "ansi", "xterm-16color"] {
            let old = Environment { term: term.into(), ..Environment::default() };
            assert_eq!(decide(&old, b"", None).color_depth, ColorDepth::Palette16, "{term}");
        }
    }

    #[test]
    fn the_theme_follows_the_background() {
        let dark = b"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\\x1b[?62;c";
        let light = b"\x1b]11;rgb:fdfd/f6f6/e3e3\x1b\\\x1b[?62;c";
        assert_eq!(decide(&xterm(), dark, None).theme, ThemeName::Dark);
        assert_eq!(decide(&xterm(), light, None).theme, ThemeName::Light);
        let by_variable = |ground: &str| Environment { colorfgbg: ground.into(), ..xterm() };
        assert_eq!(by_variable("0;15").theme(None), ThemeName::Light);
        assert_eq!(by_variable("15;default;0").theme(None), ThemeName::Dark);
        assert_eq!(decide(&by_variable("0;15"), dark, None).theme, ThemeName::Dark);
        let plain = Environment { no_color: true, ..xterm() };
        assert_eq!(decide(&plain, light, None).theme, ThemeName::Plain);
    }

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
