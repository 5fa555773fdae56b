//! Tests what a terminal sends to the real binary: sequences in pieces, replies that come late, and pasted text without
//! an end.

use std::time::{Duration, Instant};

use super::{Program, assert_given_back, pty};

const REPLY: &str =
    "\x1bP>|XTerm(380)\x1b\\\x1b[6;20;10t\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?64;1;2;4c";

/// Sends the bytes one by one. The terminal delivers each of them before the next one is written.
fn press_slowly(program: &mut Program, keys: &str) {
    for key in keys.chars() {
        program.press(&key.to_string());
        std::thread::yield_now();
    }
}

#[test]
fn a_key_that_arrives_in_pieces_is_one_key() {
    let mut program = Program::in_half_blocks();
    program.wait_for("Detail  1 of ");
    program.press("c");
    program.wait_for("Search by caption");
    press_slowly(&mut program, "\x1b[B\x1b[A\x1bOB\x1b[1;5D\x1b[A");
    program.press("still open");
    program.wait_for("still open");
    // The keypad of a serial console sends Ctrl-H for the Backspace key.
    program.press("\x08\x08\x08\x08!");
    program.wait_for("still !");
    program.press("\x1b");
    program.wait_until_gone("Search by caption");
    program.press("q");
    assert_eq!(program.wait(), 0);
}

#[test]
fn pasted_text_without_an_end_does_not_take_the_keys() {
    let mut program = Program::in_half_blocks();
    program.wait_for("Detail  1 of ");
    program.press("c");
    program.wait_for("Search by caption");
    program.press("\x1b[200~red van\rat night");
    program.wait_for("red van at night");
    program.press("\x1b");
    program.wait_until_gone("Search by caption");
    program.press("q");
    assert_eq!(program.wait(), 0);
}

/// Runs a command in a shell that then reads what is left of the input.
fn followed_by_shell(command: &str) -> Program {
    let script = format!(
        "set +e; {command}; printf 'shell reads'; read -rs rest; printf 'rest=%q;' \"$rest\""
    );
    pty::Program::script(&script, tempfile::tempdir().unwrap())
}

#[test]
fn replies_that_come_late_never_reach_the_shell() {
    for (command, keys) in [
        ("tessera doctor --offline", ""),
        ("tessera demo --images 12 --data data", "\x03\x03"),
        ("tessera demo --images 12 --data data", "q"),
    ] {
        let mut program = followed_by_shell(command);
        program.wait_for_any(&["\x1b[c"]);
        program.press(keys);
        let before = program.output().len();
        if !keys.is_empty() {
            // The screen is restored, and the program waits for the replies.
            program.wait_for_after(before, "\x1b[?1049l");
        }
        program.press(REPLY);
        program.wait_for("shell reads");
        program.press("ls\r");
        program.wait_for("rest=ls;");
        assert_eq!(program.wait(), 0, "{command}");
    }
}

#[test]
fn the_last_query_comes_after_everything_that_the_terminal_has_sent() {
    let mut program = followed_by_shell("tessera demo --images 12 --data data");
    program.wait_for_any(&["\x1b[c"]);
    program.press(REPLY);
    program.wait_for("Results");
    let before = program.output().len();
    program.press("q");
    program.wait_for_after(before, "\x1b[c");
    // The mouse was moved before the terminal stopped reporting it.
    program.press("\x1b[<35;10;10M\x1b[?64;1;2;4c");
    program.wait_for("shell reads");
    program.press("ls\r");
    program.wait_for("rest=ls;");
    assert_eq!(program.wait(), 0);
}

#[test]
fn a_terminal_that_may_have_printed_a_query_gets_a_whole_frame_again() {
    for (reply, is_whole) in [("\x1b[?6c", true), (REPLY, false)] {
        let mut program = Program::in_half_blocks();
        program.wait_for_any(&["\x1b[c"]);
        let before = program.output().len();
        program.press(reply);
        program.press("?");
        program.wait_for("In Results");
        assert_eq!(program.output()[before..].contains("\x1b[2J"), is_whole, "{reply:?}");
        program.press("qq");
        program.wait();
    }
}

#[test]
fn the_queries_of_a_command_leave_the_screen_as_it_was() {
    let mut program = pty::Program::command(tempfile::tempdir().unwrap(), |command, _| {
        command.args(["doctor", "--offline"]);
    });
    program.wait_for_any(&["\x1b[c\r\x1b[K"]);
    // Some terminals take these queries as orders to scroll the screen and to move the cursor.
    for query in ["\x1b[?2;1;0S", "\x1b[?2;4;0S", "\x1b[?u"] {
        assert!(!program.output().contains(query), "{query:?}");
    }
    // The position of a cursor in the first row has the form of a key.
    program.press(&format!("\x1b[1;2R{REPLY}"));
    assert_eq!(program.wait(), 0);
    program.wait_for_after(0, "ambiguous characters fill one column");
}

#[test]
fn a_silent_terminal_delays_the_end_for_a_limited_time() {
    let mut program = Program::in_half_blocks();
    program.wait_for_any(&["\x1b[c"]);
    let start = Instant::now();
    program.signal("INT");
    assert_eq!(program.wait(), 130);
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_given_back(&program, "silent");
}

#[test]
fn a_signal_during_the_queries_of_a_command_ends_it_and_gives_the_terminal_back() {
    for (signal, code) in [("TERM", 143), ("HUP", 129), ("INT", 130), ("XCPU", 152)] {
        let mut program = pty::Program::command(tempfile::tempdir().unwrap(), |command, _| {
            command.args(["doctor", "--offline"]);
        });
        program.wait_for_any(&["\x1b[c"]);
        program.signal(signal);
        program.press(REPLY);
        let ended = program.wait();
        assert!(program.is_as_found(), "{signal}: the line settings differ");
        assert_eq!(ended, code, "{signal}");
    }
}

#[test]
fn keys_of_other_layouts_act_where_the_terminal_reports_their_place() {
    let mut program = Program::in_half_blocks();
    program.wait_for_any(&["\x1b[c"]);
    program.press("\x1b[?0u\x1b[?62;c");
    program.wait_for_any(&["\x1b[>29u"]);
    program.wait_for("Detail  1 of ");
    // The key with the Russian letter "es" has the Latin letter C.
    program.press("\x1b[1089::99;;1089u");
    program.wait_for("Search by caption");
    program.press("\x1b[1089::99;;1089u\x1b[1086::106;;1086u");
    program.wait_for("со");
    program.press("\x1b[27u");
    program.wait_until_gone("Search by caption");
    program.press("\x1b[1081::113;;1081u");
    assert_eq!(program.wait(), 0);
    program.wait_for_last("\x1b[<u", "\x1b[>29u");
    assert_given_back(&program, "keyboard");
}

#[test]
fn letters_of_other_layouts_are_explained_where_the_terminal_reports_only_them() {
    let mut program = Program::in_half_blocks();
    program.wait_for("Results");
    program.press("фыв");
    program.wait_for("Latin keyboard layout");
    program.press("q");
    assert_eq!(program.wait(), 0);
}
