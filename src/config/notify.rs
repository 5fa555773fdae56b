//! How finished jobs are announced.

use serde::Deserialize;

use tessera_model::SafeText;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotificationMethod {
    Toast,
    Bell,
    /// A desktop notification, through the terminal.
    Desktop,
    /// Progress in the terminal's tab and title.
    Progress,
}

impl NotificationMethod {
    pub const ALL: [Self; 4] = [Self::Toast, Self::Bell, Self::Desktop, Self::Progress];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesktopProtocol {
    /// One text.
    Osc9,
    /// A title and a text.
    Osc777,
}

impl DesktopProtocol {
    /// By the environment variables of a terminal. `None` for terminals that could interpret the
    /// sequence differently, and inside multiplexers, which do not pass it on.
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
