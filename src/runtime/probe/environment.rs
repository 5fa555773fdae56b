//! The environment variables that identify a terminal, and what follows from them.

use std::{env, time::Duration};

use crate::drawing::{picture_layer::ColorDepth, theme::ThemeName};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a terminal")]
pub struct Environment {
    pub term: String,
    /// `TERM_PROGRAM`, or `LC_TERMINAL`, which survives SSH.
    pub program: String,
    pub colorterm: String,
    /// `COLORFGBG`: the numbers of the text and background colors.
    pub colorfgbg: String,
    pub no_color: bool,
    pub in_tmux: bool,
    pub in_other_multiplexer: bool,
    pub over_ssh: bool,
}

impl Environment {
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
            colorterm: text("COLORTERM"),
            colorfgbg: text("COLORFGBG"),
            no_color: is_set("NO_COLOR"),
            in_tmux: is_set("TMUX"),
            in_other_multiplexer: is_set("STY") || is_set("ZELLIJ"),
            over_ssh: is_set("SSH_CONNECTION"),
        }
    }

    /// Whether graphics queries are safe: multiplexers misinterpret them, and two old terminals
    /// print them.
    pub(super) fn can_be_queried(&self) -> bool {
        !self.is_multiplexed()
            && !matches!(self.term.as_str(), "linux" | "dumb" | "")
            && self.program != "Apple_Terminal"
    }

    /// How long to wait for the last reply. Terminals known to reply get longer: one may still be
    /// opening its window, and a timeout would mean half-blocks for the whole session.
    pub(super) fn reply_timeout(&self) -> Duration {
        let known = ["kitty", "ghostty", "foot", "wezterm", "WezTerm", "iTerm"];
        if known.iter().any(|name| self.term.contains(name) || self.program.contains(name)) {
            Duration::from_secs(2)
        } else if self.over_ssh {
            Duration::from_millis(800)
        } else {
            Duration::from_millis(300)
        }
    }

    /// The key under which graphics results are stored: the terminal and a multiplexer.
    pub fn terminal_name(&self) -> String {
        let name = if self.program.is_empty() { &self.term } else { &self.program };
        if self.is_multiplexed() { format!("{name} in a multiplexer") } else { name.clone() }
    }

    /// The default theme: plain under `NO_COLOR`, otherwise by the reported background or, less
    /// reliably, by `COLORFGBG`.
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

    /// The color depth until the terminal has replied.
    pub fn initial_color_depth(&self) -> ColorDepth {
        if self.claims_truecolor() { ColorDepth::TrueColor } else { self.limited_color_depth() }
    }

    pub(super) fn claims_truecolor(&self) -> bool {
        matches!(self.colorterm.as_str(), "truecolor" | "24bit")
    }

    /// The color depth of a terminal without 24-bit colors.
    pub(super) fn limited_color_depth(&self) -> ColorDepth {
        let old =
            ["linux", "ansi", "cygwin", "vt", "rxvt-16color", "xterm-16color", "screen-16color"];
        let is_old = self.term == "screen" || old.iter().any(|name| self.term.starts_with(name));
        if is_old { ColorDepth::Palette16 } else { ColorDepth::Palette256 }
    }

    pub(super) fn is_multiplexed(&self) -> bool {
        self.in_tmux
            || self.in_other_multiplexer
            || self.term.starts_with("screen")
            || self.term.starts_with("tmux")
    }
}

/// Whether dark text is readable on this background.
fn is_light(color: [u8; 3]) -> bool {
    let [red, green, blue] = color.map(u32::from);
    // Luma weights in thousandths.
    299 * red + 587 * green + 114 * blue > 127_500
}
