//! The ways in which the end of a job is told.

use serde::Deserialize;

use tessera_model::SafeText;

/// One way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotificationMethod {
    /// A line in the program.
    Toast,
    /// The bell of the terminal.
    Bell,
    /// A notification of the desktop, through the terminal.
    Desktop,
    /// The progress in the terminal's tab, and its title.
    Progress,
}

impl NotificationMethod {
    /// Every way.
    pub const ALL: [Self; 4] = [Self::Toast, Self::Bell, Self::Desktop, Self::Progress];
}

/// The two ways in which terminals pass a notification on to the desktop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesktopProtocol {
    /// OSC 9: one text.
    Osc9,
    /// OSC 777: a title and a text.
    Osc777,
}

impl DesktopProtocol {
    /// The way of a terminal, by the variables that it sets. A terminal that may take a sequence for
    /// something else has none, and multiplexers pass nothing on.
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

    /// The bytes that notify.
    pub fn sequence(self, words: &SafeText) -> String {
        match self {
            Self::Osc9 => format!("\x1b]9;tessera: {words}\x1b\\"),
            Self::Osc777 => {
                format!("\x1b]777;notify;tessera;{}\x1b\\", words.as_str().replace(';', ","))
            }
        }
    }
}
