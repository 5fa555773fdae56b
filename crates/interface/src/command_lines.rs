//! Builds command lines that are shown for copying and never run here.

use std::path::PathBuf;

use tessera_model::{
    AdditionJob, Anchor, AnchorKind, DatasetId, ExportPart, ExportSpec, JobKind, MediaAddition,
    MediaSource, Query, SafeText, Search, ShellCommand,
    check::{Condition, Rule},
    split::{Balance, SplitPlan},
};
use tessera_wire::vql;

/// The purpose for which `run_profiler.sh`, the command of on-premises deployments, is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfilerCommand<'a> {
    Reindex,
    /// Add the media below this path of the deployment, and recluster if the flag is set.
    AddMedia(&'a str, bool),
}

pub fn profiler_command_line(dataset: DatasetId, command: ProfilerCommand) -> ShellCommand {
    let dataset = dataset.to_string();
    match command {
        ProfilerCommand::Reindex => {
            ShellCommand::new("run_profiler.sh -o reindex").option("-d", dataset)
        }
        ProfilerCommand::AddMedia(path, reindex) => {
            let command = ShellCommand::new("run_profiler.sh -o add_media").option("-d", dataset);
            command.option("-p", path).text(if reindex { "-a" } else { "" })
        }
    }
}

/// Returns the subcommand that prints the page of a search.
pub fn search_subcommand(search: &Search) -> ShellCommand {
    let command = match &search.query {
        Query::Browse if search.filters.is_empty() => ShellCommand::new("search browse"),
        Query::Browse => ShellCommand::new("search vql"),
        Query::Similar(Anchor { media, kind: AnchorKind::Media }) => {
            ShellCommand::new("search media").word(media.to_string())
        }
        Query::Similar(Anchor { media, kind: AnchorKind::Upload }) => {
            ShellCommand::new("search anchor").word(media.to_string()).text("--type UPLOAD")
        }
        Query::Caption { max_score: None, .. } => ShellCommand::new("search caption"),
        Query::Caption { max_score: Some(bound), .. } => {
            ShellCommand::new("search caption").option("--max-score", bound.value().to_string())
        }
    };
    let mut command = command
        .option("--dataset", search.dataset.to_string())
        .option("--entity", search.entity.as_str().to_lowercase())
        .option("--granularity", search.granularity.level().to_string());
    if !search.filters.is_empty() {
        command = command.option("--vql", vql::write(&search.filters));
    }
    if let Some(order) = search.order {
        let reverse = if order.reversed { "--reverse" } else { "" };
        command = command.option("--sort", order.by.as_str()).text(reverse);
    }
    if search.page > 0 {
        command = command.option("--page", search.page.to_string());
    }
    match &search.query {
        // `--` comes first, because a text may begin with a hyphen.
        Query::Caption { text, .. } => command.option("--", text.as_str()),
        Query::Browse | Query::Similar(_) => command,
    }
}

/// How a command reaches a dataset when it is copied into a shell.
#[derive(Clone, Debug)]
pub struct CommandTarget {
    /// `tessera`, with the options that select the deployment.
    pub tessera: ShellCommand,
    /// The ID of the dataset, or its folder.
    pub dataset: String,
}

impl CommandTarget {
    fn command(&self, subcommand: &'static str) -> ShellCommand {
        self.tessera.clone().text(subcommand).word(&self.dataset)
    }
}

/// Returns the `tessera` command that runs a job again.
pub fn job_command_line(job: &JobKind, target: &CommandTarget) -> ShellCommand {
    match job {
        JobKind::Export(export) => {
            let selection = if export.selection.is_some() { "--selection NAME" } else { "" };
            let rest = match export.part {
                ExportPart::Selection => "",
                ExportPart::RestOfSearch => "--rest --search VIEW",
                ExportPart::RestOfDataset => "--rest",
            };
            let command = target.command("export start").text(selection).text(rest);
            export_options(command, &export.spec)
        }
        JobKind::AddMedia(addition) => {
            let reindex = if addition.auto_reindex { "--reindex" } else { "" };
            target.command("media add").saved_options(&addition.cli_options).text(reindex)
        }
        JobKind::GetModel(job) => ShellCommand::new("tessera model get").word(job.model.as_str()),
        JobKind::Reindex => target.command("reindex").text("--wait"),
    }
}

pub fn export_command_line(target: &CommandTarget, options: &ShellCommand) -> ShellCommand {
    target.command("export start").followed_by(options)
}

/// Adds the options that export the rest of a search. A search by a picture has to be saved as a view first.
pub fn rest_of_search_options(command: ShellCommand, search: &Search) -> ShellCommand {
    let command = command.text("--rest");
    let command = match &search.query {
        Query::Browse => command,
        Query::Caption { text, max_score } => {
            let command = command.option("--caption", text.as_str());
            match max_score {
                Some(bound) => command.option("--max-score", bound.value().to_string()),
                None => command,
            }
        }
        Query::Similar(_) => return command.text("--search VIEW"),
    };
    if search.filters.is_empty() {
        return command;
    }
    command.option("--vql", vql::write(&search.filters))
}

pub fn export_options(command: ShellCommand, spec: &ExportSpec) -> ShellCommand {
    let images = if spec.include_images { "--images" } else { "" };
    let command = command.option("--format", spec.format.as_str()).text(images);
    command.option("--name", spec.file_name.as_str())
}

/// Returns the command that divides a dataset into the same sets.
pub fn split_command_line(target: &CommandTarget, plan: &SplitPlan) -> ShellCommand {
    let shares: Vec<String> = plan.sets.iter().map(|set| set.share.to_string()).collect();
    let names: Vec<&str> = plan.sets.iter().map(|set| set.name.as_str()).collect();
    let command = target.tessera.clone().text("dataset split").word(shares.join("/"));
    let command = command.word(&target.dataset);
    let command = command.option("--names", names.join(","));
    let by = if plan.balance == Balance::Labels { "--by label" } else { "" };
    plan.without.iter().fold(command.text(by), |command, tag| command.option("--without", tag))
}

/// Returns the command that checks a dataset.
pub fn check_command_line(target: &CommandTarget, conditions: &[Condition]) -> ShellCommand {
    let add = |command: ShellCommand, condition: &Condition| match condition {
        Condition::AtLeast(minimum) => command.option("--min-media", minimum.to_string()),
        Condition::NoLeaks([a, b]) => command.option("--no-leaks", a).word(b),
        Condition::AtMost(rule, limit) => {
            let flag = match rule {
                Rule::Captions => return command.text("--require-captions"),
                Rule::Labels => return command.text("--require-labels"),
                Rule::Duplicates => "--max-duplicates",
                Rule::Blur => "--max-blur",
                Rule::Dark => "--max-dark",
                Rule::Bright => "--max-bright",
                Rule::Outliers => "--max-outliers",
                Rule::Mislabels => "--max-mislabels",
                Rule::Unreadable => "--max-unreadable",
                // Other conditions have these rules.
                Rule::Media | Rule::Leaks => return command,
            };
            command.option(flag, limit.to_string())
        }
    };
    conditions.iter().fold(target.command("check"), add)
}

/// Returns an addition with its options for `tessera media add`. `folders` are the paths of the
/// addition that are folders.
pub fn addition_job(addition: &MediaAddition, folders: &[PathBuf]) -> AdditionJob {
    let name = |path: &PathBuf| path.to_string_lossy().into_owned();
    let no_options = ShellCommand::default();
    let (source, options) = match &addition.source {
        MediaSource::Storage(uri) => (uri.clone(), no_options.option("--s3", uri)),
        MediaSource::Archive(path) => (name(path), no_options.option("--archive", path)),
        MediaSource::ServerPath(path) => (path.clone(), no_options.option("--server-path", path)),
        MediaSource::Files(paths) => {
            let source = match paths.as_slice() {
                [only] => name(only),
                many => format!("{} files and folders", many.len()),
            };
            let options = paths.iter().fold(no_options, |options, path| {
                options.option(if folders.contains(path) { "--dir" } else { "--file" }, path)
            });
            (source, options)
        }
    };
    AdditionJob {
        source: SafeText::file_name(&source),
        cli_options: SafeText::file_name(add_extra_options(options, addition).as_str()),
        auto_reindex: addition.auto_reindex,
    }
}

/// Adds the options of an addition except its source and `--reindex`.
fn add_extra_options(mut options: ShellCommand, addition: &MediaAddition) -> ShellCommand {
    let counts = [
        ("--batch-images", addition.batch_images),
        ("--batch-videos", addition.batch_videos),
        ("--batch-objects", addition.batch_objects),
    ];
    for (flag, count) in counts {
        if let Some(count) = count {
            options = options.option(flag, count.to_string());
        }
    }
    if let Some(role) = &addition.assume_role {
        options = options.option("--assume-role", role);
    }
    match addition.spot {
        Some(true) => options.text("--spot=on"),
        Some(false) => options.text("--spot=off"),
        None => options,
    }
}

#[cfg(test)]
mod tests {
    use tessera_model::{Filter, Fraction, MediaId, QueryText, vql::LabelRule};
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
        let target = CommandTarget { tessera: "tessera".into(), dataset: dataset.to_string() };
        assert_eq!(
            job_command_line(&JobKind::AddMedia(job), &target).as_str(),
            format!("tessera media add {dataset} {options}")
        );
    }

    #[test]
    fn a_search_is_the_command_that_prints_its_page() {
        let dataset = DatasetId(Uuid::nil());
        let media = MediaId(Uuid::from_u128(7));
        let similar = |kind| Query::Similar(Anchor { media, kind });
        let text = QueryText::new("-2 dogs").unwrap();
        let caption = |max_score| Query::Caption { text: text.clone(), max_score };
        let rest = format!("--dataset {dataset} --entity images --granularity 2");
        for (query, expected) in [
            (Query::Browse, format!("search browse {rest}")),
            (similar(AnchorKind::Media), format!("search media {media} {rest}")),
            (similar(AnchorKind::Upload), format!("search anchor {media} --type UPLOAD {rest}")),
            (caption(None), format!("search caption {rest} -- '-2 dogs'")),
            (
                caption(Fraction::new(0.25)),
                format!("search caption --max-score 0.25 {rest} -- '-2 dogs'"),
            ),
        ] {
            let search = Search { query, ..Search::browse(dataset) };
            assert_eq!(search_subcommand(&search).as_str(), expected);
        }
        let label = Filter::labels(LabelRule::OneOf, ["cat"]).unwrap();
        let filters = vql::write(std::slice::from_ref(&label));
        let search = Search { filters: vec![label], page: 3, ..Search::browse(dataset) };
        assert_eq!(
            search_subcommand(&search).as_str(),
            format!("search vql {rest} --vql '{filters}' --page 3")
        );
    }

    #[test]
    fn profiler_paths_are_quoted() {
        let id = DatasetId(Uuid::nil());
        assert_eq!(
            profiler_command_line(id, ProfilerCommand::AddMedia("/data/my photos", true)).as_str(),
            format!("run_profiler.sh -o add_media -d {id} -p '/data/my photos' -a")
        );
        assert_eq!(
            profiler_command_line(id, ProfilerCommand::Reindex).as_str(),
            format!("run_profiler.sh -o reindex -d {id}")
        );
    }
}
