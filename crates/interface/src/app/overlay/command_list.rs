//! Shows a list of commands, such as actions, sort orders, past searches, saved views and the log. Come here to change
//! what a command does when it is picked.

use tessera_config::text_enum;
use tessera_model::TagDefinitionChange;
use tessera_picture::Protocol;

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        overlay::pick_list::{Command, PickItem, PickList},
        pane::inner_area,
        view::pictures::VisiblePicture,
    },
    drawing::{below, text_cells, wrapped_rows},
};

text_enum! {
    pub enum ListKind: hints {
        Actions = "type to filter   ↑ ↓ select   Enter run   Esc close",
        Combinations = "↑ ↓ select   Enter combine in a new tab   Esc close",
        FilterKinds = "type to filter   ↑ ↓ select   Enter or 1-9 add   Esc close",
        KeptTags = "Enter rename   Delete delete   type to filter   Esc close",
        History = "type to filter   ↑ ↓ select   Enter search again   Esc close",
        Log = "type to filter   ↑ ↓ select   Enter show details   Esc close",
        Models = "↑ ↓ select   Enter show what is downloaded   Esc close",
        Palette = "type to filter   ↑ ↓ select, ↑ at the top for earlier input   Enter run   Esc close",
        Profiles = "Enter open   Esc close",
        SortOrders = "↑ ↓ select   Enter sort   Esc close",
        TagColors = "↑ ↓ select   Enter use the color   Esc close",
        Tags = "Enter recolor   F2 rename   Delete delete   type to filter   Esc close",
        Views = "Enter open   F2 rename   Delete delete   type to filter   Esc close",
    }
}

impl ListKind {
    fn columns(self) -> u16 {
        match self {
            Self::Actions => 112,
            Self::Combinations | Self::FilterKinds | Self::History | Self::Views => 100,
            Self::Log => 116,
            Self::Models => 160,
            Self::Palette => 96,
            Self::Profiles => 86,
            Self::SortOrders | Self::TagColors | Self::Tags | Self::KeptTags => 76,
        }
    }
}

#[derive(Clone, Debug)]
pub struct CommandList {
    pub kind: ListKind,
    pub title: SafeText,
    pub list: PickList,
    /// Whether the picture of the selected row is beside the list.
    has_picture: bool,
    /// The entry of the palette's history that is in the field, counted from 1. New input has the number 0.
    history_position: usize,
}

/// The columns of the picture beside the list.
const PICTURE_COLUMNS: u16 = 26;
/// The rows of a list with a picture.
const ROWS_WITH_PICTURE: u16 = 14;

impl CommandList {
    /// Returns the areas of the list and of the picture of the selected row, inside the dialog.
    pub fn areas(&self, inside: Rect) -> (Rect, Option<Rect>) {
        if !self.has_picture || inside.width < 3 * PICTURE_COLUMNS {
            return (inside, None);
        }
        let list = Rect { width: inside.width - PICTURE_COLUMNS, ..inside };
        let picture = Rect { x: list.right() + 1, width: PICTURE_COLUMNS - 2, ..inside };
        (list, Some(picture))
    }

    /// Returns the picture of the selected past search, if it is on this machine or on a loaded
    /// page.
    pub fn picture(&self, app: &App, area: Rect) -> Option<VisiblePicture> {
        let Some(Command::RerunSearch(entry)) = self.list.selected() else { return None };
        app.results.picture_of_search(entry, app.screen.canvas(area.width, area.height))
    }

    fn show_history(&mut self, history: &[String], position: usize) {
        let line = match position {
            0 => Some(""),
            _ => history.get(position - 1).map(String::as_str),
        };
        if let Some(line) = line {
            (self.list.filter, self.history_position) = (line.into(), position);
        }
    }

    /// Returns what a key does with the selected view or tag, apart from `Enter`.
    fn alternative_of(&self, key: Key) -> Option<Command> {
        Some(match (self.list.selected()?, key) {
            (Command::OpenView(name), Key::F(2)) => Command::RenameView(name.clone()),
            (Command::OpenView(name), Key::Delete) => Command::DeleteView(name.clone()),
            (Command::ChooseTagColor(name) | Command::RenameTag(name), Key::F(2)) => {
                Command::RenameTag(name.clone())
            }
            (Command::ChooseTagColor(name) | Command::RenameTag(name), Key::Delete) => {
                Command::DefineTag(name.clone(), TagDefinitionChange::Delete)
            }
            _ => return None,
        })
    }

    pub(in crate::app) fn open(app: &mut App, kind: ListKind, title: &str, items: Vec<PickItem>) {
        let (title, list) = (SafeText::name(title), PickList::new(items));
        let has_picture = kind == ListKind::History && app.screen.protocol != Protocol::None;
        app.overlays.open(CommandList { kind, title, list, has_picture, history_position: 0 });
    }

    /// Returns the open list, if it is of this kind.
    pub(in crate::app) fn opened(overlays: &Overlays, kind: ListKind) -> Option<&Self> {
        overlays.dialog::<Self>().filter(|list| list.kind == kind)
    }

    /// Returns whether a list of this kind is open, and nothing was typed, so that it can be opened again.
    pub(in crate::app) fn is_unfiltered(overlays: &Overlays, kind: ListKind) -> bool {
        Self::opened(overlays, kind).is_some_and(|it| it.list.filter.value().is_empty())
    }

    /// Returns whether the first row of a list of this kind is selected.
    pub(in crate::app) fn is_at_start(overlays: &Overlays, kind: ListKind) -> bool {
        Self::opened(overlays, kind).is_some_and(|it| it.list.cursor == 0)
    }
}

impl Dialog for CommandList {
    fn handle_key(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        let (history, position) = (&app.overlays.palette_history, self.history_position);
        match (self.kind, chord.key) {
            (_, Key::F(2) | Key::Delete) => {
                let Some(command) = self.alternative_of(chord.key) else {
                    return self.list.handle_key(chord);
                };
                app.run_command(command);
                return KeyResult::Close;
            }
            (ListKind::Palette, Key::Up) if self.list.cursor == 0 => {
                self.show_history(history, position + 1);
            }
            (ListKind::Palette, Key::Down) if position > 0 => {
                self.show_history(history, position - 1);
            }
            _ => {
                self.history_position = 0;
                return self.list.handle_key(chord);
            }
        }
        KeyResult::Stay
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        let columns = self.kind.columns();
        let rows = self.list.preferred_rows(screen.0 < columns);
        let rows = match self.kind {
            ListKind::Log => screen.1.saturating_sub(4),
            ListKind::Palette => screen.1.saturating_sub(4).min(24),
            ListKind::Views => rows.max(8),
            _ if self.has_picture => rows.max(ROWS_WITH_PICTURE),
            _ => rows,
        };
        let columns = columns + if self.has_picture { PICTURE_COLUMNS } else { 0 };
        // A title that is too long for the frame is wrapped.
        let title_width = columns.min(screen.0).saturating_sub(4);
        let title = wrapped_rows(self.title.as_str(), title_width) - 1;
        (columns, rows.saturating_add(if title > 0 { title + 1 } else { 0 }))
    }

    fn pictures(&self, area: Rect, app: &App) -> Vec<(Rect, VisiblePicture)> {
        let (_, area) = self.areas(inner_area(area));
        area.and_then(|area| Some((area, self.picture(app, area)?))).into_iter().collect()
    }

    fn hints(&self) -> &'static str {
        self.kind.hints()
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        Some(self.list.text_input())
    }

    fn select_item(&mut self, index: usize, _: &App) {
        self.list.select(index);
    }

    fn accept(self: Box<Self>, app: &mut App) {
        if self.kind == ListKind::Palette {
            app.overlays.add_to_palette_history(self.list.filter.value());
        }
        if let Some(command) = self.list.selected().cloned() {
            app.run_command(command);
        }
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = draw_frame(ctx, area, self.title.as_str());
        let (list, picture) = self.areas(inside);
        self.list.draw(ctx, list);
        let Some(area) = picture else { return };
        match self.picture(ctx.app, area) {
            Some(picture) => _ = ctx.draw_picture(area, picture.view, picture.canvas),
            None => ctx.picture_placeholder(area, "not loaded"),
        }
    }
}

/// Draws the frame with the title. A title that is too long for the frame, such as a reason, is drawn above the
/// filter.
fn draw_frame(ctx: &mut DrawContext, area: Rect, title: &str) -> Rect {
    if text_cells(title).saturating_add(4) <= area.width {
        return ctx.dialog(area, title);
    }
    let inside = ctx.frame(area, "", true);
    let text_rows = wrapped_rows(title, inside.width.saturating_sub(1));
    let head = Rect { height: text_rows.min(inside.height), ..inside };
    let title = Line::from(vec![Span::raw(" "), Span::styled(title, ctx.theme.accent)]);
    ctx.put_lines(head, &[title]);
    below(inside, text_rows)
}
