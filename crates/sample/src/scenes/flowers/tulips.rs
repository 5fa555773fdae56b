//! Rows of tulips to the horizon.

use super::{country::draw_country, prelude::*};

struct Beds<'a> {
    horizon: f32,
    vanishing_point: Point,
    colors: &'a [(&'static str, Rgb)],
}

impl Beds<'_> {
    /// The number of the bed at a pixel; its fraction is the position across the bed.
    fn lane(&self, (x, y): Point) -> f32 {
        (x - self.vanishing_point.0) / (y - self.vanishing_point.1) * 2.6 + 40.0
    }

    fn color(&self, lane: f32) -> Rgb {
        self.colors[lane as usize % self.colors.len()].1
    }
}

pub fn draw(s: &mut Scene) {
    s.choose_time(&[TimeOfDay::Noon, TimeOfDay::Morning, TimeOfDay::Dawn, TimeOfDay::Golden]);
    let horizon = s.canvas.h * s.rng.range(0.36, 0.48);
    draw_country(s, horizon, rgb(0x6fa650));
    let mut colors = [
        ("red", rgb(0xe23a34)),
        ("yellow", rgb(0xf8cc34)),
        ("pink", rgb(0xf27aa8)),
        ("white", rgb(0xfbf4ea)),
        ("purple", rgb(0x8c4ab4)),
        ("orange", rgb(0xf4883a)),
    ];
    s.rng.shuffle(&mut colors);
    let colors = &colors[..s.rng.int(2, 4)];
    let vanishing_point = (s.canvas.w * s.rng.range(0.2, 0.8), horizon - s.canvas.unit() * 0.05);
    let beds = Beds { horizon, vanishing_point, colors };
    draw_stripes(s, &beds);
    draw_blossoms(s, &beds);
    s.labels.extend(["tulips", "field"]);
    let names: Vec<&str> = colors.iter().map(|color| color.0).collect();
    let (time, rows) = (s.time_phrase(), s.rng.pick(&["Rows of", "Long rows of", "A field of"]));
    let tulips = caption::join(&names);
    s.caption = format!("{rows} {tulips} tulips, flowers to the horizon, {time}");
}

fn draw_stripes(s: &mut Scene, beds: &Beds) {
    let (w, h, light, horizon) = (s.canvas.w, s.canvas.h, s.light, beds.horizon);
    let soil = light.tint(rgb(0x3f6a34), 0.05);
    let mean = beds.colors.iter().fold(soil, |mean, (_, color)| mean.mix(*color, 0.45));
    let mean = light.tint(mean, 0.3);
    s.canvas.map_pixels((0.0, w), (horizon + h * 0.02, h), |x, y, _| {
        let lane = beds.lane((x, y));
        let away = 1.0 - (y - horizon) / (h - horizon);
        let bed = (1.0 - (lane.fract() - 0.5).abs() * 2.0).clamp(0.0, 1.0);
        let flowers = light.tint(beds.color(lane), 0.3 * away * away).scale(0.72 + 0.36 * bed);
        let edge = ((bed - 0.28) * 9.0).clamp(0.0, 1.0);
        let stripe = soil.scale(0.6 + 0.6 * bed).mix(flowers, edge);
        // Distant beds are narrower than a pixel: use their mean color instead of stripes.
        mean.mix(stripe, smoothstep(3.0, 12.0, (y - beds.vanishing_point.1) / 2.6))
    });
}

fn draw_blossoms(s: &mut Scene, beds: &Beds) {
    const COUNT: usize = 230;
    let (w, h, unit, horizon) = (s.canvas.w, s.canvas.h, s.canvas.unit(), beds.horizon);
    for index in 0..COUNT {
        let depth = (index as f32 / COUNT as f32).powf(1.6);
        let (across, tilt) = (s.rng.range(-0.05, 1.05), s.rng.jitter(6.0));
        let point @ (x, y) = (w * across, horizon + h * 0.03 + (h * 1.02 - horizon) * depth);
        let lane = beds.lane(point);
        if (lane.fract() - 0.5).abs() > 0.34 || depth < 0.05 {
            continue;
        }
        let color = s.light.tint(beds.color(lane), 0.2 * (1.0 - depth));
        let pose = place_at(x, y, unit * (0.008 + 0.06 * depth)).pre_rotate(tilt);
        if depth > 0.75 {
            s.add_object("tulip", pose, [-0.7, -1.2, 0.7, 1.0]);
        }
        s.canvas.with_transform(pose, |c| tulip(c, color));
    }
}

fn tulip(c: &mut Canvas, color: Rgb) {
    c.stroke(curve((0.0, 0.4), (0.1, 1.2), (0.0, 2.0)), 0.16, rgb(0x4f8a3c));
    let outer = [(-0.62, -0.7), (-0.66, 0.1), (0.0, 0.62), (0.66, 0.1), (0.62, -0.7), (0.0, -0.2)];
    let fill = Fill::vertical(-1.0, color.mix(WHITE, 0.15), 0.7, color.scale(0.7));
    c.fill(closed_spline(&outer), fill);
    let fill = Fill::vertical(-1.1, color.mix(WHITE, 0.28), 0.6, color.scale(0.86));
    c.fill(leaf((0.0, 0.6), (0.0, -1.15), 0.75), fill);
}
