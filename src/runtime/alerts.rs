//! Sends alerts through the terminal: the bell, a desktop notification, the progress in the tab and
//! the window title. A sequence is sent only to terminals that are known to interpret it correctly.

use tessera_config::{DesktopProtocol, shows_progress};
use tessera_interface::app::{Activity, JobAlert};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlertSupport {
    desktop: Option<DesktopProtocol>,
    progress: bool,
    title: bool,
}

/// Saves the window title, so that it can be restored.
const PUSH_TITLE: &str = "\x1b[22;2t";
/// Clears the progress and restores the title.
const RESET_PROGRESS_AND_TITLE: &str = "\x1b]9;4;0;\x1b\\\x1b[23;2t";
const RESTORE_TITLE: &str = "\x1b[23;2t";

impl AlertSupport {
    pub fn detect() -> Self {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// Detects the terminal from its environment variables. Multiplexers pass only the title on.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let term = variable("TERM").unwrap_or_default();
        let title = !matches!(term.as_str(), "" | "dumb" | "linux");
        let desktop = DesktopProtocol::detect(&variable);
        Self { desktop, progress: title && shows_progress(&variable), title }
    }

    /// Returns the bytes of an alert. `first` is set if the original title is not saved yet.
    pub fn sequence(self, alert: &JobAlert, first: bool) -> String {
        match (alert, self.desktop) {
            (JobAlert::Bell, _) => "\x07".to_owned(),
            (JobAlert::Desktop(text), Some(desktop)) => desktop.sequence(text),
            (JobAlert::Desktop(_), None) => String::new(),
            (JobAlert::Activity(activity), _) => self.activity_sequence(*activity, first),
        }
    }

    fn activity_sequence(self, activity: Activity, first: bool) -> String {
        let mut bytes = String::new();
        if self.title {
            if first {
                bytes.push_str(PUSH_TITLE);
            }
            let title = match activity.active_jobs {
                0 => "tessera".to_owned(),
                jobs => format!("tessera {jobs}▶"),
            };
            bytes.extend(["\x1b]2;", &title, "\x1b\\"]);
        }
        if self.progress {
            let progress = match activity {
                Activity { active_jobs: 0, .. } => "\x1b]9;4;0;\x1b\\".to_owned(),
                Activity { percent: Some(percent), .. } => format!("\x1b]9;4;1;{percent}\x1b\\"),
                Activity { percent: None, .. } => "\x1b]9;4;3;\x1b\\".to_owned(),
            };
            bytes.push_str(&progress);
        }
        bytes
    }

    pub fn reset_sequence(self) -> &'static str {
        match (self.title, self.progress) {
            (_, true) => RESET_PROGRESS_AND_TITLE,
            (true, false) => RESTORE_TITLE,
            (false, false) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use tessera_model::SafeText;

    use super::*;

    fn terminal(set: &[(&str, &str)]) -> AlertSupport {
        AlertSupport::from_variables(|name| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn each_terminal_gets_only_supported_alerts() {
        let done = JobAlert::Desktop(SafeText::detail("export of a;b is done"));
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
        let half = JobAlert::Activity(Activity { active_jobs: 2, percent: Some(50) });
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
