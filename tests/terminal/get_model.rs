//! Tests getting a model in the real program, from a hub on loopback to the pictures that a word finds.

use std::{fs, path::Path};

use tessera_testing::{
    loopback_hub::{HubFault, LoopbackHub},
    tiny_model::ModelFolder,
};

use super::pty::Program;

/// Serves a tiny model, which tells colors apart, as the files of every repository.
fn hub(fault: HubFault) -> LoopbackHub {
    let model = ModelFolder::clip();
    let mut files = Vec::new();
    for folder in [model.path().to_owned(), model.path().join("onnx")] {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.strip_prefix(model.path()).unwrap().to_str().unwrap().to_owned();
                files.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    LoopbackHub::new(files, fault)
}

/// Opens a folder with pictures in the interface.
fn opened(hub: &LoopbackHub) -> Program {
    let mut program = Program::command(tempfile::tempdir().unwrap(), |command, home: &Path| {
        let photos = home.join("photos");
        tessera_testing::pictures::write_noise(&photos, 6);
        command.env("HF_ENDPOINT", hub.endpoint());
        command.env("HF_HOME", home.join("hf"));
        command.args(["open", photos.to_str().unwrap()]);
    });
    program.wait_for("● READY");
    program.press("c");
    program.wait_for("Search");
    program.press("red\r");
    program.wait_for("Nothing matches “red”");
    program.wait_for("g a gets a model");
    program
}

#[test]
fn a_word_finds_pictures_after_a_model_was_got_in_the_interface() {
    let hub = hub(HubFault::None);
    let mut program = opened(&hub);
    program.press("ga");
    program.wait_for("Get a model");
    program.press("2");
    program.wait_for("Then encodes 6 images of photos");
    let is_file = |path: &str| path.contains("/resolve/");
    assert!(!hub.requests().iter().any(|request| is_file(&request.path)), "nothing is fetched yet");
    program.press("\r");
    program.wait_for("noise-000");
    program.press("4");
    program.wait_for("get model");
    program.press("q");
    assert_eq!(program.wait(), 0);
}

#[test]
fn a_model_that_is_not_free_says_what_is_missing() {
    let hub = hub(HubFault::Gated);
    let mut program = opened(&hub);
    program.press("ga");
    program.wait_for("Get a model");
    program.press("2");
    program.wait_for("set HF_TOKEN");
    program.press("q");
    assert_eq!(program.wait(), 0);
}
