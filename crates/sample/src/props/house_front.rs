//! The front of a town house with a shop on the ground floor.
//! Drawn in coordinates of its own, with the colours the scene gives it.

use crate::{
    brush::{
        Canvas, Ink, Rgb, rgb,
        shape::{block, polygon},
    },
    dice::Dice,
    light::Light,
};

/// One house front.
#[derive(Clone, Copy)]
pub struct Front {
    /// Left edge, foot, width and height in pixels, without the roof.
    pub x: f32,
    pub kerb: f32,
    pub width: f32,
    pub height: f32,
    /// With the ground floor.
    pub floors: usize,
    /// A gable, not a flat roof.
    pub peak: bool,
    /// Some windows are lit.
    pub lit: bool,
    /// Colour of the wall as the light shows it.
    pub wall: Rgb,
    pub light: Light,
}

impl Front {
    /// The highest row of the roof, in pixels.
    pub fn top(&self) -> f32 {
        self.kerb - self.height - self.width * if self.peak { 0.36 } else { 0.08 }
    }

    /// Paints the house.
    pub fn paint(&self, c: &mut Canvas, mut dice: Dice) {
        if c.is_blind() {
            return;
        }
        let (x, w, top) = (self.x, self.width, self.kerb - self.height);
        let roof = self.on(dice.pick(&[0xa8503c, 0x6a5a64, 0x8c4a3a, 0x4f5f74]));
        if self.peak {
            let gable =
                polygon(&[(x - w * 0.03, top), (x + w * 0.5, self.top()), (x + w * 1.03, top)]);
            c.fill(gable, Ink::fall(self.top(), roof.scale(1.1), top, roof.scale(0.75)));
        } else {
            c.fill(block(x, self.top(), w, w * 0.12), roof);
        }
        let wall = Ink::fall(top, self.wall.scale(1.05), self.kerb, self.wall.scale(0.82));
        c.fill(block(x, top, w, self.height), wall);
        c.fill(
            block(x + w * 0.97, top, w * 0.03, self.height),
            Ink::Thin(self.wall.scale(0.5), 0.5),
        );
        let storey = self.height / self.floors as f32;
        let columns = if w > c.unit() * 0.27 { 3 } else { 2 };
        for spot in 0..columns * (self.floors - 1) {
            let (column, floor) = ((spot % columns) as f32, (spot / columns) as f32);
            let middle = x + w * (column + 0.5) / columns as f32;
            let size = (w * 0.46 / columns as f32, storey * 0.56);
            self.window(c, &mut dice, (middle - size.0 / 2.0, top + storey * (floor + 0.26)), size);
        }
        self.shop(c, &mut dice, storey);
    }

    fn on(&self, hex: u32) -> Rgb {
        self.light.on(rgb(hex), 0.05)
    }

    fn window(&self, c: &mut Canvas, dice: &mut Dice, (x, y): (f32, f32), (w, h): (f32, f32)) {
        let frame = self.on(0xf6f0e6);
        let glass = if self.lit && dice.chance(0.6) { rgb(0xffd27c) } else { self.on(0x4f6c88) };
        c.fill(block(x - 2.0, y - 2.0, w + 4.0, h + 4.0), frame);
        c.fill(block(x, y, w, h), Ink::fall(y, glass, y + h, glass.scale(0.78)));
        c.fill(block(x + w * 0.46, y, w * 0.08, h), frame);
        if dice.chance(0.3) {
            c.fill(block(x - 2.0, y + h, w + 4.0, h * 0.16), self.on(0x5a9a4a));
        }
    }

    /// The ground floor: a shop window under an awning, and a door.
    fn shop(&self, c: &mut Canvas, dice: &mut Dice, storey: f32) {
        let (x, w, y) = (self.x, self.width, self.kerb - storey);
        let glass = if self.lit { rgb(0xffc870) } else { self.on(0x5c7c94) };
        let pane = block(x + w * 0.1, y + storey * 0.28, w * 0.52, storey * 0.56);
        c.fill(pane, Ink::fall(y, glass, self.kerb, glass.scale(0.7)));
        let door = self.on(dice.pick(&[0x6a3a2c, 0x2f5a4a, 0x34507a]));
        c.fill(block(x + w * 0.72, y + storey * 0.24, w * 0.18, storey * 0.76), door);
        let cloth = self.on(dice.pick(&[0xd8443a, 0x2f7a5a, 0x2f5fa8, 0xe8a030]));
        for stripe in 0..6 {
            let left = x + w * (0.08 + 0.093 * stripe as f32);
            let tone = if stripe % 2 == 0 { cloth } else { self.on(0xfbf4e8) };
            c.fill(block(left, y + storey * 0.1, w * 0.093, storey * 0.24), tone);
        }
    }
}
