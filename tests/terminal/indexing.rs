//! Tests what a command shows while it indexes a folder.

use std::fs::{self, OpenOptions};

use super::pty::Program;

/// A picture, and a video whose decoder waits until the test opens the named pipe `gate`.
const FOLDER: &str = r#"
    mkdir bin photographs
    cp "$PICTURE" photographs/a.png
    printf '\0\0\0\030ftypisom\0\0\0\0isommp42' > photographs/b.mp4
    mkfifo gate
    for program in ffmpeg ffprobe; do
        printf '#!/bin/sh\nif [ -e "%s" ]; then read -r line < "%s"; fi\nexit 1\n' "$PWD/gate" "$PWD/gate" > "bin/$program"
        chmod +x "bin/$program"
    done
    PATH=$PWD/bin:$PATH exec tessera --folder photographs search browse
"#;

#[test]
fn a_command_shows_how_far_its_folder_is_indexed_until_it_runs() {
    let picture = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/test-picture.png");
    let script = FOLDER.replace("$PICTURE", picture);
    let mut program = Program::script(&script, tempfile::tempdir().unwrap());
    program.wait_for("INDEXING");
    let path = program.home().join("gate");
    // This waits until the decoder reads. Decoders that are started later do not wait.
    let gate = OpenOptions::new().write(true).open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    drop(gate);
    assert_eq!(program.wait(), 0, "{}", program.output());
    let screen = program.screen();
    assert!(screen.contains("a.png") && !screen.contains("INDEXING"), "{screen}");
}
