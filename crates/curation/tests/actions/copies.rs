//! Actions while two paths lead to one file. Such a file has no copy, so nothing removes it.

use std::{fs, os::unix::fs::symlink};

use tessera_curation::{FileAction, LinkKind};

use super::{Desk, planned};

#[test]
fn an_undo_keeps_a_file_to_which_its_old_name_leads() {
    for action in
        [FileAction::Move, FileAction::Copy, |layout| FileAction::Link(LinkKind::Hard, layout)]
    {
        for (is_folder, has_another_name) in [(true, false), (true, true), (false, false)] {
            let desk = Desk::new();
            let originals = [desk.original("a.jpg", "first")];
            desk.run(&planned(action(desk.layout(false)), &originals));
            let file = desk.root.join("target/deep/a.jpg");
            if is_folder {
                fs::remove_dir_all(desk.pics()).unwrap();
                symlink(file.parent().unwrap(), desk.pics()).unwrap();
            } else {
                let _ = fs::remove_file(&originals[0].path);
                symlink(&file, &originals[0].path).unwrap();
            }
            if has_another_name {
                fs::hard_link(&file, desk.root.join("another")).unwrap();
            }
            let undone = desk.undo();
            assert_eq!((undone.done, undone.failed.len()), (0, 1), "{undone:?}");
            assert_eq!(fs::read(&file).unwrap(), b"first");
        }
    }
}
