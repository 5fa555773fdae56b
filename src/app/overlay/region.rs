//! The region picker: a box on a query image, moved by keys, numbers and the mouse. All
//! arithmetic is the model's; here is which key means which change.

mod drag;
mod numbers;
mod place;

pub use numbers::{Numbers, Side};
pub use place::{Parts, Step};

use crate::{
    app::{
        App, Effect, Overlay, Pane, QueryImage,
        overlay::{Press, region::drag::Drag},
    },
    input::{Chord, Key},
};
use tessera_model::{Anchor, AnchorKind, Region, region::Pair};
use tessera_picture::Subject;

/// Changes that can be taken back.
const UNDO: usize = 200;

/// A half-picked region.
#[derive(Clone, Debug)]
pub struct RegionPicker {
    /// The picture, without the region.
    pub image: QueryImage,
    /// The region as it is now.
    pub region: Region,
    /// How far a key moves.
    pub step: Step,
    /// The number that is being typed, if one is.
    pub numbers: Option<Numbers>,
    /// Whether the region alone is shown, enlarged.
    pub zoomed: bool,
    /// The regions before, oldest first.
    past: Vec<Region>,
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
            step: Step::Cell,
            numbers: None,
            zoomed: false,
            past: Vec::new(),
            drag: None,
        }
    }

    /// Takes a key.
    pub fn key(&mut self, chord: Chord, app: &App) -> Press {
        if let Some(numbers) = &mut self.numbers {
            let before = self.region;
            let press = numbers.key(chord, &mut self.region);
            if numbers.left {
                self.numbers = None;
            }
            self.remember(before);
            return press;
        }
        match chord.key {
            Key::Esc => return Press::Leave,
            Key::Enter => return Press::Accept,
            Key::Tab => self.numbers = Some(Numbers::new(self.region, chord.shift)),
            Key::Char(',') => self.step = self.step.finer(),
            Key::Char('.') => self.step = self.step.coarser(),
            Key::Char('w') => self.change(Region::WHOLE),
            Key::Char('z') => self.zoomed = !self.zoomed,
            Key::Char('u') => self.region = self.past.pop().unwrap_or(self.region),
            Key::Char(digit @ '1'..='9') => {
                let (_, preset) = Region::PRESETS[usize::from(digit as u8 - b'1')];
                self.change(preset);
            }
            _ => self.shift(chord, app),
        }
        Press::Stay
    }

    /// What its keys do, for the hint line.
    #[must_use]
    pub fn hints(&self) -> &'static str {
        match self.numbers {
            None => "Enter search   Tab numbers   Esc leave",
            Some(_) => "type a fraction   Tab next number   Enter search   Esc back to the box",
        }
    }

    /// The keys with a direction: alone they move the region, with Shift its far corner, with Alt
    /// its near one.
    fn shift(&mut self, chord: Chord, app: &App) {
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
        let least = self.pixel(app);
        self.change(match (chord.alt, far) {
            (true, _) => self.region.near_moved(by, least),
            (false, true) => self.region.far_moved(by, least),
            (false, false) => self.region.moved(by),
        });
    }

    /// Changes the region, so that it can be taken back.
    fn change(&mut self, region: Region) {
        let before = std::mem::replace(&mut self.region, region);
        self.remember(before);
    }

    fn remember(&mut self, before: Region) {
        if before != self.region {
            self.past.push(before);
            self.past.drain(..self.past.len().saturating_sub(UNDO));
        }
    }

    /// How far a key moves, as fractions of the picture.
    fn step_size(&self, app: &App) -> Pair {
        self.step.size(self.cells(app), self.pixels(app))
    }

    /// The size of a pixel of the picture, as fractions of it.
    fn pixel(&self, app: &App) -> Pair {
        Step::Pixel.size(self.cells(app), self.pixels(app))
    }
}

impl App {
    /// Opens the picker on the preview on screen.
    pub(in crate::app) fn pick_region(&mut self) {
        let Some(preview) = self.preview() else { return };
        if let Some(image) = QueryImage::copy_of(preview) {
            // An object begins with its own box.
            let region = self.recent.region(&image.of).or(preview.region);
            self.pick_region_of(QueryImage { region, ..image });
        }
    }

    /// Opens the picker on the picture that was searched by.
    pub(in crate::app) fn pick_region_of_query(&mut self) {
        if let Some(image) = self.view().and_then(|view| view.query_image.clone()) {
            self.pick_region_of(image);
        }
    }

    /// Opens the picker on a picture.
    pub(in crate::app) fn pick_region_of(&mut self, image: QueryImage) {
        let last = image.region.or_else(|| self.recent.region(&image.of));
        let image = QueryImage { region: None, ..image };
        self.overlay = Some(Overlay::Region(RegionPicker::new(image, last)));
    }

    /// Searches by what was picked. The whole of a media needs no copy of it.
    pub(in crate::app) fn search_by_region(
        &mut self,
        picker: RegionPicker,
        effects: &mut Vec<Effect>,
    ) {
        let Some(search) = self.view().map(|view| view.search.clone()) else { return };
        let RegionPicker { image, region, .. } = picker;
        self.focus = Pane::Results;
        match (&image.of, region == Region::WHOLE) {
            (Subject::Media(media), true) => {
                let anchor = Anchor { media: *media, kind: AnchorKind::Media };
                self.go_to_anchor(search, anchor, image.name, None);
            }
            (_, whole) => {
                let region = (!whole).then_some(region);
                self.register(QueryImage { region, ..image }, search, effects);
            }
        }
    }
}
