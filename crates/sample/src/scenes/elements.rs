//! What several scenes share: sky, sun, moon, stars, clouds and gulls.

use super::prelude::*;

impl Scene {
    /// Covers the canvas with the colors of the sky, the last one at the row `horizon`.
    pub fn fill_sky(&mut self, horizon: f32) {
        self.canvas.vertical_gradient(&self.light.sky, 0.0, horizon);
    }

    pub fn add_sun(&mut self, center: Point, radius: f32) {
        sky::sun(&mut self.canvas, &self.light, center, radius);
        self.add_circle("sun", center, radius);
    }

    /// Adds a moon; `phase` 0.0 is full, 0.7 a crescent.
    pub fn add_moon(&mut self, center: Point, radius: f32, phase: f32) {
        sky::moon(&mut self.canvas, &self.light, center, radius, phase);
        self.add_circle("moon", center, radius);
    }

    /// Adds a full moon at night, otherwise a sun, and returns its column in pixels. Position and
    /// radius are random within these fractions of the canvas.
    pub fn add_sun_or_moon(
        &mut self,
        across: (f32, f32),
        down: (f32, f32),
        radius: (f32, f32),
    ) -> f32 {
        let center = self.random_point(across, down);
        let radius = self.canvas.unit() * self.rng.range(radius.0, radius.1);
        if self.light.time == TimeOfDay::Night {
            self.add_moon(center, radius, 0.0);
        } else {
            self.add_sun(center, radius);
        }
        center.0
    }

    /// Adds water, with the reflection of a sun or moon at the column `glitter`.
    pub fn add_water(&mut self, water: Water, glitter: Option<f32>) {
        let seed = self.rng.next();
        draw_water(&mut self.canvas, seed, water);
        if let Some(x) = glitter {
            draw_glitter(&mut self.canvas, seed, water.top, x, self.light.sun, 0.8);
        }
    }

    /// Adds a layer of clouds down to the row `horizon`, with a random cover from a range.
    pub fn add_clouds(&mut self, horizon: f32, cover: (f32, f32)) {
        let (seed, cover) = (self.rng.next(), self.rng.range(cover.0, cover.1));
        sky::clouds(&mut self.canvas, &self.light, seed, horizon, cover);
    }

    /// Adds stars down to the row `bottom`; `amount` 1.0 is a clear night.
    pub fn add_stars(&mut self, bottom: f32, amount: f32) {
        sky::stars(&mut self.canvas, self.rng.fork(), bottom, amount);
    }

    /// Adds up to five gulls above the row `bottom` and returns their number.
    pub fn add_gulls(&mut self, bottom: f32) -> usize {
        let count = if self.rng.chance(0.5) { self.rng.int(1, 5) } else { 0 };
        let flock = (self.rng.range(0.15, 0.85), self.rng.range(0.25, 0.7));
        let dark = self.light.is_dark();
        let color = if dark { self.light.sky[3] } else { self.light.shade.mix(WHITE, 0.1) };
        for _ in 0..count {
            let across = flock.0 + self.rng.jitter(0.16);
            let y = bottom * (flock.1 + self.rng.jitter(0.2));
            let size = self.canvas.unit() * self.rng.range(0.025, 0.05);
            let pose = place_at(self.canvas.w * across, y, size).pre_rotate(self.rng.jitter(18.0));
            self.add_object("gull", pose, [-1.0, -0.45, 1.0, 0.25]);
            self.canvas.with_transform(pose, |c| gull(c, color));
        }
        count
    }

    pub fn add_cumulus(&mut self, bottom: f32) {
        for _ in 0..self.rng.int(2, 5) {
            let depth = self.rng.unit();
            let size = self.canvas.unit() * (0.5 - 0.3 * depth) * self.rng.range(0.8, 1.3);
            let down = bottom * (0.2 + 0.62 * depth);
            let base = (self.canvas.w * self.rng.unit(), down.max(size * 0.42));
            sky::cumulus(&mut self.canvas, &self.light, self.rng.fork(), base, size);
        }
    }
}

fn gull(c: &mut Canvas, color: Rgb) {
    c.stroke(curve((-1.0, -0.1), (-0.4, -0.6), (0.0, 0.1)), 0.13, color);
    c.stroke(curve((0.0, 0.1), (0.45, -0.65), (1.0, -0.2)), 0.13, color);
}
