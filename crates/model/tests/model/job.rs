use std::path::PathBuf;

use uuid::Uuid;

use tessera_model::{job::*, *};

#[test]
fn folders_and_wishes_are_in_the_command_too() {
    let (folder, file) = (PathBuf::from("/data/my new"), PathBuf::from("a.jpg"));
    let source = MediaSource::Files(vec![folder.clone(), file]);
    let addition =
        MediaAddition { batch_images: Some(9), spot: Some(false), ..MediaAddition::new(source) };
    let option = AdditionJob::from_request(&addition, &[folder]).cli_options;
    assert_eq!(option.as_str(), "--dir '/data/my new' --file a.jpg --batch-images 9 --spot=off");
}

#[test]
fn a_job_tells_the_command_that_does_it_again() {
    let option = SafeText::file_name("--dir '/data/my new'");
    let addition = AdditionJob {
        source: SafeText::file_name("/data/my new"),
        cli_options: option,
        auto_reindex: true,
    };
    let dataset = DatasetId(Uuid::nil());
    assert_eq!(
        JobKind::AddMedia(addition).command_line(dataset),
        format!("tessera media add {dataset} --dir '/data/my new' --reindex")
    );
}
