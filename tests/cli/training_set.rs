//! Tests the way from a folder to a training set by keys, in the real program: copies go by a rule, blurred pictures are
//! rejected, others are tagged, and a set of a split is exported as COCO. Splits and checks are commands, which run beside
//! the interface.

use std::{fs, fs::File, io::Read as _, path::Path};

use serde_json::Value;
use tessera_model::ExportFormat;

use super::{analysis::photographs, outcome, tessera};
use crate::terminal::pty::Program;

/// Runs a command with the state of the interface.
fn command(home: &Path, arguments: &[&str]) -> String {
    let mut command = tessera(home, arguments);
    let (code, out, err) = outcome(command.env("XDG_STATE_HOME", home).current_dir(home));
    assert_eq!(code, 0, "{arguments:?}: {err}");
    out
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_folder_becomes_a_training_set_by_keys() {
    let mut program = Program::command(photographs(), |command, home| {
        command.env("HOME", home);
        command.env("TESSERA_GRAPHICS", "half");
        command.cwd(home);
        command.args(["open", "photos"]);
    });
    let home = program.home().to_owned();
    let photos = home.join("photos");
    program.wait_for("● READY");
    trash_copies(&mut program);
    assert_eq!((count(&photos.join("train")), count(&photos.join("val"))), (25, 4));
    reject_blurred_and_tag_others(&mut program);

    let split = ["dataset", "split", "80/20", "photos", "--names", "train,val"];
    let chosen = ["--by", "label", "--without", "rejected", "--jq", "[.sets[].media]|add"];
    assert_eq!(command(&home, &[&split[..], &chosen].concat()), "28\n");
    export_set(&mut program);
    let coco = exported(&home.join("photos selection.zip"));
    assert!((20..=24).contains(&coco["images"].as_array().unwrap().len()), "{coco}");

    let limits = ["--max-duplicates", "0", "--max-blur", "1", "--min-media", "29"];
    let sets = ["--no-leaks", "selection:train", "selection:val"];
    command(&home, &[&["check", "photos"], &limits[..], &sets].concat());
    program.press("q");
    assert_eq!(program.wait(), 0);
}

/// Reviews the duplicates by a rule, and puts those that it does not keep into the trash.
fn trash_copies(program: &mut Program) {
    program.press("gd");
    program.wait_for("Duplicates: 3 groups");
    program.press("R\x15path:*/[0-9]*\r");
    program.wait_for("by the rule path:");
    program.press("f");
    program.wait_for("3 files go");
    program.press("t");
    program.wait_for("Act on original files");
    program.press("y");
    program.wait_for("3 files done");
}

/// Rejects what a search for blurred pictures finds, and tags the first cluster of the dataset.
fn reject_blurred_and_tag_others(program: &mut Program) {
    program.press("3a4blur");
    program.wait_for("blur");
    program.press("\x1b[15~");
    program.wait_for("✓ blur");
    program.press(";ax");
    program.wait_for("tagged rejected: 1 media item");
    program.press("\x1b");
    program.wait_for("tagging ended");
    program.press("\x1b");
    program.wait_for("whole dataset");
    program.press(";+");
    program.wait_for("Create a tag");
    program.press("hard\r");
    program.wait_for("created the tag hard");
    program.press("1");
    program.wait_for("tagged hard: ");
    program.press("\x1b");
    program.wait_for("tagging ended");
}

/// Loads the set `train` into the basket, and exports it.
fn export_set(program: &mut Program) {
    program.press("Mo");
    program.wait_for("Load a selection");
    program.press("\x15train\r");
    program.wait_for("from the file; u restores");
    program.press("E\t\t\t");
    program.wait_for("Export the selection in photos");
    let position = |format| ExportFormat::ALL.iter().position(|other| *other == format).unwrap();
    let steps = position(ExportFormat::Coco) - position(ExportFormat::default());
    program.press(&" ".repeat(steps));
    program.wait_for("--format coco");
    program.press("\t\t \r");
    program.wait_for("downloaded");
}

/// Returns the captions in an archive in the COCO format.
fn exported(archive: &Path) -> Value {
    let mut archive = zip::ZipArchive::new(File::open(archive).unwrap()).unwrap();
    let mut text = String::new();
    archive.by_name("annotations/captions.json").unwrap().read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}
