//! Flowers: blossoms in close-up, a meadow, or rows of tulips.

use std::f32::consts::TAU;

use super::prelude::*;

pub fn draw(s: &mut Scene) {
    s.variant(&[draw_close_up, draw_meadow, draw_tulips])(s);
}

/// A name for captions, and the colors of petals, inner petals and center.
type FlowerColors = (&'static str, [u32; 3]);

/// Draws the sky and distant hills above the flowers.
fn draw_country(s: &mut Scene, horizon: f32, green: Rgb) {
    s.fill_sky(horizon);
    s.add_cumulus(horizon * 0.8);
    let h = s.canvas.h;
    for step in 0..2 {
        let base = horizon / h + 0.02 * step as f32;
        let line = Terrain::rolling_hills(&s.canvas, s.rng.next(), base, 0.1, 1.8);
        let color = s.light.tint(green.mix(rgb(0x2f6a50), 0.4), 0.55 - 0.3 * step as f32);
        line.fill_gradient(&mut s.canvas, color, color.mix(s.light.haze, 0.3), h * 0.1);
    }
}

const BLOSSOMS: &[FlowerColors] = &[
    ("sunflower", [0xfcc81e, 0xe88a10, 0x4a2a16]),
    ("daisy", [0xffffff, 0xc8d4ea, 0xf8c02a]),
    ("pink gerbera", [0xf5619a, 0xb82a6a, 0x6a1f3a]),
    ("red dahlia", [0xe0383a, 0x8c1420, 0xf2b03a]),
    ("violet aster", [0x9a6ae0, 0x5a34a4, 0xf6c63a]),
    ("orange marigold", [0xff9324, 0xd4520f, 0x8c3a10]),
];

/// Draws one to three blossoms in close-up before a blurred garden.
fn draw_close_up(s: &mut Scene) {
    s.choose_time(&[TimeOfDay::Morning, TimeOfDay::Golden, TimeOfDay::Noon]);
    let (name, hex) = s.rng.pick(BLOSSOMS);
    draw_background(s, rgb(hex[0]));
    let count = s.rng.pick(&[1, 1, 2, 3, 3]);
    for index in 0..count {
        let across = (((index * 2) % count) as f32 + s.rng.range(0.38, 0.62)) / count as f32;
        let size = s.canvas.unit() * s.rng.range(0.28, 0.36) * [1.0, 0.72, 0.56][count - 1];
        let center = s.random_point(across..across, 0.34..0.56);
        draw_stem(s, center, size);
        s.add_circle("flower", center, size * 1.02);
        let colors = hex.map(|c| s.light.tint(rgb(c), 0.0));
        let pose = place_at(center.0, center.1, size).pre_rotate(s.rng.jitter(20.0));
        let rng = s.rng.fork();
        s.canvas.with_transform(pose, |c| blossom(c, rng, colors, name));
    }
    s.labels.extend([name, "close-up"]);
    let time = s.time_phrase();
    let background =
        s.rng.pick(&["before a soft blurred garden", "close up", "with lights dancing behind"]);
    let bloom = s.rng.pick(&["a single flower", "a flower in full bloom"]);
    let flowers = match (count, name) {
        (1, _) => format!("{} {name}, {bloom}", article(name)),
        (n, "daisy") => format!("{} daisies, white flowers", number_word(n, "a")),
        (n, _) => format!("{} {name}s, flowers", number_word(n, "a")),
    };
    s.caption = capitalize(&format!("{flowers} {background} {time}"));
}

fn draw_stem(s: &mut Scene, center: Point, size: f32) {
    let green = s.light.tint(rgb(0x4a8a3a), 0.0);
    let (bright, dark) = (green.mix(WHITE, 0.2), green.scale(0.65));
    let bend = s.rng.jitter(s.canvas.unit() * 0.12);
    let foot = (center.0 + bend * 1.4, s.canvas.h * 1.05);
    let line = curve(center, (center.0 - bend, center.1.midpoint(foot.1)), foot);
    let half = size * 0.05;
    let fill = Fill::Linear((center.0 - half, 0.0), bright, (center.0 + half, 0.0), dark);
    s.canvas.stroke(line, size * 0.11, fill);
    let side = s.rng.pick(&[-1.0, 1.0]);
    let base = (center.0 + bend * 0.25, center.1 + (foot.1 - center.1) * 0.62);
    let tip = (base.0 + side * size * 0.9, base.1 - size * 0.5);
    s.canvas.fill(leaf(base, tip, size * 0.4), Fill::vertical(tip.1, bright, base.1, dark));
}

fn draw_background(s: &mut Scene, blossom: Rgb) {
    let base = rgb(s.rng.pick(&[0x4a8a4c, 0x2f7a6a, 0x7a9a3c, 0x2a5f7a, 0x7a4a6c]));
    let top = s.light.tint(base.mix(WHITE, 0.3), 0.35);
    let low = s.light.tint(base.scale(0.5), 0.0);
    let (h, unit) = (s.canvas.h, s.canvas.unit());
    s.canvas.vertical_gradient(&[top, top.mix(low, 0.4), low], h);
    let glow = s.random_point(0.1..0.9, 0.0..0.3);
    s.canvas.glow(glow, unit * 0.9, s.light.sun, 0.55);
    let (mut rng, light) = (s.rng.fork(), s.light);
    let tints = [light.sun, blossom.mix(light.sun, 0.4), base.mix(WHITE, 0.5), light.haze];
    for _ in 0..26 {
        let (x, y) = (rng.unit() * s.canvas.w, rng.unit() * h);
        let r = unit * rng.range(0.03, 0.11);
        s.canvas.fill(circle(x, y, r), Fill::Alpha(rng.pick(&tints), rng.range(0.06, 0.24)));
    }
}

/// Draws a blossom seen from the front, with a radius of 1.
fn blossom(c: &mut Canvas, mut rng: Rng, [petal, deep, heart]: [Rgb; 3], name: &str) {
    let rings: &[(usize, f32)] = match name {
        "daisy" | "violet aster" => &[(21, 1.0), (21, 0.94)],
        "red dahlia" | "orange marigold" => {
            &[(18, 1.0), (16, 0.86), (14, 0.7), (12, 0.54), (9, 0.4)]
        }
        _ => &[(17, 1.0), (17, 0.92), (13, 0.74)],
    };
    for (ring, &(count, reach)) in rings.iter().enumerate() {
        for index in 0..count {
            let angle = (index as f32 + ring as f32 * 0.5) / count as f32 * TAU;
            let length = reach * rng.range(0.93, 1.03);
            let tip = (angle.cos() * length, angle.sin() * length);
            let light = 0.5 - 0.5 * (angle - 0.8).sin();
            let outer =
                petal.mix(WHITE, 0.12 * light).scale(0.82 + 0.06 * ring as f32 + 0.16 * light);
            let width = reach * 4.4 / count as f32;
            let fill = Fill::Radial((0.0, 0.0), length, deep.scale(0.9), outer);
            c.fill(leaf((0.0, 0.0), tip, width), fill);
        }
    }
    let middle = if rings.len() > 3 { 0.16 } else { 0.34 };
    let (bright, dark) = (heart.mix(WHITE, 0.18), heart.scale(0.6));
    let fill = Fill::Radial((-0.08, -0.1), middle * 1.2, bright, dark);
    c.fill(circle(0.0, 0.0, middle), fill);
    for index in 0..70 {
        let (angle, far) = (index as f32 * 2.4, (index as f32 / 70.0).sqrt() * middle * 0.92);
        let dot = heart.mix(rgb(0xffd070), rng.range(0.0, 0.5));
        c.fill(circle(angle.cos() * far, angle.sin() * far, middle * 0.055), Fill::Alpha(dot, 0.8));
    }
}

const WILDFLOWERS: [FlowerColors; 5] = [
    ("poppies", [0xe8392c, 0xb01f20, 0x1f1a1c]),
    ("daisies", [0xffffff, 0xdfe6f0, 0xf6c02c]),
    ("cornflowers", [0x4a6ee8, 0x2f44b0, 0x24246a]),
    ("cosmos flowers", [0xf27ab4, 0xc84a90, 0xf6d04c]),
    ("buttercups", [0xffd83c, 0xe8a820, 0xd88a1c]),
];

const WILDFLOWER_COUNT: usize = 300;

/// Draws a meadow of wildflowers.
fn draw_meadow(s: &mut Scene) {
    s.choose_time(&[TimeOfDay::Noon, TimeOfDay::Morning, TimeOfDay::Golden]);
    let horizon = s.canvas.h * s.rng.range(0.34, 0.5);
    let green = rgb(s.rng.pick(&[0x6fae45, 0x84b848, 0x589c4c]));
    draw_country(s, horizon, green);
    let (h, w, unit) = (s.canvas.h, s.canvas.w, s.canvas.unit());
    let field = Terrain::rolling_hills(&s.canvas, s.rng.next(), horizon / h + 0.05, 0.04, 1.1);
    let (far, near) = (s.light.tint(green, 0.22), s.light.tint(green.scale(0.55), 0.0));
    field.fill_gradient(&mut s.canvas, far, near, h * 0.5);
    let mut kinds = WILDFLOWERS;
    s.rng.shuffle(&mut kinds);
    let count = s.rng.int(1, 3);
    for index in 0..WILDFLOWER_COUNT {
        let depth = (index as f32 / WILDFLOWER_COUNT as f32).powf(1.7);
        let (kind, across, rng) = (s.rng.int(0, count - 1), s.rng.unit(), s.rng.fork());
        let (x, y) = (w * across, field.y_at(across) + h * (0.01 + (0.98 - horizon / h) * depth));
        let size = unit * (0.006 + 0.05 * depth);
        let petals = kinds[kind].1.map(|c| s.light.tint(rgb(c), 0.25 * (1.0 - depth)));
        let pose = place_at(x, y, size);
        if depth > 0.8 {
            s.add_object("flower", pose, [-1.0, -1.0, 1.0, 1.0]);
        }
        s.canvas.with_transform(pose, |c| wildflower(c, rng, petals, near, depth > 0.12));
    }
    s.labels.extend(["meadow", kinds[0].0]);
    let names: Vec<&str> = kinds[..count].iter().map(|kind| kind.0).collect();
    let time = s.time_phrase();
    let place =
        s.rng.pick(&["A meadow of flowers", "Wild flowers in a meadow", "A field full of flowers"]);
    s.caption = format!("{place}, {}, {time}", join_words(&names));
}

/// Draws a flower seen from the side, whose head is about 2 wide. Without `detailed`, the flower is only a dot of
/// color.
fn wildflower(c: &mut Canvas, mut rng: Rng, colors: [Rgb; 3], stem: Rgb, detailed: bool) {
    let [petal, deep, heart] = colors;
    if !detailed {
        c.fill(circle(0.0, 0.0, 1.0), petal);
        return;
    }
    let lean = rng.jitter(0.5);
    let line = curve((0.0, 0.0), (lean, 1.6), (lean * 0.5, 3.4));
    c.stroke(line, 0.16, stem.mix(rgb(0x7ab04a), 0.35));
    let turn = rng.range(0.0, TAU);
    for index in 0..6 {
        let angle = turn + index as f32 / 6.0 * TAU;
        let tip = (angle.cos() * 1.0, angle.sin() * 0.72);
        let color = if index % 2 == 0 { petal } else { petal.mix(deep, 0.35) };
        c.fill(leaf((0.0, 0.0), tip, 0.85), color);
    }
    c.fill(ellipse(0.0, 0.0, 0.3, 0.24), heart);
}

struct Beds<'a> {
    horizon: f32,
    vanishing_point: Point,
    colors: &'a [(&'static str, Rgb)],
}

impl Beds<'_> {
    /// Returns the number of the bed at a pixel. The fraction of the number is the position across the bed.
    fn lane(&self, (x, y): Point) -> f32 {
        (x - self.vanishing_point.0) / (y - self.vanishing_point.1) * 2.6 + 40.0
    }

    fn color(&self, lane: f32) -> Rgb {
        self.colors[lane as usize % self.colors.len()].1
    }
}

/// Draws rows of tulips up to the horizon.
fn draw_tulips(s: &mut Scene) {
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
    draw_tulip_beds(s, &beds);
    draw_tulip_blossoms(s, &beds);
    s.labels.extend(["tulips", "field"]);
    let names: Vec<&str> = colors.iter().map(|color| color.0).collect();
    let (time, rows) = (s.time_phrase(), s.rng.pick(&["Rows of", "Long rows of", "A field of"]));
    let tulips = join_words(&names);
    s.caption = format!("{rows} {tulips} tulips, flowers to the horizon, {time}");
}

fn draw_tulip_beds(s: &mut Scene, beds: &Beds) {
    let (w, h, light, horizon) = (s.canvas.w, s.canvas.h, s.light, beds.horizon);
    let soil = light.tint(rgb(0x3f6a34), 0.05);
    let mean = beds.colors.iter().fold(soil, |mean, (_, color)| mean.mix(*color, 0.45));
    let mean = light.tint(mean, 0.3);
    s.canvas.map_pixels(0.0..w, horizon + h * 0.02..h, |x, y, _| {
        let lane = beds.lane((x, y));
        let away = 1.0 - (y - horizon) / (h - horizon);
        let bed = (1.0 - (lane.fract() - 0.5).abs() * 2.0).clamp(0.0, 1.0);
        let flowers = light.tint(beds.color(lane), 0.3 * away * away).scale(0.72 + 0.36 * bed);
        let edge = ((bed - 0.28) * 9.0).clamp(0.0, 1.0);
        let stripe = soil.scale(0.6 + 0.6 * bed).mix(flowers, edge);
        // Distant beds are narrower than a pixel, so their mean color replaces the stripes.
        mean.mix(stripe, smoothstep(3.0, 12.0, (y - beds.vanishing_point.1) / 2.6))
    });
}

fn draw_tulip_blossoms(s: &mut Scene, beds: &Beds) {
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
