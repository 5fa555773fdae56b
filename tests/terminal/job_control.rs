//! Tests Ctrl-C and Ctrl-Z in the real binary, and signals that its parent ignores.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

use super::{Program, assert_given_back, pty};

fn script(script: &str) -> Program {
    pty::Program::script(script, tempfile::tempdir().unwrap())
}

/// Waits until the interface handles keys.
fn open_and_close_help(program: &mut Program) {
    program.wait_for("Results");
    program.press("?");
    program.wait_for("In Results");
    program.press("\x1b");
    program.wait_until_gone("In Results");
}

#[test]
fn ctrl_c_ends_a_question_and_any_read_from_the_keyboard() {
    let profile = "tessera profile add lab --kind onprem --base-url http://lab.example";
    for (command, shown) in [
        ("exec tessera profile remove lab", "[y/N]"),
        ("echo reads; exec tessera query check", "reads"),
        ("mkfifo pipe; echo reads; exec tessera query check pipe", "reads"),
        ("mkfifo pipe; echo reads; exec tessera set union pipe pipe", "reads"),
        ("echo reads; exec tessera image show -", "reads"),
        ("mkfifo pipe; echo reads; exec tessera image show pipe", "reads"),
        (
            "mkfifo pipe; echo reads; export TESSERA_BASE_URL=http://lab TESSERA_KIND=hosted TESSERA_API_KEY=k
            TESSERA_API_SECRET_FILE=pipe exec tessera auth token",
            "reads",
        ),
        (
            "echo reads; exec tessera selection add 8d057245-3fac-523b-ab70-4812919e09a1 --from-results -",
            "reads",
        ),
    ] {
        let mut program = script(&format!("{profile}\n{command}"));
        program.wait_for(shown);
        program.wait_until_handled(2);
        let pressed = Instant::now();
        program.press("\x03");
        assert_eq!(program.wait(), 130, "{command}: {}", program.output());
        // A command that notices nothing ends after seven seconds.
        assert!(pressed.elapsed() < Duration::from_secs(4), "{command}");
        assert!(program.is_as_found(), "{command}");
    }
}

/// Prepares a profile, and asks for its cookie.
const COOKIE_PROMPT: &str =
    "tessera profile add prod --kind hosted --base-url http://127.0.0.1:1 2> /dev/null
    exec tessera auth import --profile prod --insecure-storage";

#[test]
fn a_signal_at_the_prompt_for_a_secret_restores_the_terminal() {
    for signal in ["TERM", "HUP", "QUIT", "INT", "USR1", "ALRM", "XCPU", "VTALRM", "PROF"] {
        let mut program = script(COOKIE_PROMPT);
        program.wait_for("(not shown):");
        assert!(program.line_settings().contains("-echo "), "{signal}");
        program.signal(signal);
        assert_ne!(program.wait(), 0, "{signal}");
        assert!(program.is_as_found(), "{signal}: {}", program.line_settings());
    }
}

#[test]
fn ctrl_backslash_ends_the_prompt_for_a_secret() {
    let mut program = script(COOKIE_PROMPT);
    program.wait_for("(not shown):");
    program.press("\x1c");
    assert_ne!(program.wait(), 0);
    assert!(program.is_as_found(), "{}", program.line_settings());
}

#[test]
fn ctrl_z_at_the_prompt_for_a_secret_shows_typed_keys_until_the_prompt_is_back() {
    let prompt = COOKIE_PROMPT.replace("exec ", "");
    let mut program = script(&format!("set +e -m\n{prompt}\necho stopped; read; fg"));
    program.wait_for("(not shown):");
    program.press("\x1a");
    program.wait_for("stopped");
    assert!(program.is_as_found(), "{}", program.line_settings());
    let before = program.output().len();
    program.press("\r");
    program.wait_for_after(before, "(not shown):");
    assert!(program.line_settings().contains("-echo "));
    let cookie = "c".repeat(5_000);
    program.press(&format!("{cookie}\r"));
    assert_ne!(program.wait(), 0, "no service is there");
    assert!(program.is_as_found(), "{}", program.line_settings());
    let output = program.output();
    assert!(!output.contains("ccc") && !output.contains("not a cookie"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_clear_the_progress_which_is_drawn_again_after_a_stop() {
    let id = "ad48d250-0000-11f1-bfca-000000000001";
    let progress = AtomicUsize::new(0);
    let service = ScriptedServer::start(move |_: &ReceivedRequest| {
        let progress = progress.fetch_add(1, Ordering::SeqCst);
        Reply::json(format!(
            r#"{{"id": "{id}", "display_name": "pets", "status_new": "INDEXING", "progress": {progress}}}"#
        ))
    })
    .await;
    let command = format!(
        "WT_SESSION=1 tessera dataset wait -d {id} --kind onprem --base-url {}",
        service.url()
    );
    let (shown, cleared) = ("\x1b]9;4;1;", "\r\x1b[K\x1b]9;4;0;\x07");
    for signal in ["TERM", "HUP", "QUIT"] {
        let mut program = script(&format!("export {}", command.replacen(' ', "; exec ", 1)));
        program.wait_for_any(&[shown]);
        program.signal(signal);
        program.wait();
        assert!(program.output().ends_with(cleared), "{signal}: {:?}", program.output());
    }
    let mut program = script(&format!("set +e -m\n{command}\necho stopped; read; fg"));
    program.wait_for_any(&[shown]);
    program.press("\x1a");
    program.wait_for("stopped");
    let output = program.output();
    assert!(output.rfind(cleared) > output.rfind(shown), "{output:?}");
    program.press("\r");
    program.wait_for_after(output.len(), shown);
    program.press("\x03");
    assert_eq!(program.wait(), 130);
}

#[test]
fn a_backspace_that_the_terminal_does_not_know_deletes_in_an_answer() {
    let mut program = script(
        "tessera profile add lab --kind onprem --base-url http://lab.example
        stty erase undef
        exec tessera profile remove lab",
    );
    program.wait_for("[y/N]");
    program.press("n\x08yx\x7f\r");
    assert_eq!(program.wait(), 0, "{}", program.output());
}

#[test]
fn ctrl_z_stops_the_script_that_runs_the_interface() {
    for (command, shown) in
        [("tessera demo --images 12 --data data", "Results"), ("tessera", "1-4 or Enter select")]
    {
        let mut program = script(&format!(
            "set +e -m
            echo '{command}; echo the script continues' > wrap.sh
            sh wrap.sh
            echo stopped with $?
            fg"
        ));
        program.wait_for(shown);
        if command != "tessera" {
            open_and_close_help(&mut program);
        }
        let before = program.output().len();
        program.press("\x1a");
        // The shell resumes the job at once.
        program.wait_for_after(before, "stopped with 148");
        program.wait_for_after(before, shown);
        program.press("q");
        program.wait_for("the script continues");
        assert_eq!(program.wait(), 0);
        assert!(program.is_as_found(), "{command}");
    }
}

#[test]
fn a_terminal_restores_its_keyboard_setting_as_often_as_it_saves_it() {
    const SAVE: &str = "\x1b[>29u";
    for signals in [&["TSTP"][..], &["TSTP", "TSTP", "TSTP"], &["STOP"]] {
        let mut program = Program::in_half_blocks();
        program.wait_for_any(&["\x1b[c"]);
        program.press("\x1b[?0u\x1b[?62;c");
        program.wait_for_any(&[SAVE]);
        program.wait_for("Results");
        for signal in signals {
            program.signal(signal);
            program.wait_until_stopped();
            let before = program.output().len();
            program.signal("CONT");
            program.wait_for_after(before, "\x1b[=29u");
        }
        program.press("q");
        assert_eq!(program.wait(), 0);
        let output = program.output();
        let (saved, restored) = (output.matches(SAVE).count(), output.matches("\x1b[<u").count());
        assert_eq!(saved, restored, "{signals:?}");
    }
}

#[test]
fn ctrl_z_stops_nothing_that_no_shell_could_resume() {
    // The program is the leader of its session, and then a part of the job of the leader.
    let mut programs =
        [Program::in_half_blocks(), script("tessera demo --images 12 --data data; exit")];
    for program in &mut programs {
        open_and_close_help(program);
        program.press("\x1a");
        program.wait_for("cannot suspend");
        program.press("q");
        assert_eq!(program.wait(), 0);
        assert_given_back(program, "not suspended");
    }
}

#[test]
fn signals_that_the_parent_ignores_stay_ignored() {
    let mut program = script("trap '' HUP INT; exec tessera demo --images 12 --data data");
    program.wait_for("Results");
    for signal in ["HUP", "INT"] {
        program.signal(signal);
    }
    program.press("?");
    program.wait_for("In Results");
    program.signal("TERM");
    assert_eq!(program.wait(), 143);
    assert_given_back(&program, "ignored signals");
}

#[test]
fn a_terminal_that_does_not_know_its_size_is_drawn_with_the_size_of_the_variables() {
    for (variables, columns) in [("COLUMNS=70 LINES=24", 70), ("", 80)] {
        let mut program = script(&format!(
            "stty rows 0 cols 0; unset COLUMNS LINES
            {variables} exec tessera demo --images 12 --data data"
        ));
        program.wait_for("Results");
        let widest = program.screen().lines().map(|line| line.trim_end().chars().count()).max();
        assert!(widest.unwrap() <= columns, "{variables}: {}", program.screen());
        program.press("q");
        assert_eq!(program.wait(), 0);
    }
}
