//! The tagging mode, in which one key tags, picks or rates what is under the cursor, the selection, or everything that
//! the search finds. Changes are sent one after the other, so that each can be undone.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, VecDeque},
};

use tessera_model::{
    ClusterId, DatasetTag, DatasetTags, FailureKind, MediaId, Tag, TagChange, TagChangeId,
    TagDefinitionChange, TagEdit, TagId, TagTarget, UserTags,
    tag::{PICKED, REJECTED},
    text::grouped_with_noun,
};

use crate::app::prelude::*;
use crate::app::{
    bounded_list::push_bounded,
    kept_tags::{self, KeptTagsState, MAX_UNDO},
};
use tessera_config::input::KeyContext;

#[derive(Debug, Default)]
pub struct Tagging {
    pub is_on: bool,
    /// Whether the next key changes everything that the search finds.
    pub whole_search: bool,
    pub tags: BTreeMap<DatasetId, Remote<DatasetTags>>,
    /// The tags of services that do not change tags.
    pub kept: KeptTagsState,
    /// The change that was sent, and those that are sent after it.
    changes: VecDeque<PendingChange>,
    /// The changes that can be undone, the latest last.
    made: Vec<(DatasetId, TagChangeId)>,
    /// The problems of files that were shown already.
    shown_problems: BTreeSet<SafeText>,
    /// The cluster that keys changed last, and what they gave to all its members. Not all of these may be loaded.
    given_to_all: Option<(TaggedItem, UserTags)>,
}

#[derive(Clone, Debug)]
struct PendingChange {
    dataset: DatasetId,
    request: Request,
    edit: TagEdit,
    item: Option<TaggedItem>,
}

/// What is under the cursor.
#[derive(Clone, Debug, PartialEq)]
struct TaggedItem {
    search: Search,
    cluster: ClusterId,
    /// `None` for all members of the cluster.
    media: Option<MediaId>,
}

impl Tagging {
    pub fn tags_of(&self, dataset: DatasetId) -> &[DatasetTag] {
        self.tags.get(&dataset).and_then(Remote::value).map_or(&[], |known| &known.tags)
    }

    /// Returns the tags of a cluster of the dataset on screen, or of a media item in it, that are kept on this machine.
    pub fn kept_tags_of(
        &self,
        results: &Results,
        cluster: &Cluster,
        media: Option<&Preview>,
    ) -> impl Iterator<Item = &SafeText> {
        let dataset = results.view().map(|view| view.search.dataset);
        let (part, media) = (results.part_of(cluster), media.map(|preview| preview.media));
        dataset.into_iter().flat_map(move |it| self.kept.names_of(it, part.clone(), media))
    }

    pub fn can_undo(&self, dataset: DatasetId) -> bool {
        self.last_change(dataset).is_some() || self.kept.can_undo(dataset)
    }

    /// Returns the number of changes that wait until the change before them is answered.
    pub(in crate::app) fn unsent(&self) -> usize {
        self.changes.len().saturating_sub(1)
    }

    /// Returns the last change of a dataset that is not being undone.
    fn last_change(&self, dataset: DatasetId) -> Option<TagChangeId> {
        let is_pending = |id| self.changes.iter().any(|change| change.undoes() == Some(id));
        let mut made = self.made.iter().rev();
        made.find(|(changed, id)| *changed == dataset && !is_pending(*id)).map(|(_, id)| *id)
    }

    /// Records the result of a change, so that a change can be undone until the service has undone or forgotten it.
    fn record_result(&mut self, change: &PendingChange, result: &Result<TagChange, Failure>) {
        let given = self.given_to_all.take();
        self.given_to_all = result.as_ref().ok().and_then(|_| change.given_to_all(given));
        let is_forgotten = match result {
            Ok(made) => {
                if let Some(id) = made.id {
                    push_bounded(&mut self.made, (change.dataset, id), MAX_UNDO);
                }
                true
            }
            Err(failure) => failure.kind == FailureKind::NotFound,
        };
        if let (true, Some(undone)) = (is_forgotten, change.undoes()) {
            self.made.retain(|(_, id)| *id != undone);
        }
    }

    /// Returns what a media item on screen has after the changes that are not answered yet.
    fn pending_tags(&self, cluster: ClusterId, preview: &Preview) -> UserTags {
        let concerns = |item: &TaggedItem| {
            item.media.map_or(item.cluster == cluster, |media| media == preview.media)
        };
        let changes =
            self.changes.iter().filter(|change| change.item.as_ref().is_some_and(concerns));
        changes.fold(tags_of_preview(preview), |given, change| change.edit.apply(&given, &[]))
    }

    /// Whether keys gave a tag to all members of a cluster of the search on screen.
    pub fn is_given_to_cluster(&self, results: &Results, cluster: ClusterId, name: &str) -> bool {
        let item = |view: &View| TaggedItem { search: view.search.clone(), cluster, media: None };
        results.view().is_some_and(|view| self.is_given_to_all(&item(view), name))
    }

    /// Whether keys gave a tag to all members of a cluster, also after the changes that are not answered yet.
    fn is_given_to_all(&self, item: &TaggedItem, name: &str) -> bool {
        let given = self.given_to_all.clone();
        let given = self.changes.iter().fold(given, |given, change| change.given_to_all(given));
        given.is_some_and(|(other, given)| other == *item && given.tags.iter().any(|it| it == name))
    }
}

impl PendingChange {
    /// Returns the change that this one undoes.
    fn undoes(&self) -> Option<TagChangeId> {
        if let Request::UndoTags(_, id) = self.request { Some(id) } else { None }
    }

    /// Returns the cluster of this change, and what this change and earlier changes of the same cluster gave to all
    /// members.
    fn given_to_all(
        &self,
        before: Option<(TaggedItem, UserTags)>,
    ) -> Option<(TaggedItem, UserTags)> {
        if let Request::DefineTag(_, _, TagDefinitionChange::Create(_)) = self.request {
            return before;
        }
        let item = self.item.clone().filter(|item| item.media.is_none())?;
        let before = before.filter(|(other, _)| *other == item);
        let before = before.map(|(_, given)| given).unwrap_or_default();
        Some((item, self.edit.apply(&before, &[])))
    }
}

fn tags_of_preview(preview: &Preview) -> UserTags {
    let tags = preview.tags.iter().map(|name| name.received().to_owned()).collect();
    UserTags { tags, rating: preview.rating }
}

/// Returns the name of the tag with this key: the user's own tags in the order of their creation.
pub fn tag_of_key(app: &App, key: usize) -> Option<&SafeText> {
    let dataset = app.dataset()?.id;
    if kept_tags::are_kept(app) {
        return app.tagging.kept.name_of_key(dataset, key);
    }
    let tags = app.tagging.tags_of(dataset).iter().filter(|tag| tag.color.is_some());
    let mut tags = tags.filter(|tag| ![PICKED, REJECTED].contains(&tag.name.as_str()));
    tags.nth(key).map(|tag| &tag.name)
}

/// Returns the tag that an action adds or removes.
fn tag_of_action(app: &App, action: Action) -> Option<SafeText> {
    match action {
        Action::Pick => Some(SafeText::name(PICKED)),
        Action::Reject => Some(SafeText::name(REJECTED)),
        _ => action.tag_key().and_then(|key| tag_of_key(app, key)).cloned(),
    }
}

/// Returns whether the tags of the open dataset are known.
fn are_loaded(app: &App) -> bool {
    let Some(dataset) = app.dataset().map(|dataset| dataset.id) else { return false };
    if kept_tags::are_kept(app) {
        return app.tagging.kept.get(dataset).is_some();
    }
    app.tagging.tags.get(&dataset).and_then(Remote::value).is_some()
}

/// Returns whether an action is that of a tag which does not exist.
pub(in crate::app) fn is_of_missing_tag(app: &App, action: Action) -> bool {
    action.tag_key().is_some_and(|key| are_loaded(app) && tag_of_key(app, key).is_none())
}

/// Returns what an action does. An action of a tag names the tag.
pub(in crate::app) fn help_of(app: &App, action: Action) -> Cow<'static, str> {
    match action.tag_key().and_then(|key| tag_of_key(app, key)) {
        Some(name) => Cow::Owned(format!("Add the tag {name}, or remove it")),
        None => Cow::Borrowed(action.help()),
    }
}

/// Starts the mode in the results, or ends it. Where the mode is on, but its keys do nothing, it is started again.
pub(in crate::app) fn toggle_tagging(app: &mut App) {
    let tags_here = app.viewer.is_some() || app.contexts()[0] == KeyContext::Tagging;
    app.tagging.is_on = !(app.tagging.is_on && tags_here);
    app.tagging.whole_search = false;
    if app.tagging.is_on && !matches!(app.panes.focus, Pane::Results | Pane::Detail) {
        app.panes.focus = Pane::Results;
    }
    let text = if app.tagging.is_on {
        "tagging in the results and the detail; press ; again to end it"
    } else {
        "tagging ended"
    };
    app.outbox.notify(Level::Success, text);
}

pub(in crate::app) fn toggle_whole_search(app: &mut App) {
    let on = "the next key changes everything that the search finds";
    let off = "the next key changes only the selection, or what is under the cursor";
    app.outbox.toggle(&mut app.tagging.whole_search, on, off);
}

/// Performs an action that tags or rates.
pub(in crate::app) fn tag(app: &mut App, action: Action) {
    if kept_tags::are_kept(app) {
        return kept_tags::tag(app, tag_of_action(app, action));
    }
    let Some(dataset) = app.dataset().map(|dataset| dataset.id) else { return };
    let name = tag_of_action(app, action).map(|name| name.received().to_owned());
    let (target, item, has_tag) = tag_target(app, name.as_deref());
    let Some(target) = target else { return };
    let none: [&str; 0] = [];
    let edit = match (&name, action.rating()) {
        (Some(name), _) if has_tag => TagEdit::new(none, [name], None),
        (Some(name), _) => TagEdit::new([name], none, None),
        (None, Some(rating)) => TagEdit::new(none, none, Some(rating)),
        (None, None) => {
            let text = if are_loaded(app) {
                "no tag has this key; + creates a tag"
            } else {
                "the tags are not loaded yet; ; starts the tagging mode, which loads them"
            };
            return app.outbox.notify(Level::Warning, text);
        }
    };
    let Ok(edit) = edit else { return };
    // The tag of a key may have been renamed or deleted since the tags were loaded.
    let edit = TagEdit { only_existing: action.tag_key().is_some(), ..edit };
    app.tagging.whole_search = false;
    let request = Request::ChangeTags(dataset, target, edit.clone());
    queue_change(app, PendingChange { dataset, request, edit, item });
}

/// Returns what a key changes, what of it is on screen, and whether all of that is known to have the tag, also after the
/// changes that are not answered yet.
fn tag_target(app: &App, name: Option<&str>) -> (Option<TagTarget>, Option<TaggedItem>, bool) {
    let Some(view) = app.results.view() else { return (None, None, false) };
    if app.tagging.whole_search {
        let search = Search { page: 0, ..view.search.clone() };
        return (Some(TagTarget::Search(Box::new(search))), None, false);
    }
    let selection = app.baskets.selection(&app.results).filter(|it| !it.is_empty());
    if let Some(selection) = selection {
        return (Some(TagTarget::Selection(selection.items())), None, false);
    }
    let Some(under_cursor) = app.under_cursor() else { return (None, None, false) };
    let item = TaggedItem {
        search: view.search.clone(),
        cluster: under_cursor.cluster.id,
        media: under_cursor.is_single.then_some(under_cursor.preview.media),
    };
    let are_loaded = under_cursor.is_single || app.results.missing_members().is_none();
    let has_tag = name.is_some_and(|name| {
        let has = |preview: &Preview| {
            let given = app.tagging.pending_tags(under_cursor.cluster.id, preview);
            given.tags.iter().any(|tag| tag == name)
        };
        under_cursor.previews().iter().all(has)
            && (are_loaded || app.tagging.is_given_to_all(&item, name))
    });
    let items = under_cursor.selection().items();
    (Some(TagTarget::Selection(items)), Some(item), has_tag)
}

/// Creates, recolors, renames or deletes a tag.
pub(in crate::app) fn define_tag(app: &mut App, name: &str, definition: TagDefinitionChange) {
    if kept_tags::are_kept(app) {
        return kept_tags::define_tag(app, name, &definition);
    }
    let Some(dataset) = app.dataset().map(|dataset| dataset.id) else { return };
    if let Some(known) = app.tagging.tags.get_mut(&dataset).and_then(Remote::value_mut) {
        apply_definition(&mut known.tags, name, &definition);
    }
    let request = Request::DefineTag(dataset, name.to_owned(), definition);
    let edit = TagEdit::default();
    queue_change(app, PendingChange { dataset, request, edit, item: None });
}

/// Changes the tags that are shown, and have keys, until they are loaded again.
fn apply_definition(tags: &mut Vec<DatasetTag>, name: &str, definition: &TagDefinitionChange) {
    let Some(position) = tags.iter().position(|tag| tag.name.received() == name) else { return };
    match definition {
        TagDefinitionChange::Create(color) => tags[position].color = color.or(tags[position].color),
        TagDefinitionChange::Rename(to) if tags.iter().all(|tag| tag.name.received() != to) => {
            tags[position].name = SafeText::name(to);
        }
        TagDefinitionChange::Rename(to) if to == name => {}
        TagDefinitionChange::Rename(_) | TagDefinitionChange::Delete => _ = tags.remove(position),
    }
}

pub(in crate::app) fn undo_tags(app: &mut App) {
    if kept_tags::are_kept(app) {
        return kept_tags::undo(app);
    }
    let Some(dataset) = app.dataset().map(|dataset| dataset.id) else { return };
    let is_made = |change: &PendingChange| change.dataset == dataset && change.undoes().is_none();
    if app.tagging.changes.iter().any(is_made) {
        let text = "a change of tags is not finished; press u again when its result is shown";
        return app.outbox.notify(Level::Warning, text);
    }
    let Some(change) = app.tagging.last_change(dataset) else { return };
    let request = Request::UndoTags(dataset, change);
    let edit = TagEdit::default();
    queue_change(app, PendingChange { dataset, request, edit, item: None });
}

fn queue_change(app: &mut App, change: PendingChange) {
    app.tagging.changes.push_back(change);
    if app.tagging.changes.len() == 1 {
        send_change(app);
    }
}

fn send_change(app: &mut App) {
    if let Some(PendingChange { dataset, request, .. }) = app.tagging.changes.front() {
        app.outbox.send(Lane::ChangeTags(*dataset), request.clone());
    }
}

/// Shows what the change that was sent has changed, and sends the next one.
pub(in crate::app) fn tags_changed(app: &mut App, result: Result<TagChange, Failure>) {
    let Some(change) = app.tagging.changes.pop_front() else { return };
    app.tagging.record_result(&change, &result);
    match result {
        Ok(made) => show_change(app, &change, &made),
        Err(failure) => {
            app.outbox.notify_failure(&failure);
            // A lost response may have been that of a change that was made.
            reload(app, &change, None);
        }
    }
    send_change(app);
}

fn show_change(app: &mut App, change: &PendingChange, made: &TagChange) {
    let media = grouped_with_noun(made.changed, "media item", "media items");
    let kept = made.kept_text().map_or_else(String::new, |text| format!("; {text}"));
    let is_unchanged = made.changed == 0 && matches!(change.request, Request::ChangeTags(..));
    let level = if is_unchanged { Level::Warning } else { Level::Success };
    let text = match &change.request {
        Request::UndoTags(..) => match &made.undone {
            Some(undone) => format!("undone: {undone}{kept}"),
            None => format!("undone for {media}{kept}"),
        },
        Request::DefineTag(_, name, definition) => {
            let done = match definition {
                TagDefinitionChange::Create(None) => format!("created the tag {name}"),
                TagDefinitionChange::Create(Some(color)) => format!("the tag {name} is {color}"),
                TagDefinitionChange::Rename(to) => format!("renamed the tag {name} to {to}{kept}"),
                TagDefinitionChange::Delete => format!("deleted the tag {name} of {media}{kept}"),
            };
            format!("{done}; u undoes this")
        }
        _ if is_unchanged => {
            format!("already {}: nothing has changed{kept}", describe(&change.edit))
        }
        _ => format!("{}: {media}{kept}", describe(&change.edit)),
    };
    app.outbox.notify(level, text);
    for problem in &made.file_problems {
        if app.tagging.shown_problems.insert(problem.clone()) {
            app.outbox.notify(Level::Warning, problem);
        }
    }
    if let Some(item) = &change.item {
        app.results.apply_tags(item, &change.edit);
    }
    reload(app, change, change.item.as_ref().map(|item| &item.search));
}

/// Invalidates what depends on tags: the counts, and each page, except for the page on screen if that page already
/// shows the change.
fn reload(app: &mut App, change: &PendingChange, current: Option<&Search>) {
    if let Some(tags) = app.tagging.tags.get_mut(&change.dataset) {
        tags.invalidate();
    }
    for ((dataset, _), overview) in &mut app.service_data.overviews {
        if *dataset == change.dataset {
            overview.invalidate();
        }
    }
    let current =
        current.filter(|search| app.results.view().is_some_and(|view| view.search == **search));
    app.reload_results(change.dataset, current);
}

/// The code of the failure of a search that filters by a tag that was deleted.
const UNKNOWN_TAG: &str = "unknown_tag";

/// Returns a failure. If the reason is that the search filters by a tag that was deleted, the failure names the tag.
pub(in crate::app) fn with_tag_name(app: &App, failure: Failure) -> Failure {
    let detail = failure.detail.as_ref().filter(|_| failure.code == Some(UNKNOWN_TAG));
    let mut words = detail.into_iter().flat_map(|it| it.as_str().split([' ', ';', ',']));
    let Some(id) = words.find(|word| word.parse::<TagId>().is_ok()) else { return failure };
    let name = app.query.known_values(&app.results).tag_name(id).map_or(id, SafeText::as_str);
    let text = format!("the dataset has no tag {name} any more, by which this search filters");
    let remedy = "u in the tagging mode (;) undoes its deletion, and d in the query (3) removes \
                  the filter";
    Failure { detail: None, message: SafeText::detail(&text), ..failure }.with_remedy(remedy)
}

fn describe(edit: &TagEdit) -> String {
    let added = edit.add.iter().map(|name| format!("tagged {name}"));
    let removed = edit.remove.iter().map(|name| format!("no longer {name}"));
    let rated = edit.rating.map(|rating| match rating {
        0 => "rating removed".to_owned(),
        rating => format!("rated {rating}"),
    });
    added.chain(removed).chain(rated).collect::<Vec<_>>().join(", ")
}

impl Results {
    /// Changes the tags of what is on screen. Loading the page again would forget the members that were loaded.
    fn apply_tags(&mut self, item: &TaggedItem, edit: &TagEdit) {
        let page = self.pages.entry(item.search.clone()).value_mut();
        let mut clusters = page.into_iter().flat_map(|page| &mut page.clusters);
        let Some(cluster) = clusters.find(|cluster| cluster.id == item.cluster) else { return };
        for preview in &mut cluster.previews {
            if item.media.is_none_or(|media| media == preview.media) {
                let UserTags { tags, rating } = edit.apply(&tags_of_preview(preview), &[]);
                preview.tags = tags.iter().map(|name| SafeText::name(name)).collect();
                preview.rating = rating;
            }
        }
        let previews = &cluster.previews;
        let is_left = |tag: &Tag| previews.iter().any(|preview| preview.tags.contains(&tag.name));
        let is_removed = |tag: &Tag| {
            let name = tag.name.received();
            [PICKED, REJECTED].contains(&name) || edit.remove.iter().any(|other| other == name)
        };
        cluster.tags.retain(|tag| is_left(tag) || !is_removed(tag));
        for name in &edit.add {
            let name = SafeText::name(name);
            if !cluster.tags.iter().any(|tag| tag.name == name) {
                cluster.tags.insert(0, Tag { id: None, name });
            }
        }
    }
}
