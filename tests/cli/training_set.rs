//! Tests the way from a folder of a thousand photographs to a training set by keys, in the real program: copies go by a
//! rule, blurred pictures are rejected, others are tagged, the rest is divided, a set is exported as COCO, and a check
//! passes.

use std::{fs, fs::File, io::Read as _, path::Path};

use serde_json::Value;
use tessera_model::ExportFormat;

use super::analysis::photographs_times;
use crate::terminal::pty::Program;

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

/// How many times as many photographs the folder has as that of the commands.
const TIMES: u32 = 32;

#[test]
fn a_folder_becomes_a_training_set_by_keys() {
    let mut program = Program::command(photographs_times(TIMES), |command, home| {
        command.env("HOME", home);
        command.env("TESSERA_GRAPHICS", "half");
        command.cwd(home);
        command.args(["open", "photos"]);
    });
    let home = program.home().to_owned();
    let photos = home.join("photos");
    program.wait_for("● READY");
    trash_copies(&mut program);
    assert_eq!((count(&photos.join("train")), count(&photos.join("val"))), (800, 128));
    reject_blurred_and_tag_others(&mut program);
    divide(&mut program);
    export_set(&mut program);
    let coco = exported(&home.join("photos selection.zip"));
    assert!((710..=725).contains(&coco["images"].as_array().unwrap().len()), "{coco}");
    check(&mut program);
    program.press("q");
    assert_eq!(program.wait(), 0);
}

/// Reviews the duplicates by a rule, and puts those that it does not keep into the trash.
fn trash_copies(program: &mut Program) {
    program.press("gd");
    program.wait_for("Duplicates: 96 groups");
    program.press("Rpath:*/[0-9]*\r");
    program.wait_for("by the rule path:");
    program.press("f");
    program.wait_for("96 files go");
    program.press("t");
    program.wait_for("Act on original files");
    program.press("y");
    program.wait_for("moved 96 files to the trash");
    // The index follows.
    program.wait_for("● photos · 928 images");
}

/// Rejects what a search for blurred pictures finds, and tags the first cluster of the dataset.
fn reject_blurred_and_tag_others(program: &mut Program) {
    program.press("3a4blur");
    program.wait_for("blur");
    program.press("\x1b[15~");
    program.wait_for("✓ blur");
    program.press(";ax");
    program.wait_for("tagged rejected: 32 media items");
    program.press("\x1b");
    program.wait_until_gone("Esc leave");
    program.press("\x1b");
    program.wait_until_gone("✓ blur");
    program.press(";+");
    program.wait_for("Create a tag");
    program.press("hard\r");
    program.wait_for("1 hard");
    program.press("1");
    program.wait_for("tagged hard: ");
    program.press("\x1b");
    program.wait_until_gone("Esc leave");
}

/// Divides what is not rejected, with the same share of each label in both sets.
fn divide(program: &mut Program) {
    program.press("gS");
    program.wait_for("Divide into sets");
    program.press("\x1580/20\ttrain,val\t \t");
    program.press("rejected");
    program.wait_for("896 media items: about 717 in train, 179 in val.");
    program.press("\r");
    program.wait_for("divided 896 media items: train 7");
}

/// Checks that only the rejected pictures are blurred, that no copies are left, and that the sets have no leaks.
fn check(program: &mut Program) {
    program.press("gc");
    program.wait_for("Check photos");
    program.press("\x150\t\x1532\t\x15\t\x15\x1b[Z\x1b[Z\x1b[Z\x1b[Z");
    program.press("selection:train selection:val\r");
    program.wait_for("passed 3 checks");
    program.press("q");
}

/// Loads the set `train` into the basket, and exports it.
fn export_set(program: &mut Program) {
    program.press("Mo");
    program.wait_for("Load a selection");
    program.press("train\r");
    program.wait_for("; u restores the previous selection");
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
