//! Telling through the terminal: the bell, a notification of the desktop, the progress in the tab and
//! the title of the window. A terminal that may take a sequence for something else gets none.

use crate::{
    app::{Activity, Tell},
    config::Desktop,
};

/// What this terminal understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Understood {
    desktop: Option<Desktop>,
    progress: bool,
    title: bool,
}

/// Remembers the title; shows our own; gives the old one back.
const PUSH_TITLE: &str = "\x1b[22;2t";
/// The end of what this program told: no progress, and the title from before.
pub const SILENCE: &str = "\x1b]9;4;0;\x1b\\\x1b[23;2t";
/// The same where only the title was told.
pub const OLD_TITLE: &str = "\x1b[23;2t";

impl Understood {
    /// What the terminal of this process understands.
    #[must_use]
    pub fn here() -> Self {
        Self::by(|name| std::env::var(name).ok())
    }

    /// By the variables that terminals set. Multiplexers pass nothing on but the title.
    #[must_use]
    pub fn by(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let (term, program) =
            (variable("TERM").unwrap_or_default(), variable("TERM_PROGRAM").unwrap_or_default());
        if matches!(term.as_str(), "" | "dumb" | "linux") {
            return Self::default();
        }
        if ["TMUX", "STY", "ZELLIJ"].into_iter().any(set) {
            return Self { title: true, ..Self::default() };
        }
        let named =
            |names: &[&str]| names.iter().any(|name| program.contains(name) || term.contains(name));
        let desktop = Desktop::by(&variable);
        let progress = named(&["WezTerm", "wezterm", "ghostty"]) || set("WT_SESSION");
        Self { desktop, progress, title: true }
    }

    /// The bytes for one thing to tell; `first` is whether the title is still the old one.
    #[must_use]
    pub fn sequence(self, tell: &Tell, first: bool) -> String {
        match (tell, self.desktop) {
            (Tell::Bell, _) => "\x07".to_owned(),
            (Tell::Desktop(words), Some(desktop)) => desktop.sequence(words),
            (Tell::Desktop(_), None) => String::new(),
            (Tell::Activity(activity), _) => self.activity(*activity, first),
        }
    }

    fn activity(self, activity: Activity, first: bool) -> String {
        let mut bytes = String::new();
        if self.title {
            if first {
                bytes.push_str(PUSH_TITLE);
            }
            let title = match activity.jobs {
                0 => "tessera".to_owned(),
                jobs => format!("tessera {jobs}▶"),
            };
            bytes.extend(["\x1b]2;", &title, "\x1b\\"]);
        }
        if self.progress {
            let progress = match activity {
                Activity { jobs: 0, .. } => "\x1b]9;4;0;\x1b\\".to_owned(),
                Activity { percent: Some(percent), .. } => format!("\x1b]9;4;1;{percent}\x1b\\"),
                Activity { percent: None, .. } => "\x1b]9;4;3;\x1b\\".to_owned(),
            };
            bytes.push_str(&progress);
        }
        bytes
    }

    /// What ends everything that was told, when the terminal is given back.
    #[must_use]
    pub fn silence(self) -> &'static str {
        match (self.title, self.progress) {
            (_, true) => SILENCE,
            (true, false) => OLD_TITLE,
            (false, false) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_model::SafeText;

    fn terminal(set: &[(&str, &str)]) -> Understood {
        Understood::by(|name| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn m75_each_terminal_gets_what_it_understands_and_no_more() {
        let done = Tell::Desktop(SafeText::detail("export of a;b is done"));
        let ghostty = terminal(&[("TERM", "xterm-ghostty")]);
        assert_eq!(ghostty.sequence(&done, true), "\x1b]9;tessera: export of a;b is done\x1b\\");
        let foot = terminal(&[("TERM", "foot")]);
        assert_eq!(
            foot.sequence(&done, true),
            "\x1b]777;notify;tessera;export of a,b is done\x1b\\"
        );
        for silent in [&[("TERM", "xterm")][..], &[("TERM", "xterm-ghostty"), ("TMUX", "x")]] {
            assert_eq!(terminal(silent).sequence(&done, true), "", "{silent:?}");
        }
        let half = Tell::Activity(Activity { jobs: 2, percent: Some(50) });
        assert_eq!(
            ghostty.sequence(&half, true),
            "\x1b[22;2t\x1b]2;tessera 2▶\x1b\\\x1b]9;4;1;50\x1b\\"
        );
        assert_eq!(
            terminal(&[("TERM", "xterm")]).sequence(&half, false),
            "\x1b]2;tessera 2▶\x1b\\"
        );
        assert_eq!(terminal(&[("TERM", "linux")]).sequence(&half, true), "");
    }
}
