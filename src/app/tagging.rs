//! Tags and rates with a key each, while the tagging mode is on: what is under the cursor, the selection, or everything
//! that the search finds. Changes are sent one after the other, so that each can be undone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tessera_model::{
    ClusterId, DatasetId, DatasetTags, Failure, MediaId, Preview, SafeText, Search, Tag, TagChange,
    TagChangeId, TagDefinition, TagEdit, TagTarget, UserTags,
    tag::{PICKED, REJECTED},
    text::grouped_with_noun,
};

use crate::{
    app::{App, Level, Remote, Results},
    input::Action,
    message::{Lane, Request},
};

#[derive(Debug, Default)]
pub struct Tagging {
    pub is_on: bool,
    /// Whether the next key changes everything that the search finds.
    pub whole_search: bool,
    pub tags: BTreeMap<DatasetId, Remote<DatasetTags>>,
    /// The change that was sent, and those that are sent after it.
    changes: VecDeque<PendingChange>,
    /// The changes that were made, the latest last.
    made: Vec<(DatasetId, TagChangeId)>,
    /// The problems of files that were shown already.
    shown_problems: BTreeSet<SafeText>,
}

#[derive(Clone, Debug)]
struct PendingChange {
    dataset: DatasetId,
    request: Request,
    edit: TagEdit,
    item: Option<TaggedItem>,
}

/// What is under the cursor.
#[derive(Clone, Debug)]
struct TaggedItem {
    search: Search,
    cluster: ClusterId,
    /// `None` for all members of the cluster.
    media: Option<MediaId>,
}

impl Tagging {
    pub fn tags_of(&self, dataset: DatasetId) -> &[tessera_model::DatasetTag] {
        self.tags.get(&dataset).and_then(Remote::value).map_or(&[], |known| &known.tags)
    }

    /// Returns the name of the tag with this key: the user's own tags in the order of their creation.
    pub fn name_of_key(&self, dataset: DatasetId, key: usize) -> Option<&SafeText> {
        let own = self.tags_of(dataset).iter().filter(|tag| tag.color.is_some());
        let mut own = own.filter(|tag| ![PICKED, REJECTED].contains(&tag.name.as_str()));
        own.nth(key).map(|tag| &tag.name)
    }

    pub fn can_undo(&self) -> bool {
        !self.made.is_empty()
    }
}

impl App {
    pub fn tagging(&self) -> &Tagging {
        &self.tagging
    }

    pub(in crate::app) fn toggle_tagging(&mut self) {
        self.tagging.is_on = !self.tagging.is_on;
        self.tagging.whole_search = false;
        let text = if self.tagging.is_on { "tagging; Esc ends it" } else { "tagging ended" };
        self.outbox.notify(Level::Success, text);
    }

    pub(in crate::app) fn toggle_whole_search(&mut self) {
        self.tagging.whole_search = !self.tagging.whole_search;
        let text = if self.tagging.whole_search {
            "the next key changes everything that the search finds"
        } else {
            "the next key changes only the selection, or what is under the cursor"
        };
        self.outbox.notify(Level::Success, text);
    }

    /// Performs an action that tags or rates.
    pub(in crate::app) fn tag(&mut self, action: Action) {
        let Some(dataset) = self.dataset().map(|dataset| dataset.id) else { return };
        let name = match action {
            Action::Pick => Some(PICKED.to_owned()),
            Action::Reject => Some(REJECTED.to_owned()),
            _ => action
                .tag_key()
                .and_then(|key| self.tagging.name_of_key(dataset, key))
                .map(ToString::to_string),
        };
        let (target, item, has_tag) = self.tag_target(name.as_deref());
        let Some(target) = target else { return };
        let none: [&str; 0] = [];
        let edit = match (&name, action.rating()) {
            (Some(name), _) if has_tag => TagEdit::new(none, [name], None),
            (Some(name), _) => TagEdit::new([name], none, None),
            (None, Some(rating)) => TagEdit::new(none, none, Some(rating)),
            (None, None) => {
                let text = "no tag has this key; + creates a tag";
                return self.outbox.notify(Level::Warning, text);
            }
        };
        let Ok(edit) = edit else { return };
        self.tagging.whole_search = false;
        let request = Request::ChangeTags(dataset, target, edit.clone());
        self.queue_tag_change(PendingChange { dataset, request, edit, item });
    }

    /// Returns what a key changes, what of it is on screen, and whether all of that has the tag.
    fn tag_target(&self, name: Option<&str>) -> (Option<TagTarget>, Option<TaggedItem>, bool) {
        let Some(view) = self.results.view() else { return (None, None, false) };
        if self.tagging.whole_search {
            let search = Search { page: 0, ..view.search.clone() };
            return (Some(TagTarget::Search(Box::new(search))), None, false);
        }
        let selection = self.baskets.selection(&self.results).filter(|it| !it.is_empty());
        if let Some(selection) = selection {
            return (Some(TagTarget::Selection(selection.items())), None, false);
        }
        let Some(under_cursor) = self.under_cursor() else { return (None, None, false) };
        let has_tag = name.is_some_and(|name| {
            let has = |preview: &Preview| preview.tags.iter().any(|tag| tag.as_str() == name);
            under_cursor.previews().iter().all(has)
        });
        let item = TaggedItem {
            search: view.search.clone(),
            cluster: under_cursor.cluster.id,
            media: under_cursor.is_single.then_some(under_cursor.preview.media),
        };
        let items = under_cursor.selection().items();
        (Some(TagTarget::Selection(items)), Some(item), has_tag)
    }

    pub(in crate::app) fn create_tag(&mut self, name: &str) {
        let Some(dataset) = self.dataset().map(|dataset| dataset.id) else { return };
        let define = TagDefinition::Create(None);
        let request = Request::DefineTag(dataset, name.to_owned(), define);
        let edit = TagEdit::default();
        self.queue_tag_change(PendingChange { dataset, request, edit, item: None });
    }

    pub(in crate::app) fn undo_tags(&mut self) {
        let Some((dataset, change)) = self.tagging.made.pop() else { return };
        let request = Request::UndoTags(dataset, change);
        let edit = TagEdit::default();
        self.queue_tag_change(PendingChange { dataset, request, edit, item: None });
    }

    fn queue_tag_change(&mut self, change: PendingChange) {
        self.tagging.changes.push_back(change);
        if self.tagging.changes.len() == 1 {
            self.send_tag_change();
        }
    }

    fn send_tag_change(&mut self) {
        if let Some(PendingChange { dataset, request, .. }) = self.tagging.changes.front() {
            self.outbox.send(Lane::ChangeTags(*dataset), request.clone());
        }
    }

    /// Shows what the change that was sent has changed, and sends the next one.
    pub(in crate::app) fn tags_changed(&mut self, result: Result<TagChange, Failure>) {
        let Some(change) = self.tagging.changes.pop_front() else { return };
        match result {
            Ok(made) => self.show_tag_change(&change, &made),
            Err(failure) => {
                self.outbox.notify_failure(&failure);
                // A lost response may have been that of a change that was made.
                self.reload_tags(&change, true);
            }
        }
        self.send_tag_change();
    }

    fn show_tag_change(&mut self, change: &PendingChange, made: &TagChange) {
        if let Some(id) = made.id {
            self.tagging.made.push((change.dataset, id));
        }
        let media = grouped_with_noun(made.changed, "media item", "media items");
        let kept = match made.kept {
            0 => String::new(),
            kept => format!("; {} as before", grouped_with_noun(kept, "stays", "stay")),
        };
        let text = match &change.request {
            Request::UndoTags(..) => format!("undone for {media}{kept}"),
            Request::DefineTag(_, name, _) => format!("the tag {name} exists"),
            _ => format!("{}: {media}{kept}", describe(&change.edit)),
        };
        self.outbox.notify(Level::Success, text);
        for problem in &made.file_problems {
            if self.tagging.shown_problems.insert(problem.clone()) {
                self.outbox.notify(Level::Warning, problem);
            }
        }
        let is_shown = change.item.as_ref().is_some_and(|item| {
            self.results.apply_tags(item, &change.edit);
            true
        });
        self.reload_tags(change, !is_shown);
    }

    /// Makes what depends on tags load again: the counts and, unless the change is shown already, the page.
    fn reload_tags(&mut self, change: &PendingChange, with_page: bool) {
        if let Some(tags) = self.tagging.tags.get_mut(&change.dataset) {
            tags.invalidate();
        }
        for ((dataset, _), overview) in &mut self.service_data.overviews {
            if *dataset == change.dataset {
                overview.invalidate();
            }
        }
        if let (true, Some(view)) = (with_page, self.results.view()) {
            let search = view.search.clone();
            self.results.pages.entry(search).invalidate();
        }
    }
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
                let tags = preview.tags.iter().map(ToString::to_string).collect();
                let before = UserTags { tags, rating: preview.rating };
                let UserTags { tags, rating } = edit.apply(&before, &[]);
                preview.tags = tags.iter().map(|name| SafeText::name(name)).collect();
                preview.rating = rating;
            }
        }
        let previews = &cluster.previews;
        let is_left = |tag: &Tag| previews.iter().any(|preview| preview.tags.contains(&tag.name));
        let is_removed = |tag: &Tag| {
            let name = tag.name.as_str();
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
