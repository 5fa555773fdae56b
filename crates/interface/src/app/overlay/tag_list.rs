//! Lists the tags of the open dataset in the order of their keys, and renames, recolors and deletes them.

use tessera_model::{
    DatasetTag, Selection, TagColor, TagDefinition,
    tag::{PICKED, REJECTED},
    text::{count_with_noun, grouped_with_noun},
};

use crate::app::{
    kept_tags,
    overlay::{
        command_list::{CommandList, ListKind},
        pick_list::{Command, PickItem},
        prelude::*,
    },
    tagging,
};

pub(in crate::app) fn open_tag_list(app: &mut App) {
    let rows = tag_rows(app);
    if kept_tags::are_kept(app) {
        CommandList::open(app, ListKind::KeptTags, "Tags on this machine", rows);
    } else {
        CommandList::open(app, ListKind::Tags, "Tags of the dataset", rows);
    }
}

fn tag_rows(app: &App) -> Vec<PickItem> {
    let Some(dataset) = app.dataset().map(|dataset| dataset.id) else { return Vec::new() };
    if kept_tags::are_kept(app) {
        let tags = app.tagging.kept.get(dataset).into_iter().flatten();
        let item = |(name, selection): (&SafeText, &Selection)| {
            let entries = count_with_noun(selection.len(), "entry", "entries");
            PickItem::new(Command::RenameTag(name.clone()), name).note(entries)
        };
        return keys_first(tags.map(item).collect());
    }
    let tags = app.tagging.tags_of(dataset).iter();
    let item = |tag: &DatasetTag| {
        let media = grouped_with_noun(tag.count, "media item", "media items");
        let note = format!("{} · {media}", tag.color?);
        Some(PickItem::new(Command::ChooseTagColor(tag.name.clone()), &tag.name).note(note))
    };
    keys_first(tags.filter_map(item).collect())
}

/// Moves the tags that have other keys than digits to the end, so that the digit of a row is the key of its tag.
fn keys_first(mut items: Vec<PickItem>) -> Vec<PickItem> {
    items.sort_by_key(|item| [PICKED, REJECTED].contains(&item.label.as_str()));
    items
}

/// Changes a tag of the list, and opens the list again at the same row for the next change.
pub(in crate::app) fn define_listed_tag(app: &mut App, name: &SafeText, definition: TagDefinition) {
    let row = tag_rows(app).iter().position(|row| row.label == *name);
    tagging::define_tag(app, name.received(), definition);
    open_tag_list(app);
    if let (Some(row), Some(again)) = (row, app.overlays.dialog_mut::<CommandList>()) {
        again.list.select(row);
    }
}

pub(in crate::app) fn open_tag_colors(app: &mut App, name: &SafeText) {
    let color = |color: TagColor| {
        let define = TagDefinition::Create(Some(color));
        PickItem::new(Command::DefineTag(name.clone(), define), color.as_str())
    };
    let items = TagColor::ALL.map(color).into();
    CommandList::open(app, ListKind::TagColors, &format!("The color of the tag {name}"), items);
}
