//! `tessera duplicates` lists groups of near-duplicates, and trashes, moves or links all images of a group but those
//! that a rule keeps.

use std::collections::BTreeMap;

use tessera_curation::{
    FileAction, LinkKind,
    duplicates::{
        DuplicateGroup, DuplicateImage, KeepRule, OtherImage, SimilarImages, decide, freed_bytes,
        without_linked,
    },
};
use tessera_model::Fraction;

use crate::cli::prelude::*;
use crate::{
    cli::{
        media::{AnnotationOptions, carry_out_and_report, link_kind_parser, target_layout},
        messages::format_bytes,
        search,
    },
    usecase::{file_actions, run_blocking},
};

#[derive(Debug, Args)]
pub struct DuplicatesOptions {
    /// ID or name of the dataset, or its folder.
    pub dataset: Option<String>,
    /// Which image of a group to keep: largest, oldest, best-quality, shortest-name, in:FOLDER or path:PATTERN. A group
    /// without such an image is left alone [default for the list: largest].
    #[arg(long, value_name = "RULE")]
    keep: Option<KeepRule>,
    /// Only files with the same bytes.
    #[arg(long)]
    identical: bool,
    /// Minimum similarity of a near-duplicate, 0.0 to 1.0; higher is stricter.
    #[arg(long, value_name = "SIMILARITY", value_parser = search::parse_fraction, default_value = "0")]
    min_similarity: Fraction,
    /// Put the other images into the trash.
    #[arg(long, requires = "keep", conflicts_with_all = ["move_to", "link"])]
    trash: bool,
    /// Move the other images to this folder, below which they keep their paths.
    #[arg(
        long = "move",
        id = "move_to",
        value_name = "DIR",
        requires = "keep",
        conflicts_with = "link"
    )]
    move_to: Option<PathBuf>,
    /// Replace the other images by links to the kept one, hard or reflink, if they have the same bytes.
    #[arg(long, value_name = "KIND", value_parser = link_kind_parser(), requires = "keep", hide_possible_values = true)]
    link: Option<LinkKind>,
    #[command(flatten)]
    annotations: AnnotationOptions,
    /// Open the interface, and review the groups there.
    #[arg(
        long,
        conflicts_with_all = ["keep", "identical", "min_similarity", "trash", "move_to", "link"]
    )]
    pub review: bool,
}

pub async fn run(context: &Context, options: DuplicatesOptions) -> CliResult {
    let action = options.action()?;
    if action.is_some() {
        context.require_writable()?;
    }
    let work = async |connection: &Connection<'_>| options.run(connection, action).await;
    context.with_connection(&[], work).await
}

impl DuplicatesOptions {
    /// Whether the command changes files, so that it does not only list them.
    pub(super) const fn acts(&self) -> bool {
        self.trash || self.move_to.is_some() || self.link.is_some()
    }

    fn action(&self) -> CliResult<Option<FileAction>> {
        if self.link == Some(LinkKind::Symbolic) {
            let message = "--link takes hard or reflink; a symbolic link would not be indexed";
            return Err(CliError::usage(message));
        }
        if let Some(to) = &self.move_to {
            return Ok(Some(FileAction::Move(target_layout(to, true)?)));
        }
        let link = self.link.map(FileAction::Replace);
        Ok(link.or_else(|| self.trash.then_some(FileAction::Trash)))
    }

    async fn run(&self, connection: &Connection<'_>, action: Option<FileAction>) -> CliResult {
        let context = connection.context;
        let finder = connection.local_service("duplicates")?.original_finder();
        let similar = finder.clone();
        let dataset = connection.dataset(self.dataset.as_deref()).await?;
        let (id, min) = (dataset.id, self.min_similarity.value());
        let sets = run_blocking(move || similar.similar(id, min)).await?;
        let rule = self.keep.clone().unwrap_or(KeepRule::Largest);
        let mut groups = decide(&sets, &rule, self.identical);
        if self.link == Some(LinkKind::Hard) {
            groups = without_linked(groups);
        }
        describe(context, &groups);
        let left_out = left_out(&sets);
        for (reason, count) in &left_out {
            let images = count_with_noun(*count, "near-duplicate is", "near-duplicates are");
            context.messages.warn(format!("{images} omitted: {reason}"));
        }
        let action = match action {
            Some(action) if !groups.is_empty() => action,
            _ => return print_groups(context, &groups, &left_out),
        };
        let plan = move || file_actions::plan_duplicates(&*finder, id, groups, action);
        let mut preview = run_blocking(plan).await?;
        self.annotations.apply(&mut preview);
        carry_out_and_report(connection, &dataset, preview).await
    }
}

/// Prints how many copies there are and how many bytes they take, and which groups the rule does not decide.
fn describe(context: &Context, groups: &[DuplicateGroup]) {
    let copies: usize = groups.iter().map(|group| group.others.len()).sum();
    let copies = count_with_noun(copies, "copy", "copies");
    let count = count_with_noun(groups.len(), "group", "groups");
    let freed = format_bytes(freed_bytes(groups));
    context.messages.info(format!("{count} with {copies} to remove ({freed})"));
    let undecided = groups.iter().filter(|group| group.others.is_empty()).count();
    if undecided > 0 {
        let groups = count_with_noun(undecided, "group has", "groups have");
        let sentence = format!("{groups} no image that the rule keeps, and will be left alone");
        context.messages.warn(sentence);
    }
}

/// Counts the near-duplicates that no action can be about, by the reason.
fn left_out(sets: &[SimilarImages]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for skipped in sets.iter().flat_map(|set| &set.left_out) {
        *counts.entry(skipped.reason.as_str()).or_default() += 1;
    }
    counts
}

fn print_groups(
    context: &Context,
    groups: &[DuplicateGroup],
    left_out: &BTreeMap<&str, usize>,
) -> CliResult {
    let rows: Vec<Value> =
        (1..).zip(groups).flat_map(|(number, group)| rows(number, group)).collect();
    let left_out: Vec<Value> = left_out
        .iter()
        .map(|(reason, count)| json!({ "reason": reason, "media": count }))
        .collect();
    let fields = json!({ "groups": groups.len(), "images": rows, "left_out": left_out });
    context.print(&Document::new("tessera.duplicates/1", fields))
}

fn rows(number: usize, group: &DuplicateGroup) -> Vec<Value> {
    let decision = if group.others.is_empty() { "undecided" } else { "keep" };
    let kept = group.kept.iter().map(|image| row(number, image, decision, None));
    let others = group.others.iter().map(|other| row(number, &other.image, "remove", Some(other)));
    kept.chain(others).collect()
}

fn row(number: usize, image: &DuplicateImage, decision: &str, other: Option<&OtherImage>) -> Value {
    let (width, height) = image.size;
    json!({
        "group": number,
        "decision": decision,
        "similarity": other.map(|other| (f64::from(other.similarity) * 1000.0).round() / 1000.0),
        "identical": other.map(|other| other.is_identical),
        "width": width,
        "height": height,
        "bytes": image.original.content.size,
        "marks": image.marks(),
        "file": image.original.path.to_string_lossy(),
        "media_id": image.media,
    })
}
