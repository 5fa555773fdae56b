//! The keys of the region picker, and the search by the picked region.

use std::mem;

use ratatui::layout::Rect;
use tessera_model::{Anchor, AnchorKind, Region, region::Vec2};
use tessera_picture::PictureSubject;
use tui_input::Input;

use super::{RegionNumberInput, RegionPicker, StepSize};
use crate::{
    app::{
        App, Mouse, Overlay, Pane, QueryImage,
        overlay::{Dialog, KeyResult},
        view::visible_pictures::VisiblePicture,
    },
    input::{Chord, Key},
};

const MAX_UNDO: usize = 200;

impl Dialog for RegionPicker {
    fn handle_key(&mut self, chord: Chord, app: &App) -> KeyResult {
        if let Some(numbers) = &mut self.number_input {
            let before = self.region;
            let result = numbers.handle_key(chord, &mut self.region);
            if numbers.done {
                self.number_input = None;
            }
            self.push_undo(before);
            return result;
        }
        match chord.key {
            Key::Esc => return KeyResult::Close,
            Key::Enter => return KeyResult::Accept,
            Key::Tab => self.number_input = Some(RegionNumberInput::new(self.region, chord.shift)),
            Key::Char(',') => self.step = self.step.finer(),
            Key::Char('.') => self.step = self.step.coarser(),
            Key::Char('w') => self.set_region(Region::WHOLE),
            Key::Char('z') => self.zoomed = !self.zoomed,
            Key::Char('u') => self.region = self.undo_stack.pop().unwrap_or(self.region),
            Key::Char(digit @ '1'..='9') => {
                let (_, preset) = Region::PRESETS[usize::from(digit as u8 - b'1')];
                self.set_region(preset);
            }
            _ => self.move_by_key(chord, app),
        }
        KeyResult::Stay
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        screen
    }

    fn area(&self, screen: (u16, u16)) -> Rect {
        Self::area_on(screen)
    }

    fn hints(&self) -> &'static str {
        match self.number_input {
            None => "Enter search   Tab numbers   Esc close",
            Some(_) => "type a fraction   Tab next number   Enter search   Esc back to the box",
        }
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        self.number_input.as_mut().map(|numbers| &mut numbers.text)
    }

    fn handle_mouse(&mut self, mouse: Mouse, app: &App) {
        self.drag_with(mouse, app);
    }

    fn visible_pictures(&self, app: &App) -> Vec<VisiblePicture> {
        vec![self.picture_to_load(app)]
    }

    /// Searches by the region. A whole media item of the dataset is not uploaded.
    fn accept(self, app: &mut App) {
        let Some(search) = app.view().map(|view| view.search.clone()) else { return };
        let Self { image, region, .. } = self;
        app.panes.focus = Pane::Results;
        match (&image.subject, region == Region::WHOLE) {
            (PictureSubject::Media(media), true) => {
                let anchor = Anchor { media: *media, kind: AnchorKind::Media };
                app.open_similar_search(search, anchor, image.name, None);
            }
            (_, is_whole) => {
                let region = (!is_whole).then_some(region);
                app.register_query_image(QueryImage { region, ..image }, search);
            }
        }
    }
}

impl RegionPicker {
    /// Arrow keys and hjkl move the region; Shift: its bottom right corner; Alt: its top left one.
    fn move_by_key(&mut self, chord: Chord, app: &App) {
        let (letter, shift) = match chord.key {
            Key::Char(letter) => (letter.to_ascii_lowercase(), letter.is_ascii_uppercase()),
            Key::Left => ('h', chord.shift),
            Key::Down => ('j', chord.shift),
            Key::Up => ('k', chord.shift),
            Key::Right => ('l', chord.shift),
            _ => return,
        };
        let step = self.step_size(app);
        let by = match letter {
            'h' => (-step.0, 0.0),
            'j' => (0.0, step.1),
            'k' => (0.0, -step.1),
            'l' => (step.0, 0.0),
            _ => return,
        };
        let smallest = self.pixel_size(app);
        self.set_region(match (chord.alt, shift) {
            (true, _) => self.region.with_top_left_moved(by, smallest),
            (false, true) => self.region.with_bottom_right_moved(by, smallest),
            (false, false) => self.region.translated(by),
        });
    }

    fn set_region(&mut self, region: Region) {
        let before = mem::replace(&mut self.region, region);
        self.push_undo(before);
    }

    pub(super) fn push_undo(&mut self, before: Region) {
        if before != self.region {
            self.undo_stack.push(before);
            self.undo_stack.drain(..self.undo_stack.len().saturating_sub(MAX_UNDO));
        }
    }

    /// How far a key moves, as a fraction of the picture.
    fn step_size(&self, app: &App) -> Vec2 {
        self.step.fraction_of(self.picture_cell_size(app), self.picture_size_or_assumed(app))
    }

    /// One pixel of the picture, as a fraction of it.
    pub(super) fn pixel_size(&self, app: &App) -> Vec2 {
        StepSize::Pixel.fraction_of(self.picture_cell_size(app), self.picture_size_or_assumed(app))
    }
}

impl App {
    pub(in crate::app) fn open_region_picker(&mut self) {
        let Some(preview) = self.preview() else { return };
        if let Some(image) = QueryImage::copy_of(preview) {
            // An object starts with its own box.
            let region = self.results.recent_images.region(&image.subject).or(preview.region);
            self.open_region_picker_on(QueryImage { region, ..image });
        }
    }

    pub(in crate::app) fn open_region_picker_on_query(&mut self) {
        if let Some(image) = self.view().and_then(|view| view.query_image.clone()) {
            self.open_region_picker_on(image);
        }
    }

    pub(in crate::app) fn open_region_picker_on(&mut self, image: QueryImage) {
        let last = image.region.or_else(|| self.results.recent_images.region(&image.subject));
        let image = QueryImage { region: None, ..image };
        self.overlays.open(Overlay::RegionPicker(RegionPicker::new(image, last)));
    }
}
