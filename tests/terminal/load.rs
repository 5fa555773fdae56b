//! Tests the program under load: floods of resizes and keys, stopped output, editors that are
//! killed, and the clipboard.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use portable_pty::CommandBuilder;

use super::{assert_given_back, pty::Program};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

const FRAME: &str = "\x1b[?2026h";
/// The shortest interval between two frames, except for frames after keys.
const MIN_FRAME_MILLIS: u128 = 12;

#[test]
fn a_flood_of_resizes_is_drawn_in_few_frames_and_ends_with_the_right_one() {
    let mut program = Program::in_half_blocks();
    program.wait_for("Results");
    let (before, start) = (program.output().len(), Instant::now());
    for number in 0..1_000 {
        program.resize(90 + number % 30, 30 + number % 10);
    }
    program.resize(120, 40);
    program.press("?");
    program.wait_for("In Results");
    program.press("\x1b");
    program.wait_until_gone("In Results");
    let frames = program.output()[before..].matches(FRAME).count() as u128;
    let allowed = start.elapsed().as_millis() / MIN_FRAME_MILLIS + 10;
    assert!(frames <= allowed.min(1_000), "{frames} frames, at most {allowed}");
    program.press("q");
    assert_eq!(program.wait(), 0);
    assert_given_back(&program, "resizes");
}

/// Runs a check in the interface of a service that lists a dataset of this status, and never replies to other requests.
async fn with_hanging_service(
    status: &'static str,
    check: impl FnOnce(&mut Program) + Send + 'static,
) {
    let server = ScriptedServer::start(move |seen: &ReceivedRequest| {
        const ID: &str = "ad48d250-0000-11f1-bfca-000000000001";
        let record =
            format!(r#"[{{"id":"{ID}","display_name":"hanging","status_new":"{status}"}}]"#);
        if seen.path().ends_with("/datasets") {
            Reply::json(record)
        } else {
            Reply::hold(Vec::new())
        }
    })
    .await;
    let url = server.url();
    let checked = tokio::task::spawn_blocking(move || {
        let script = format!("exec tessera --base-url {url} --kind onprem 2> messages");
        let mut program = Program::script(&script, tempfile::tempdir().unwrap());
        program.wait_for("hanging");
        check(&mut program);
    });
    checked.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_the_service_does_not_confirm_is_reported_at_each_end() {
    let ends: [fn(&mut Program); 2] = [|program| program.signal("TERM"), Program::vanish];
    for end in ends {
        with_hanging_service("PARTIAL INDEX", move |program| {
            program.press("R");
            program.wait_for("Enter reindex");
            program.press("y");
            program.wait_until_gone("Enter reindex");
            let start = Instant::now();
            end(program);
            assert_ne!(program.wait(), 0);
            assert!(start.elapsed() < Duration::from_secs(10));
            let messages = fs::read_to_string(program.home().join("messages")).unwrap();
            let report = "the program ended before this was finished: starting a job";
            assert!(messages.contains(report), "{messages}");
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_handled_while_the_service_hangs() {
    with_hanging_service("READY", |program| {
        for _ in 0..50 {
            program.press("?");
            program.wait_for("In ");
            program.press("\x1b");
            program.wait_until_gone("In ");
        }
        // The keys request many pages at once. All keys are handled, and the last one takes effect.
        program.press(&"njpr".repeat(250));
        program.press("?");
        program.wait_for("In ");
        program.press("\x1b");
        program.wait_until_gone("In ");
        program.press("q");
        assert_eq!(program.wait(), 0);
        assert_given_back(program, "a hanging service");
    })
    .await;
}

#[test]
fn stopped_output_is_not_buffered_without_a_limit() {
    let mut program = Program::in_half_blocks();
    program.wait_for("● READY");
    program.press("?");
    program.wait_for("In Results");
    program.press("\x1b");
    program.wait_until_gone("In Results");
    let before = program.resident_bytes();
    for _ in 0..5 {
        program.stop_output();
        program.press(&"jk".repeat(100));
        program.resume_output();
        program.press("?");
        program.wait_for("In Results");
        program.press("\x1b");
        program.wait_until_gone("In Results");
    }
    let growth = program.resident_bytes().saturating_sub(before);
    assert!(growth <= 8 << 20, "{growth} bytes");
    program.press("q");
    assert_eq!(program.wait(), 0);
}

fn demo(command: &mut CommandBuilder, home: &Path) {
    command.args(["demo", "--images", "12", "--data"]);
    command.arg(home);
    command.env("TESSERA_GRAPHICS", "half");
}

#[test]
fn the_terminal_is_reclaimed_from_an_editor_that_is_killed() {
    let mut program = Program::command(tempfile::tempdir().unwrap(), |command, home| {
        demo(command, home);
        // The editor changes the settings of the terminal, and cannot restore them.
        command.env("EDITOR", "stty -echo -onlcr; printf '\\033[?1049h'; kill -9 $$; true");
    });
    program.wait_for("● READY");
    program.press("3");
    program.wait_for("F8");
    let inside = program.line_settings();
    for _ in 0..20 {
        let before = program.output().len();
        program.press("\x1b[19~");
        program.wait_for_after(before, "could not edit the query");
        assert_eq!(program.line_settings(), inside);
        // An error stays until it is dismissed.
        program.press("\x1b");
        program.wait_until_gone("could not edit the query");
    }
    program.press("1q");
    assert_eq!(program.wait(), 0);
    assert_given_back(&program, "editors");
}

#[test]
fn the_clipboard_gets_what_is_shown_and_only_when_asked() {
    let mut program = Program::in_half_blocks();
    // The status arrives before the clusters, one of which is copied.
    program.wait_for("Detail  1 of ");
    assert!(!program.output().contains("\x1b]52"), "nothing is copied by itself");
    let before = program.output().len();
    program.press("yi");
    program.wait_for_after(before, "\x1b]52;c;");
    program.wait_for("sent the id to the terminal");
    let output = program.output();
    let encoded = output.split("\x1b]52;c;").nth(1).unwrap().split('\x07').next().unwrap();
    let copied = String::from_utf8(BASE64_STANDARD.decode(encoded).unwrap()).unwrap();
    program.wait_for(&copied);
    assert_eq!(output.matches("\x1b]52").count(), 1);
    program.press("q");
    assert_eq!(program.wait(), 0);
}

#[test]
fn what_is_copied_is_in_the_buffer_of_tmux_and_in_the_clipboard_of_the_desktop() {
    let script = "mkdir bin
        printf '#!/bin/sh\\ncase $1 in load-buffer) cat > buffer;; *) echo off;; esac' > bin/tmux
        printf '#!/bin/sh\\ncat > clipboard' > bin/xclip
        chmod +x bin/*
        PATH=$PWD/bin:$PATH TMUX=/tmp/none,1,0 DISPLAY=:99 exec tessera demo --images 12 --data data";
    let mut program = Program::script(script, tempfile::tempdir().unwrap());
    program.wait_for("Detail  1 of ");
    program.press("yi");
    program.wait_for("copied the id to the buffer of tmux");
    program.wait_for("the clipboard by xclip");
    let [buffer, clipboard] = ["buffer", "clipboard"]
        .map(|file| std::fs::read_to_string(program.home().join(file)).unwrap());
    assert!(!buffer.is_empty() && buffer == clipboard, "{buffer:?} {clipboard:?}");
    assert!(!program.output().contains("\x1b]52"), "nothing is sent to the terminal");
    program.press("q");
    assert_eq!(program.wait(), 0);
}
