//! Command lines that are shown for copying. They are never run here.

use std::path::PathBuf;

use shell_words::quote;

use tessera_model::{AdditionJob, DatasetId, JobKind, MediaAddition, MediaSource, SafeText};

/// What `run_profiler.sh`, the command of on-premises deployments, is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProfilerCommand<'a> {
    Reindex,
    /// Add the media below this path of the deployment, and recluster if the flag is set.
    AddMedia(&'a str, bool),
}

pub(crate) fn profiler_command_line(dataset: DatasetId, command: ProfilerCommand) -> String {
    match command {
        ProfilerCommand::Reindex => format!("run_profiler.sh -o reindex -d {dataset}"),
        ProfilerCommand::AddMedia(path, reindex) => {
            let auto = if reindex { " -a" } else { "" };
            format!("run_profiler.sh -o add_media -d {dataset} -p {}{auto}", quote(path))
        }
    }
}

/// The `tessera` command that runs a job again.
pub(crate) fn job_command_line(job: &JobKind, dataset: DatasetId) -> String {
    match job {
        JobKind::Export(export) => {
            let images = if export.spec.include_images { " --images" } else { "" };
            let selection = if export.selection.is_some() { " --selection NAME" } else { "" };
            let format = export.spec.format.as_str();
            let name = quote(export.spec.file_name.as_str());
            format!(
                "tessera export start {dataset}{selection} --format {format}{images} --name {name}"
            )
        }
        JobKind::AddMedia(addition) => {
            let reindex = if addition.auto_reindex { " --reindex" } else { "" };
            format!("tessera media add {dataset} {}{reindex}", addition.cli_options)
        }
        JobKind::Reindex => format!("tessera reindex {dataset} --wait"),
    }
}

/// An addition with its options for `tessera media add`. `folders` are those of its paths that are
/// folders.
pub(crate) fn addition_job(addition: &MediaAddition, folders: &[PathBuf]) -> AdditionJob {
    let name = |path: &PathBuf| path.to_string_lossy().into_owned();
    let (source, options) = match &addition.source {
        MediaSource::Storage(uri) => (uri.clone(), format!("--s3 {}", quote(uri))),
        MediaSource::Archive(path) => (name(path), format!("--archive {}", quote(&name(path)))),
        MediaSource::ServerPath(path) => (path.clone(), format!("--server-path {}", quote(path))),
        MediaSource::Files(paths) => {
            let source = match paths.as_slice() {
                [only] => name(only),
                many => format!("{} files and folders", many.len()),
            };
            let options = paths.iter().map(|path| {
                let flag = if folders.contains(path) { "--dir" } else { "--file" };
                format!("{flag} {}", quote(&name(path)))
            });
            (source, options.collect::<Vec<_>>().join(" "))
        }
    };
    AdditionJob {
        source: SafeText::file_name(&source),
        cli_options: SafeText::file_name(&(options + &extra_options(addition))),
        auto_reindex: addition.auto_reindex,
    }
}

/// The options of an addition except its source and `--reindex`, each with a space before it.
fn extra_options(addition: &MediaAddition) -> String {
    let counts = [
        ("images", addition.batch_images),
        ("videos", addition.batch_videos),
        ("objects", addition.batch_objects),
    ];
    let mut options: String = counts
        .iter()
        .filter_map(|(kind, count)| Some(format!(" --batch-{kind} {}", (*count)?)))
        .collect();
    let role = addition.assume_role.iter();
    options.extend(role.map(|role| format!(" --assume-role {}", quote(role))));
    let spot = addition.spot.map(|spot| if spot { " --spot=on" } else { " --spot=off" });
    options + spot.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn an_addition_keeps_its_folders_and_options() {
        let (folder, file) = (PathBuf::from("/data/my new"), PathBuf::from("a.jpg"));
        let source = MediaSource::Files(vec![folder.clone(), file]);
        let addition = MediaAddition {
            batch_images: Some(9),
            spot: Some(false),
            ..MediaAddition::new(source)
        };
        let job = addition_job(&addition, &[folder]);
        let options = "--dir '/data/my new' --file a.jpg --batch-images 9 --spot=off";
        assert_eq!(job.cli_options.as_str(), options);
        let dataset = DatasetId(Uuid::nil());
        assert_eq!(
            job_command_line(&JobKind::AddMedia(job), dataset),
            format!("tessera media add {dataset} {options}")
        );
    }

    #[test]
    fn profiler_paths_are_quoted() {
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
}
