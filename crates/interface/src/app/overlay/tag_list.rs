//! Lists the tags of the open dataset in the order of their keys, and renames, recolors and deletes them. Asks before a
//! key tags a selection that is not on the screen.

use tessera_model::{
    DatasetTag, Selection, TagColor, TagDefinitionChange,
    tag::{PICKED, REJECTED},
    text::{count_with_noun, grouped_with_noun},
};

use crate::app::{
    basket::SelectedEntries,
    kept_tags,
    overlay::{
        command_list::{CommandList, ListKind},
        pick_list::{Command, PickItem},
        prelude::*,
    },
    tagging,
};
use crate::drawing::wrapped_rows;

pub(in crate::app) fn open_tag_list(app: &mut App) {
    let rows = tag_rows(app);
    if kept_tags::are_kept(app) {
        CommandList::open(app, ListKind::KeptTags, "Tags on this machine", rows);
    } else {
        CommandList::open(app, ListKind::Tags, "Tags of the dataset", rows);
    }
}

/// Performs an action that tags or rates. If the action changes a selection that is not on the page, the user is asked.
pub(in crate::app) fn tag_or_ask(app: &mut App, action: Action) {
    let SelectedEntries { on_page, hidden } = app.baskets.selected_entries(&app.results);
    let needs_no_question = app.tagging.whole_search || on_page > 0 || hidden == 0;
    if needs_no_question || tagging::is_of_missing_tag(app, action) {
        return tagging::tag(app, action);
    }
    let entries = grouped_with_noun(hidden as u64, "selected entry", "selected entries");
    let text =
        format!("{}: {entries}, none of which is on this page.", tagging::help_of(app, action));
    app.overlays.open(HiddenSelectionTagging { action, text });
}

/// Asks whether the selection is to be tagged, although none of it is on the page.
#[derive(Clone, Debug)]
pub struct HiddenSelectionTagging {
    action: Action,
    text: String,
}

impl Dialog for HiddenSelectionTagging {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        KeyResult::of_confirmation(chord, false)
    }

    fn preferred_size(&self, _: (u16, u16)) -> (u16, u16) {
        const COLUMNS: u16 = 76;
        (COLUMNS, wrapped_rows(&self.text, COLUMNS - 3) + 4)
    }

    fn hints(&self) -> &'static str {
        "y tag the selection   Esc cancel"
    }

    fn accept(self: Box<Self>, app: &mut App) {
        tagging::tag(app, self.action);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let note = "On a selection, a key always adds. If D in the basket clears the selection, keys \
                    change what is under the cursor.";
        ctx.texts_dialog(area, "Tag the selection", &[self.text.as_str(), note]);
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
pub(in crate::app) fn define_listed_tag(
    app: &mut App,
    name: &SafeText,
    definition: TagDefinitionChange,
) {
    let row = tag_rows(app).iter().position(|row| row.label == *name);
    tagging::define_tag(app, name.received(), definition);
    open_tag_list(app);
    if let (Some(row), Some(again)) = (row, app.overlays.dialog_mut::<CommandList>()) {
        again.list.select(row);
    }
}

pub(in crate::app) fn open_tag_colors(app: &mut App, name: &SafeText) {
    let color = |color: TagColor| {
        let define = TagDefinitionChange::Create(Some(color));
        PickItem::new(Command::DefineTag(name.clone(), define), color.as_str())
    };
    let items = TagColor::ALL.map(color).into();
    CommandList::open(app, ListKind::TagColors, &format!("The color of the tag {name}"), items);
}
