//! Copies text, and says where it is then: in the buffer of tmux or screen, in the clipboard of the desktop, or only
//! sent to the terminal, which does not say what it does with it.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use tessera_interface::{app::CopyOutcome, printable_text::PrintableText};

use crate::{
    environment::is_set,
    runtime::probe::Explanation,
    subprocess::{self, run_in_time},
};

type Variable<'a> = &'a dyn Fn(&str) -> bool;

/// Explains for `doctor` where a copy goes, and whether the program of the desktop's clipboard is missing.
pub fn explain_copies() -> Explanation {
    explanation(&is_set, &subprocess::is_on_path)
}

fn explanation(is_set: Variable, is_installed: &dyn Fn(&str) -> bool) -> Explanation {
    let clipboards = clipboards(is_set);
    let first = |programs: &[CopyProgram]| {
        programs.iter().find(|program| is_installed(program.name)).map(|program| program.place)
    };
    let places = [first(&buffers(is_set)), first(&clipboards)];
    let missing = clipboards.first().filter(|_| places[1].is_none());
    let places: Vec<&str> = places.into_iter().flatten().collect();
    let text = if places.is_empty() {
        "a copy is sent to the terminal by OSC 52, which its settings may have to allow".to_owned()
    } else {
        format!("a copy goes to {}", places.join(", and to "))
    };
    let remedy = missing
        .map(|program| format!("; install {} to reach the clipboard of the desktop", program.name));
    Explanation { text: text + &remedy.unwrap_or_default(), is_warning: missing.is_some() }
}

/// Copies by the programs that fit the environment. Blocks until they have ended. If none of them has copied the text,
/// the caller sends [`terminal_sequence`].
pub(super) fn copy(text: &PrintableText) -> CopyOutcome {
    let buffer = buffers(&is_set).into_iter().find(|program| program.copy(text));
    let clipboard = clipboards(&is_set).into_iter().find(|program| program.copy(text));
    let places: Vec<&str> = [buffer, clipboard].into_iter().flatten().map(|it| it.place).collect();
    if places.is_empty() { CopyOutcome::SentToTerminal } else { CopyOutcome::Copied(places) }
}

struct CopyProgram {
    name: &'static str,
    arguments: &'static [&'static str],
    /// Where the text is afterwards.
    place: &'static str,
}

/// Returns the programs that reach the buffer of the multiplexer.
fn buffers(is_set: Variable) -> Vec<CopyProgram> {
    let tmux = CopyProgram {
        name: "tmux",
        arguments: &["load-buffer", "-w", "-"],
        place: "the buffer of tmux, which also sends it to the terminal",
    };
    let screen = CopyProgram {
        name: "screen",
        arguments: &["-X", "readbuf", "-e", "utf8"],
        place: "the buffer of screen",
    };
    let in_use = [("TMUX", tmux), ("STY", screen)];
    in_use.into_iter().filter(|(name, _)| is_set(name)).map(|(_, program)| program).collect()
}

/// Returns the programs that reach the clipboard of the desktop, best first.
fn clipboards(is_set: Variable) -> Vec<CopyProgram> {
    let program = |name, arguments, place| CopyProgram { name, arguments, place };
    let mut found = Vec::new();
    if is_set("WAYLAND_DISPLAY") {
        found.push(program("wl-copy", &[][..], "the clipboard by wl-copy"));
    }
    if is_set("DISPLAY") {
        let arguments = &["-selection", "clipboard"];
        found.push(program("xclip", arguments, "the clipboard by xclip"));
    }
    // Over SSH, the clipboard of the remote machine is not the user's.
    if cfg!(target_os = "macos") && !is_set("SSH_CONNECTION") {
        found.push(program("pbcopy", &[][..], "the clipboard by pbcopy"));
    }
    found
}

impl CopyProgram {
    fn copy(&self, text: &PrintableText) -> bool {
        let mut command = subprocess::command(self.name);
        command.args(self.arguments);
        if self.name == "screen" {
            return copy_by_file(command, text);
        }
        finishes(command, text.as_str())
    }
}

/// Copies by a file, which screen reads some time after its command has ended. Screen handles commands in order, so it
/// has read the file when it answers a query.
fn copy_by_file(mut command: Command, text: &PrintableText) -> bool {
    let Ok(mut file) = tempfile::NamedTempFile::new() else { return false };
    if file.write_all(text.as_str().as_bytes()).is_err() {
        return false;
    }
    command.arg(file.path());
    let mut query = subprocess::command("screen");
    query.args(["-Q", "number"]);
    finishes(command, "") && finishes(query, "")
}

fn finishes(mut command: Command, input: &str) -> bool {
    run_in_time(command.stdout(Stdio::null()), input).is_some()
}

/// Returns the OSC 52 sequence. For tmux, the sequence is sent twice: plain for tmux's own buffer, and wrapped for the
/// outer terminal.
pub(super) fn terminal_sequence(text: &PrintableText, in_tmux: bool) -> String {
    let plain = format!("\x1b]52;c;{}\x07", BASE64_STANDARD.encode(text.as_str()));
    if in_tmux { format!("{plain}\x1bPtmux;\x1b{plain}\x1b\\") } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_fit_the_environment() {
        let names = |set: &[&str]| {
            let is_set = |name: &str| set.contains(&name);
            let programs = buffers(&is_set).into_iter().chain(clipboards(&is_set));
            programs
                .map(|program| program.name)
                .filter(|name| *name != "pbcopy")
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&[]), [""; 0]);
        assert_eq!(names(&["TMUX"]), ["tmux"]);
        assert_eq!(names(&["STY", "DISPLAY"]), ["screen", "xclip"]);
        assert_eq!(names(&["WAYLAND_DISPLAY", "DISPLAY"]), ["wl-copy", "xclip"]);
    }

    #[test]
    fn a_copy_goes_to_the_installed_programs_and_otherwise_to_the_terminal() {
        let explained = |set: &[&str], installed: &[&str]| {
            explanation(&|name| set.contains(&name), &|name| installed.contains(&name))
        };
        let Explanation { text, is_warning } = explained(&["TMUX", "DISPLAY"], &["tmux", "xclip"]);
        assert!(text.ends_with("to the terminal, and to the clipboard by xclip"), "{text}");
        assert!(!is_warning);
        let Explanation { text, is_warning } = explained(&["WAYLAND_DISPLAY", "DISPLAY"], &[]);
        assert!(text.contains("OSC 52") && text.contains("; install wl-copy"), "{text}");
        assert!(is_warning);
        assert!(!explained(&["WAYLAND_DISPLAY", "DISPLAY"], &["xclip"]).is_warning);
    }

    #[test]
    fn a_program_that_is_missing_fails_or_hangs_has_not_copied() {
        let text = PrintableText::lines("text");
        let program = |name, arguments| CopyProgram { name, arguments, place: "" };
        assert!(!program("no-such-program", &[]).copy(&text));
        assert!(!program("false", &[]).copy(&text));
        assert!(!program("tail", &["-f", "/dev/null"]).copy(&text));
        assert!(program("grep", &["-q", "^text$"]).copy(&text));
    }
}
