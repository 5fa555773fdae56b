use uuid::Uuid;

use tessera_model::{shell::*, *};

#[test]
fn words_are_quoted_for_sh() {
    assert_eq!(quote("/data/a-1.jpg"), "/data/a-1.jpg");
    assert_eq!(quote("it's $HOME `x`"), r"'it'\''s $HOME `x`'");
    assert_eq!(quote(""), "''");
    let id = DatasetId(Uuid::nil());
    assert_eq!(
        profiler_command_line(id, ProfilerCommand::AddMedia("/data/my photos", true)),
        format!("run_profiler.sh -o add_media -d {id} -p '/data/my photos' -a")
    );
    assert_eq!(
        profiler_command_line(id, ProfilerCommand::Reindex),
        format!("run_profiler.sh -o reindex -d {id}")
    );
}
