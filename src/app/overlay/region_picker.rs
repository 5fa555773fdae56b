//! The region picker: a box on a query image, moved by keys, numbers and the mouse. All
//! arithmetic is the model's; here is which key means which change.

mod layout;
mod mouse;
mod number_input;

pub use layout::{RegionPickerAreas, StepSize};
pub use number_input::{RegionField, RegionNumberInput};

use crate::{
    app::{
        App, Overlay, Pane, QueryImage,
        overlay::{KeyResult, region_picker::mouse::Drag},
    },
    input::{Chord, Key},
};
use tessera_model::{Anchor, AnchorKind, Region, region::Vec2};
use tessera_picture::PictureSubject;

/// Changes that can be taken back.
const MAX_UNDO: usize = 200;

/// A half-picked region.
#[derive(Clone, Debug)]
pub struct RegionPicker {
    /// The picture, without the region.
    pub image: QueryImage,
    /// The region as it is now.
    pub region: Region,
    /// How far a key moves.
    pub step: StepSize,
    /// The number that is being typed, if one is.
    pub number_input: Option<RegionNumberInput>,
    /// Whether the region alone is shown, enlarged.
    pub zoomed: bool,
    /// The regions before, oldest first.
    undo_stack: Vec<Region>,
    /// What the mouse has hold of, and the region when it took it.
    drag: Option<(Drag, Region)>,
}

impl RegionPicker {
    /// A picker that begins with the region last searched by, or with the inner half.
    #[must_use]
    pub fn new(image: QueryImage, last: Option<Region>) -> Self {
        Self {
            image,
            region: last.unwrap_or(Region::INNER_HALF),
            step: StepSize::Cell,
            number_input: None,
            zoomed: false,
            undo_stack: Vec::new(),
            drag: None,
        }
    }

    /// Takes a key.
    pub fn handle_key(&mut self, chord: Chord, app: &App) -> KeyResult {
        if let Some(numbers) = &mut self.number_input {
            let before = self.region;
            let press = numbers.handle_key(chord, &mut self.region);
            if numbers.done {
                self.number_input = None;
            }
            self.push_undo(before);
            return press;
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

    /// What its keys do, for the hint line.
    #[must_use]
    pub fn hints(&self) -> &'static str {
        match self.number_input {
            None => "Enter search   Tab numbers   Esc leave",
            Some(_) => "type a fraction   Tab next number   Enter search   Esc back to the box",
        }
    }

    /// The keys with a direction: alone they move the region, with Shift its far corner, with Alt
    /// its near one.
    fn move_by_key(&mut self, chord: Chord, app: &App) {
        let (letter, far) = match chord.key {
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
        let least = self.pixel_size(app);
        self.set_region(match (chord.alt, far) {
            (true, _) => self.region.with_top_left_moved(by, least),
            (false, true) => self.region.with_bottom_right_moved(by, least),
            (false, false) => self.region.translated(by),
        });
    }

    /// Changes the region, so that it can be taken back.
    fn set_region(&mut self, region: Region) {
        let before = std::mem::replace(&mut self.region, region);
        self.push_undo(before);
    }

    fn push_undo(&mut self, before: Region) {
        if before != self.region {
            self.undo_stack.push(before);
            self.undo_stack.drain(..self.undo_stack.len().saturating_sub(MAX_UNDO));
        }
    }

    /// How far a key moves, as fractions of the picture.
    fn step_size(&self, app: &App) -> Vec2 {
        self.step.fraction_of(self.picture_cell_size(app), self.picture_size_or_assumed(app))
    }

    /// The size of a pixel of the picture, as fractions of it.
    fn pixel_size(&self, app: &App) -> Vec2 {
        StepSize::Pixel.fraction_of(self.picture_cell_size(app), self.picture_size_or_assumed(app))
    }
}

impl App {
    /// Opens the picker on the preview on screen.
    pub(in crate::app) fn open_region_picker(&mut self) {
        let Some(preview) = self.preview() else { return };
        if let Some(image) = QueryImage::copy_of(preview) {
            // An object begins with its own box.
            let region = self.recent_images.region(&image.subject).or(preview.region);
            self.open_region_picker_on(QueryImage { region, ..image });
        }
    }

    /// Opens the picker on the picture that was searched by.
    pub(in crate::app) fn open_region_picker_on_query(&mut self) {
        if let Some(image) = self.view().and_then(|view| view.query_image.clone()) {
            self.open_region_picker_on(image);
        }
    }

    /// Opens the picker on a picture.
    pub(in crate::app) fn open_region_picker_on(&mut self, image: QueryImage) {
        let last = image.region.or_else(|| self.recent_images.region(&image.subject));
        let image = QueryImage { region: None, ..image };
        self.overlay = Some(Overlay::RegionPicker(RegionPicker::new(image, last)));
    }

    /// Searches by what was picked. The whole of a media needs no copy of it.
    pub(in crate::app) fn search_by_region(&mut self, picker: RegionPicker) {
        let Some(search) = self.view().map(|view| view.search.clone()) else { return };
        let RegionPicker { image, region, .. } = picker;
        self.focus = Pane::Results;
        match (&image.subject, region == Region::WHOLE) {
            (PictureSubject::Media(media), true) => {
                let anchor = Anchor { media: *media, kind: AnchorKind::Media };
                self.open_similar_search(search, anchor, image.name, None);
            }
            (_, whole) => {
                let region = (!whole).then_some(region);
                self.register_query_image(QueryImage { region, ..image }, search);
            }
        }
    }
}
