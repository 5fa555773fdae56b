//! Tests the real binary in a pseudo-terminal. Whatever happens, the program ends and restores the
//! terminal.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod announcer;
mod cell_writer;
mod connect;
mod custom_commands;
mod frames;
mod get_model;
mod indexing;
mod job_control;
mod load;
mod picture_layer;
pub mod pty;
mod scrolling;
mod serving;
mod soak;
mod terminal_replies;

use std::time::{Duration, Instant};

use pty::Program;

/// The modes that are on while the program runs: alternate screen, paste and mouse reports. The
/// cursor is hidden.
const SWITCHES: [&str; 3] = ["\x1b[?1049", "\x1b[?2004", "\x1b[?1000"];

fn assert_given_back(program: &Program, what: &str) {
    assert!(program.is_as_found(), "{what}: the line settings differ");
    let bytes = program.output();
    for switch in SWITCHES {
        let on = bytes.rfind(&format!("{switch}h"));
        let off = bytes.rfind(&format!("{switch}l"));
        assert!(on.is_some() && off > on, "{what}: {switch:?} is still on");
    }
    assert!(bytes.rfind("\x1b[?25h") > bytes.rfind("\x1b[?25l"), "{what}: no cursor");
}

#[test]
fn a_silent_terminal_gets_its_first_frame_and_quits() {
    let mut program = Program::demo();
    program.wait_for("tessera");
    program.wait_for("Results");
    program.press("q");
    assert_eq!(program.wait(), 0);
    assert_given_back(&program, "quit");
}

/// What shows that a picture is drawn: half-blocks, a kitty placeholder, or a sixel picture.
const PICTURES: [&str; 3] = ["▀", "\u{10eeee}", "\x1bP0;"];

#[test]
fn no_dialog_appears_before_the_first_picture_of_a_consistent_terminal() {
    let replies = [
        ("", ""),
        ("kitty", "\x1b_Gi=31;OK\x1b\\\x1bP>|kitty(0.36.4)\x1b\\\x1b[?62;c"),
        ("foot", "\x1bP>|foot(1.17.2)\x1b\\\x1b[?62;4;22c"),
    ];
    for (name, reply) in replies {
        let mut program = Program::command(tempfile::tempdir().unwrap(), |command, home| {
            command.env("TERM_PROGRAM", name);
            command.args(["demo", "--images", "12", "--data"]);
            command.arg(home);
        });
        // This is the last of the queries.
        program.wait_for_after(0, "\x1b[c");
        program.press(reply);
        program.wait_for_any(&PICTURES);
        let output = program.output();
        for dialog in ["Test picture", "Do you see", "Esc close"] {
            assert!(!output.contains(dialog), "{dialog} in {name:?}");
        }
        program.press("q");
        assert_eq!(program.wait(), 0);
    }
}

#[test]
fn the_mouse_over_a_key_shows_its_help() {
    let mut program = Program::in_half_blocks();
    program.wait_for("● READY");
    let screen = program.screen();
    let (row, line) =
        screen.lines().enumerate().find(|(_, line)| line.contains(". actions")).unwrap();
    let column = line.split_once(". actions").unwrap().0.chars().count();
    let motion = |column: usize, row: usize| format!("\x1b[<35;{};{}M", column + 1, row + 1);
    program.press(&motion(column, row));
    program.wait_for("Show all actions, and why some are unavailable");
    program.press(&motion(column + 1, row));
    program.press(&motion(1, 1));
    program.wait_until_gone("Show all actions, and why some are unavailable");
    program.press("q");
    assert_eq!(program.wait(), 0);
}

#[test]
fn the_next_start_continues_the_session_unless_it_is_fresh() {
    let demo = "tessera demo --images 12 --data index";
    let script = format!("{demo}\n{demo}\n{demo} --fresh");
    let mut program = Program::script(&script, tempfile::tempdir().unwrap());
    program.wait_for("● READY");
    // Ctrl-T opens a second tab.
    program.press("\x14");
    program.wait_for("2 all");
    let second = program.output().len();
    program.press("q");
    program.wait_for_after(second, "2 all");
    let third = program.output().len();
    program.press("q");
    program.wait_for_after(third, "\x1b[?1049h");
    let third = third + program.output()[third..].find("\x1b[?1049h").unwrap();
    program.wait_for_after(third, "● READY");
    assert!(!program.output()[third..].contains("2 all"));
    program.press("q");
    assert_eq!(program.wait(), 0);
}

#[test]
fn a_theme_without_a_file_is_reported_and_replaced() {
    let mut program = Program::command(tempfile::tempdir().unwrap(), |command, home| {
        command.args(["--theme", "purple", "demo", "--images", "12", "--data"]);
        command.arg(home);
    });
    program.wait_for("there is no theme");
    program.wait_for("Results");
    program.press("q");
    assert_eq!(program.wait(), 0);
    assert_given_back(&program, "theme");
}

#[test]
fn a_terminal_without_a_name_gets_a_sentence_and_no_sequences() {
    let mut program = Program::without_term();
    assert_eq!(program.wait(), 2);
    let output = program.output();
    assert!(output.contains("TERM") && !output.contains('\x1b'), "{output}");
}

#[test]
fn the_first_run_opens_and_saves_a_folder() {
    let mut program = Program::alone();
    program.wait_for("What do you want to open?");
    let pictures = program.home().join("pictures");
    tessera_testing::pictures::write_noise(&pictures, 12);
    program.press("2");
    program.wait_for("profile name");
    program.press("/nowhere/at/all\r\r");
    program.wait_for("No such file");
    let kept = program.home().join("tessera/config.toml");
    assert!(!kept.exists(), "nothing is written before it was reached");
    // The folder field has the focus. Ctrl-U clears it.
    program.press("\x15");
    program.press(&format!("{}\rmine\r", pictures.display()));
    program.wait_for("● READY");
    program.press("P");
    program.wait_for("Open another deployment");
    let kept = std::fs::read_to_string(kept).unwrap();
    assert!(kept.contains("[profiles.mine]"), "{kept}");
    program.press("\x1b");
    program.wait_until_gone("Open another deployment");
    program.press("q");
    assert_eq!(program.wait(), 0);
    assert_given_back(&program, "first run");
}

#[test]
fn a_signal_ends_the_first_run() {
    let mut program = Program::alone();
    program.wait_for("What do you want to open?");
    program.signal("TERM");
    assert_eq!(program.wait(), 143);
    assert!(program.is_as_found());
    program.wait_for_last("\x1b[?1049l", "\x1b[?1049h");
}

#[test]
fn signals_end_the_program_and_restore_the_terminal() {
    for (signal, code) in [
        ("INT", 130),
        ("TERM", 143),
        ("HUP", 129),
        ("QUIT", 131),
        ("USR1", 138),
        ("USR2", 140),
        ("ALRM", 142),
        ("ABRT", 134),
        ("XCPU", 152),
        ("VTALRM", 154),
    ] {
        let mut program = Program::demo();
        program.wait_for("Results");
        program.signal(signal);
        assert_eq!(program.wait(), code, "SIG{signal}");
        assert_given_back(&program, signal);
    }
}

#[test]
fn signals_end_the_program_while_its_output_is_stopped() {
    // Each signal arrives once at rest, and once while the program is blocked in writing a frame.
    for keys in ["", "?"] {
        for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129), ("QUIT", 131)] {
            let mut program = Program::in_half_blocks();
            program.wait_for("Results");
            program.stop_output();
            program.press(keys);
            let start = Instant::now();
            program.signal(signal);
            assert_eq!(program.wait(), code, "SIG{signal} after {keys:?}");
            assert!(start.elapsed() < Duration::from_secs(10), "SIG{signal} after {keys:?}");
            assert_given_back(&program, signal);
        }
    }
}

#[test]
fn a_signal_ends_the_full_size_view() {
    let mut program = Program::demo();
    program.wait_for("Detail  1 of ");
    program.press("s");
    program.wait_for("% whole");
    let start = Instant::now();
    program.signal("TERM");
    assert_eq!(program.wait(), 143);
    assert!(
        start.elapsed() < Duration::from_millis(1500),
        "ended by the loop, not by the last resort"
    );
    assert_given_back(&program, "full size");
}

#[test]
fn the_program_ends_when_the_terminal_closes() {
    let mut program = Program::demo();
    program.wait_for("Results");
    program.vanish();
    let start = Instant::now();
    program.wait();
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "it must not spin on a terminal that is gone"
    );
}

#[test]
fn stop_and_continue() {
    let mut program = Program::demo();
    program.wait_for("Results");
    for _ in 0..3 {
        program.signal("TSTP");
        program.wait_until_stopped();
        // All output before the stop has been read once its last sequence is there.
        program.wait_for_last("\x1b[?1049l", "\x1b[?1049h");
        assert_given_back(&program, "stopped");
        let before = program.output().len();
        program.signal("CONT");
        program.wait_for_after(before, "\x1b[?1049h");
        program.wait_for_after(before, "Results");
    }
    program.press("q");
    assert_eq!(program.wait(), 0);
    assert_given_back(&program, "quit after stops");
}

#[test]
fn a_key_after_a_resize_is_handled_immediately() {
    let mut program = Program::in_half_blocks();
    program.wait_for("Results");
    for (columns, rows) in [(100, 30), (110, 35), (120, 40)] {
        program.press("?");
        program.wait_for("In Results");
        let before = program.output().len();
        program.resize(columns, rows);
        program.wait_for_after(before, "In Results");
        program.press("\x1b");
        program.wait_until_gone("In Results");
    }
    program.press("q");
    assert_eq!(program.wait(), 0);
    assert_given_back(&program, "resized");
}

#[test]
fn an_incomplete_key_does_not_block_the_program() {
    let mut program = Program::in_half_blocks();
    program.wait_for("Results");
    program.press("?");
    program.wait_for("In Results");
    program.press("\x1b[1");
    for (columns, rows) in [(100, 30), (110, 35), (120, 40)] {
        let before = program.output().len();
        program.resize(columns, rows);
        program.wait_for_after(before, "In Results");
    }
    program.signal("TERM");
    assert_eq!(program.wait(), 143);
    assert_given_back(&program, "in the middle of a key");
}

#[test]
fn a_too_small_terminal_shows_a_message() {
    let mut program = Program::sized(20, 5);
    program.wait_for("needs");
    program.press("q");
    assert_eq!(program.wait(), 0);
}

#[test]
fn probe_replies_never_become_keys() {
    // These late replies arrive in parts, and some of their bytes are letters that are keys. They
    // must not quit the program.
    let mut program = Program::in_half_blocks();
    program.wait_for("Results");
    for part in ["\x1b[?6", "2;4;22c", "\x1b[0n", "\x1bP>|xterm(390)\x1b\\"] {
        program.press(part);
    }
    program.press("?");
    program.wait_for("In Results");
    program.press("q");
    program.wait_for("1 Datasets");
    program.press("q");
    assert_eq!(program.wait(), 0);
}

#[test]
fn a_panic_restores_the_terminal_before_its_report() {
    let mut program = Program::ignored_test("terminal::panics_inside_the_terminal_screen");
    assert_ne!(program.wait(), 0);
    program.wait_for_after(0, "this panic is wanted");
    assert_given_back(&program, "panic");
    let bytes = program.output();
    assert!(bytes.find("this panic is wanted") > bytes.rfind("\x1b[?1049l"), "reported too early");
}

#[test]
#[ignore = "a_panic_restores_the_terminal_before_its_report runs it in a terminal"]
fn panics_inside_the_terminal_screen() {
    let screen = tessera::runtime::terminal::TerminalScreen::enter(true).unwrap();
    // The screen is leaked, so that only the panic hook can restore the terminal.
    std::mem::forget(screen);
    panic!("this panic is wanted");
}
