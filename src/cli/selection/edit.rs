//! `tessera selection add`, `remove` and `exclude`: changes a selection, from items or from search results.

use tessera_files::ChangeLock;
use tessera_model::{
    Basket, ClusterId, EntryContent, EntryId, MediaId, SelectedCluster, Selection, SelectionChange,
    SelectionEntry, StateValue,
    basket::{cluster_entry, media_item_entry},
    set_algebra::{FoundCluster, Members},
    text::grouped_with_noun,
};

use crate::cli::prelude::*;
use crate::{
    cli::{input_options::ItemOptions, read_file_or_stdin, search::saved_search::SavedSearch},
    state::{StateFolder, write_selection},
};

#[derive(Debug, Args)]
pub struct SelectionAddOptions {
    #[command(flatten)]
    selection: SelectionOptions,
    #[command(flatten)]
    items: ItemOptions,
    /// Select every cluster in the output of `tessera search --json` or `tessera set`; - for
    /// standard input.
    #[arg(long, value_name = "FILE")]
    from_results: Option<PathBuf>,
}

impl SelectionAddOptions {
    pub(super) async fn run(self, context: &Context) -> CliResult {
        let Self { selection, items, from_results } = self;
        if items.is_empty() && from_results.is_none() {
            let message = "nothing to select; give --media, --cluster or --from-results";
            return Err(CliError::usage(message));
        }
        let saved = SavedSelection::open(context, selection).await?;
        let mut entries: Vec<SelectionEntry> = items.entries().collect();
        let mut missing = 0;
        if let Some(path) = from_results {
            let results = read_entries(&read_file_or_stdin(&path)?, saved.dataset);
            let results = results
                .map_err(|reason| CliError::usage(format!("{}: {reason}", path.display())))?;
            entries.extend(results.entries);
            missing = results.missing;
        }
        let _lock = saved.lock()?;
        let mut basket = Basket::new(saved.load_or_default()?);
        let (change, covered) = add_entries(&mut basket, entries);
        let change = change_text(basket.selection(), change, covered);
        let exit = saved.save(basket.selection(), &change)?;
        if missing == 0 {
            return Ok(exit);
        }
        let members = grouped_with_noun(missing, "member", "members");
        context.messages.warn(format!(
            "{members} without a preview were not selected, because a set operation has reduced their clusters"
        ));
        Ok(Exit::Incomplete)
    }
}

/// Adds entries to the basket. Returns the change, and the number of media items that a selected
/// cluster already contains.
fn add_entries(basket: &mut Basket, entries: Vec<SelectionEntry>) -> (SelectionChange, usize) {
    let (mut change, mut covered) = (SelectionChange::default(), 0);
    for entry in entries {
        if let EntryContent::MediaItem(item, within) = &entry.content
            && basket.selection().cluster_containing(*item, within.as_ref()).is_some()
        {
            covered += 1;
            basket.add(entry);
            continue;
        }
        let SelectionChange { added, absorbed, .. } = basket.select([entry]);
        change.added += added;
        change.absorbed += absorbed;
    }
    (change, covered)
}

fn change_text(selection: &Selection, change: SelectionChange, covered: usize) -> String {
    let mut message = format!("{} more", count_entries(change.added));
    if change.absorbed > 0 {
        let items = count_with_noun(change.absorbed, "selected media item", "selected media items");
        message = format!("{message}, replacing {items}");
    }
    if covered > 0 {
        message = format!("{message}, {covered} already in selected clusters");
    }
    let (entries, media) = (count_entries(selection.len()), count_media(selection));
    format!("{message}; now {entries} of {media}")
}

fn count_media(selection: &Selection) -> String {
    let totals = selection.totals();
    format!("{}{} media", totals.estimate_sign(), totals.export_rows())
}

pub(super) async fn remove(
    context: &Context,
    selection: SelectionOptions,
    items: &ItemOptions,
) -> CliResult {
    if items.is_empty() {
        return Err(CliError::usage("nothing to remove; give --media or --cluster"));
    }
    if items.cluster.iter().any(|members| !members.exclude.is_empty()) {
        let message =
            "a cluster is removed as a whole; to remove some of its members, exclude them";
        return Err(CliError::usage(message).with_remedy("tessera selection exclude --help"));
    }
    let saved = SavedSelection::open(context, selection).await?;
    let _lock = saved.lock()?;
    let mut basket = Basket::new(saved.load()?);
    let selected = |entry: SelectionEntry| -> Vec<EntryId> {
        let selection = basket.selection();
        match entry.cluster() {
            Some(cluster) => selection.parts_of(cluster.id).map(SelectionEntry::id).collect(),
            None => selection.get(&entry.id()).map(SelectionEntry::id).into_iter().collect(),
        }
    };
    let ids: Vec<Vec<EntryId>> = items.entries().map(selected).collect();
    let missing = ids.iter().filter(|ids| ids.is_empty()).count();
    let removed = basket.remove(ids.concat());
    if removed == 0 {
        return Err(not_found(context, "none of them is selected"));
    }
    if missing > 0 {
        let missing =
            count_with_noun(missing, "of them was not selected", "of them were not selected");
        context.messages.warn(missing);
    }
    let (removed, left) = (count_entries(removed), count_entries(basket.selection().len()));
    saved.save(basket.selection(), &format!("{removed} gone, {left} left"))
}

/// Excludes media items from selected clusters: the items after `^` of a cluster, and items that
/// are known to be in a selected cluster.
pub(super) fn exclude(saved: &SavedSelection<'_>, items: &ItemOptions) -> CliResult {
    let context = saved.context;
    let _lock = saved.lock()?;
    let mut basket = Basket::new(saved.load()?);
    let named = items
        .cluster
        .iter()
        .flat_map(|members| members.exclude.iter().map(move |item| (*item, Some(members.cluster))));
    let media: Vec<_> = items.media.iter().map(|item| (*item, None)).chain(named).collect();
    if media.is_empty() {
        return Err(CliError::usage("nothing to exclude; give --media ID, or --cluster ID^ID,.."));
    }
    let mut excluded = 0;
    for (item, within) in media {
        let entry = require_containing(basket.selection(), item, within)
            .map_err(|reason| not_found(context, reason))?;
        let part = entry.cluster().map(SelectedCluster::part);
        if basket.selection().includes_item(item, part.as_ref()) {
            let member = EntryContent::MediaItem(item, part);
            basket.toggle_media_item(SelectionEntry { content: member, ..entry });
            excluded += 1;
        }
    }
    let media = count_media(basket.selection());
    saved.save(basket.selection(), &format!("excluded {excluded} more; now {media}"))
}

/// Returns a selected part of the cluster that contains an item.
fn require_containing(
    selection: &Selection,
    item: MediaId,
    within: Option<ClusterId>,
) -> Result<SelectionEntry, String> {
    let cluster = within.or_else(|| selection.cluster_containing(item, None));
    let entry = cluster.and_then(|cluster| selection.parts_of(cluster).next());
    entry.cloned().ok_or_else(|| match within {
        Some(cluster) => format!("the cluster {cluster} is not selected"),
        None => format!(
            "no selected cluster is known to contain {item}; give it with --cluster ID^{item}"
        ),
    })
}

fn not_found(context: &Context, message: impl Into<String>) -> CliError {
    CliError::not_found(message).with_remedy(context.suggestion("tessera selection show"))
}

/// The entries of search results.
struct ReadEntries {
    entries: Vec<SelectionEntry>,
    /// The number of members of reduced clusters that are not among the entries, because they have no preview.
    missing: u64,
}

/// Reads the entries of search results. A cluster is selected whole, with the filters that found
/// it. A cluster that a set operation has reduced is selected by its remaining media items, because
/// the whole cluster would bring the removed ones back.
fn read_entries(source: &str, dataset: DatasetId) -> Result<ReadEntries, String> {
    let saved = SavedSearch::parse(source)?;
    let id = &saved.document["dataset_id"];
    if id.as_str().and_then(|id| id.parse().ok()) != Some(dataset) {
        return Err(format!("belongs to dataset {id}"));
    }
    let (mut entries, mut missing) = (Vec::new(), 0_u64);
    for FoundCluster { cluster, members } in &saved.clusters {
        let search = saved.search(cluster.id)?;
        if *members == Members::Previewed {
            missing = missing.saturating_add(saved.unlisted(cluster.id));
            let media = cluster.previews.iter();
            entries.extend(media.map(|preview| media_item_entry(preview, cluster, &search)));
        } else {
            entries.push(cluster_entry(cluster, &search));
        }
    }
    Ok(ReadEntries { entries, missing })
}

#[derive(Debug, Args)]
pub struct SelectionOptions {
    /// ID or name of the dataset, or its folder.
    #[arg(id = "of", value_name = "DATASET")]
    dataset: Option<String>,
    /// Name of the selection, instead of the basket.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

pub(super) struct SavedSelection<'a> {
    pub(super) context: &'a Context,
    state: StateFolder,
    pub(super) dataset: DatasetId,
    /// The name of the selection, or `None` for the basket.
    name: Option<String>,
}

impl<'a> SavedSelection<'a> {
    /// Opens the selection. A request is sent only if the dataset is given by name.
    pub(super) async fn open(context: &'a Context, options: SelectionOptions) -> CliResult<Self> {
        let dataset = context.dataset_id(options.dataset.as_deref()).await?;
        Ok(Self { context, state: context.state()?, dataset, name: options.name })
    }

    pub(super) fn load(&self) -> CliResult<Selection> {
        match &self.name {
            Some(name) => self.context.named_selection(&self.state, name, self.dataset),
            None => self.load_or_default(),
        }
    }

    pub(super) fn load_or_default(&self) -> CliResult<Selection> {
        Ok(match &self.name {
            Some(name) => self.state.load_named_selection(name, self.dataset)?.unwrap_or_default(),
            None => self.state.basket(self.dataset)?,
        })
    }

    /// Waits until no other process changes a named selection. Changes of the basket are merged instead.
    pub(super) fn lock(&self) -> CliResult<Option<ChangeLock>> {
        let lock = |name: &String| self.state.lock_named_selection(name, self.dataset);
        Ok(self.name.as_ref().map(lock).transpose()?)
    }

    /// Saves the selection, which was loaded under the lock, and reports the change.
    pub(super) fn save(&self, selection: &Selection, change: &str) -> CliResult {
        if self.context.is_dry_run() {
            return self.print_plan(change);
        }
        match &self.name {
            Some(name) => {
                drop(self.state.replace_named_selection(name, self.dataset, selection)?);
            }
            None => self.state.replace(&StateValue::Basket(self.dataset, selection.clone()))?,
        }
        self.report(selection, change)
    }

    /// Empties the basket or deletes the named selection, and reports the change.
    fn delete(&self, change: &str) -> CliResult {
        if self.context.is_dry_run() {
            return self.print_plan(change);
        }
        match &self.name {
            Some(name) => drop(self.state.delete_named_selection(name, self.dataset)?),
            None => self.state.clear_basket(self.dataset)?,
        }
        self.report(&Selection::default(), change)
    }

    fn print_plan(&self, change: &str) -> CliResult {
        self.context.print_planned_change(&format!("change the selection: {change}"), None)
    }

    fn report(&self, selection: &Selection, change: &str) -> CliResult {
        self.context.messages.info(change);
        self.context.print_for_programs(&self.document(selection))
    }

    /// Empties the basket, or deletes the named selection.
    pub(super) fn clear(&self) -> CliResult {
        let _lock = self.lock()?;
        let removed = match self.load() {
            Ok(selection) => count_entries(selection.len()),
            // Nothing of a damaged file is needed to clear it.
            Err(error) if self.is_saved()? => {
                self.context.messages.warn(&error.message);
                "all entries".to_owned()
            }
            Err(error) => return Err(error),
        };
        self.delete(&format!("removed {removed}"))
    }

    /// Whether there is a selection of this name. The basket always exists.
    fn is_saved(&self) -> CliResult<bool> {
        let Some(name) = &self.name else { return Ok(true) };
        Ok(self.state.has_named_selection(name, self.dataset)?)
    }

    pub(super) fn document(&self, selection: &Selection) -> Document {
        Document::new("tessera.selection/1", write_selection(self.dataset, selection))
    }
}

/// Formats a count, such as "1 entry" or "2 entries".
pub(super) fn count_entries(count: usize) -> String {
    count_with_noun(count, "entry", "entries")
}

/// The error of a command that would replace a selection.
pub fn name_taken(name: &str) -> CliError {
    CliError::usage(format!("a selection `{name}` already exists; --force replaces it"))
}

impl Context {
    /// Returns a selection. If the name is unknown, the error suggests the command that lists the names.
    pub(in crate::cli) fn named_selection(
        &self,
        state: &StateFolder,
        name: &str,
        dataset: DatasetId,
    ) -> CliResult<Selection> {
        state
            .named_selection(name, dataset)
            .map_err(|failure| self.suggest_if_unknown(failure, "tessera selection list"))
    }
}
