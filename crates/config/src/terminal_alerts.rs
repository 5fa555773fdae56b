//! Recognizes terminals that show desktop notifications or progress by their environment variables. A sequence that one
//! terminal shows as progress is a notification in another one, so only known terminals get it.

use tessera_model::SafeText;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesktopProtocol {
    /// A sequence with a single text.
    Osc9,
    /// A sequence with a title and a text.
    Osc777,
}

impl DesktopProtocol {
    /// Detects the sequence from the environment variables of a terminal. Returns `None` for
    /// terminals that could interpret the sequence differently, and inside multiplexers, which do
    /// not pass it on.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        if ["TMUX", "STY", "ZELLIJ"].into_iter().any(set) {
            return None;
        }
        let (term, program) =
            (variable("TERM").unwrap_or_default(), variable("TERM_PROGRAM").unwrap_or_default());
        let named =
            |names: &[&str]| names.iter().any(|name| program.contains(name) || term.contains(name));
        if matches!(term.as_str(), "" | "dumb" | "linux") {
            None
        } else if named(&["iTerm", "WezTerm", "wezterm", "ghostty", "kitty"]) {
            Some(Self::Osc9)
        } else if named(&["foot", "rxvt"]) || set("VTE_VERSION") {
            Some(Self::Osc777)
        } else {
            None
        }
    }

    pub fn sequence(self, text: &SafeText) -> String {
        match self {
            Self::Osc9 => format!("\x1b]9;tessera: {text}\x1b\\"),
            Self::Osc777 => {
                format!("\x1b]777;notify;tessera;{}\x1b\\", text.as_str().replace(';', ","))
            }
        }
    }
}

/// Returns whether the terminal is known to show the progress sequence (OSC 9;4) as progress. Several terminals show it
/// as a desktop notification instead: iTerm2 before 3.6.6, kitty, foot, urxvt, and `WezTerm` before 2025. Multiplexers
/// do not pass it on.
pub fn shows_progress(variable: impl Fn(&str) -> Option<String>) -> bool {
    let value = |name: &str| variable(name).unwrap_or_default();
    let set = |name: &str| !value(name).is_empty();
    let at_least = |name: &str, least: u32| leading_number(&value(name)) >= Some(least);
    let (term, program) = (value("TERM"), value("TERM_PROGRAM"));
    if ["TMUX", "STY", "ZELLIJ"].into_iter().any(set) {
        return false;
    }
    match program.as_str() {
        // The leading number of its version is a date.
        "WezTerm" => at_least("TERM_PROGRAM_VERSION", 20_250_201),
        "ghostty" => true,
        "iTerm.app" => has_progress_feature(&value("TERM_FEATURES")),
        // These variables are inherited by other terminals, which name themselves in `TERM`.
        "" if matches!(term.as_str(), "xterm" | "xterm-256color" | "xterm-direct") => {
            set("WT_SESSION")
                || value("ConEmuANSI") == "ON"
                || at_least("VTE_VERSION", 7_900)
                || at_least("KONSOLE_VERSION", 260_400)
        }
        "" => term == "xterm-ghostty",
        _ => false,
    }
}

fn leading_number(text: &str) -> Option<u32> {
    text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Returns whether the feature `P` (progress) is in a list of features, each of which is an uppercase letter that
/// lowercase letters and digits may follow.
fn has_progress_feature(features: &str) -> bool {
    let next = |at: usize| features[at..].chars().nth(1);
    features
        .match_indices('P')
        .any(|(at, _)| next(at).is_none_or(|c| !c.is_ascii_lowercase() && !c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_terminals_show_progress() {
        let shows = |variables: &str| {
            shows_progress(|name| {
                let mut pairs = variables.split(' ').filter_map(|pair| pair.split_once('='));
                pairs.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
            })
        };
        for known in [
            "TERM=xterm-256color WT_SESSION=1",
            "TERM=xterm-256color ConEmuANSI=ON",
            "TERM=xterm-ghostty",
            "TERM=xterm-256color TERM_PROGRAM=ghostty",
            "TERM=xterm-256color TERM_PROGRAM=WezTerm TERM_PROGRAM_VERSION=20250608-081531-48ff9eae",
            "TERM=xterm-256color TERM_PROGRAM=iTerm.app TERM_FEATURES=T3CwLrMSc7UUw9Ts3BFGsSyHNoSxFP",
            "TERM=xterm-256color VTE_VERSION=8000",
            "TERM=xterm-256color KONSOLE_VERSION=260400",
        ] {
            assert!(shows(known), "{known}");
        }
        for other in [
            "TERM=xterm-256color",
            "TERM=xterm-kitty VTE_VERSION=8000 WT_SESSION=1",
            "TERM=foot",
            "TERM=rxvt-unicode-256color",
            "TERM=xterm-256color TERM_PROGRAM=iTerm.app TERM_PROGRAM_VERSION=3.5.0",
            "TERM=xterm-256color TERM_PROGRAM=iTerm.app TERM_FEATURES=T3CwPa2",
            "TERM=xterm-256color TERM_PROGRAM=WezTerm TERM_PROGRAM_VERSION=20240203-110809-5046fc22",
            "TERM=xterm-256color VTE_VERSION=7600",
            "TERM=xterm-256color KONSOLE_VERSION=251203",
            "TERM=xterm-256color WT_SESSION=1 TMUX=/tmp/x",
            "TERM=xterm-256color TERM_PROGRAM=vscode WT_SESSION=1",
        ] {
            assert!(!shows(other), "{other}");
        }
    }
}
