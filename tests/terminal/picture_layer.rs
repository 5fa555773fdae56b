//! Tests the picture layer frame by frame: the cells, and the bytes that are written around them.

use std::collections::BTreeSet;

use ratatui::{
    buffer::{Buffer, CellDiffOption},
    layout::Rect,
    style::Color,
};
use tessera_interface::drawing::picture_layer::{
    ColorDepth, GraphicsSettings, PictureKey, PictureLayer, TerminalWrites, delete_all_pictures,
};
use tessera_model::MediaId;
use tessera_picture::{Canvas, Encoded, Protocol, Thumbnail};
use uuid::Uuid;

const SCREEN: Rect = Rect::new(0, 0, 40, 12);
const TILE: Rect = Rect::new(2, 1, 6, 3);
const CANVAS: Canvas = Canvas { columns: 6, rows: 3, cell: (10, 20), protocol: Protocol::Kitty };

fn layer(in_tmux: bool) -> PictureLayer {
    PictureLayer::new(GraphicsSettings { in_tmux, color_depth: ColorDepth::TrueColor })
}

fn key(number: u128) -> PictureKey {
    (MediaId(Uuid::from_u128(number)).into(), CANVAS)
}

fn thumbnail(encoded: Encoded) -> Thumbnail {
    Thumbnail { cells: (4, 2), original: (40, 40), encoded, differing_pixels: None }
}

fn kitty_thumbnail(size: (u32, u32), payload: usize) -> Thumbnail {
    thumbnail(Encoded::Kitty { payload: "A".repeat(payload).into(), size })
}

fn sixel_thumbnail() -> Thumbnail {
    thumbnail(Encoded::Sequence("\x1bP0;1;0q#1~\x1b\\".into()))
}

/// Returns the graphics commands of a stream, each with its keys and the length of its payload.
fn commands(stream: &str) -> Vec<(String, usize)> {
    let mut commands = Vec::new();
    let mut rest = stream;
    while let Some(body) = rest.strip_prefix("\x1b_G") {
        let (command, after) = body.split_once("\x1b\\").expect("a terminated command");
        let (keys, payload) = command.split_once(';').unwrap_or((command, ""));
        commands.push((keys.to_owned(), payload.len()));
        rest = after;
    }
    assert_eq!(rest, "", "nothing but commands");
    commands
}

/// Returns the id among the keys of a command.
fn id(keys: &str) -> Option<&str> {
    keys.split(',').find_map(|key| key.strip_prefix("i="))
}

#[test]
fn half_blocks_are_ordinary_cells() {
    let mut buffer = Buffer::empty(SCREEN);
    let mut pixels = vec![[9, 8, 7]; 16];
    pixels[0] = [200, 0, 0];
    let picture = thumbnail(Encoded::Pixels(pixels.into()));
    let mut layer = layer(false);
    layer.begin_frame(&[TILE]);
    let covered = layer.place(&mut buffer, TILE, key(1), &picture);
    assert_eq!(covered, Some(Rect::new(3, 1, 4, 2)));
    assert_eq!(layer.end_frame(&mut buffer), TerminalWrites::default());
    let first = &buffer[(3, 1)];
    assert_eq!(first.symbol(), "▀");
    assert_eq!((first.fg, first.bg), (Color::Rgb(200, 0, 0), Color::Rgb(9, 8, 7)));
    assert_eq!((buffer[(4, 1)].symbol(), buffer[(4, 1)].bg), (" ", Color::Rgb(9, 8, 7)));
    assert_eq!(buffer[(7, 1)], Buffer::empty(SCREEN)[(7, 1)]);
}

#[test]
fn a_picture_that_does_not_fit_is_not_drawn() {
    let mut buffer = Buffer::empty(SCREEN);
    let mut layer = layer(false);
    layer.begin_frame(&[]);
    for area in [Rect::new(0, 0, 3, 2), Rect::new(37, 0, 6, 3), Rect::new(0, 0, 0, 0)] {
        assert_eq!(layer.place(&mut buffer, area, key(1), &kitty_thumbnail((8, 8), 256)), None);
    }
    assert_eq!(buffer, Buffer::empty(SCREEN));
}

#[test]
fn a_kitty_picture_is_sent_once_in_small_chunks() {
    let mut layer = layer(false);
    let picture = kitty_thumbnail((50, 50), 10_000);
    for frame in 0..3 {
        let mut buffer = Buffer::empty(SCREEN);
        layer.begin_frame(&[]);
        layer.place(&mut buffer, TILE, key(1), &picture).expect("placed");
        let writes = layer.end_frame(&mut buffer);
        assert_eq!(writes.after, "");
        let sent = commands(&writes.before);
        if frame > 0 {
            assert!(sent.is_empty());
            continue;
        }
        assert_eq!(sent.iter().map(|(_, payload)| payload).sum::<usize>(), 10_000);
        assert!(sent.iter().all(|(keys, payload)| keys.contains("q=2") && *payload <= 4096));
        assert!(sent[0].0.starts_with("a=T,U=1,i="));
        assert!(sent[0].0.contains("s=50,v=50,c=4,r=2,"));
        let more: Vec<bool> = sent.iter().map(|(keys, _)| keys.ends_with("m=1")).collect();
        assert_eq!(more, [true, true, false]);
        // The cell is in row 1 of the picture, and its color is the picture's id.
        let cell = &buffer[(3, 2)];
        assert_eq!(cell.symbol(), "\u{10EEEE}\u{30D}\u{305}");
        let Color::Rgb(red, green, blue) = cell.fg else { panic!("not a color") };
        let number = u32::from_be_bytes([0, red, green, blue]);
        assert_eq!(id(&sent[0].0), Some(number.to_string().as_str()));
    }
}

/// Returns the cells of rows 1 and 2 after a frame with a kitty picture in `TILE` and text over it.
fn kitty_rows(in_tmux: bool, (x, y): (u16, u16), text: &str) -> [String; 2] {
    let mut layer = layer(in_tmux);
    let mut buffer = Buffer::empty(SCREEN);
    layer.begin_frame(&[]);
    layer.place(&mut buffer, TILE, key(1), &kitty_thumbnail((8, 8), 256)).expect("placed");
    buffer.set_string(x, y, text, ratatui::style::Style::new().fg(Color::White));
    layer.end_frame(&mut buffer);
    [1, 2].map(|y| (3..7).map(|x| buffer[(x, y)].symbol().replace('\u{10EEEE}', "#")).collect())
}

#[test]
fn kitty_cells_continue_their_left_neighbor_of_the_same_picture() {
    let rows = |x, text| kitty_rows(false, (x, 1), text);
    let below = "#\u{30D}\u{305}###";
    assert_eq!(rows(0, ""), ["#\u{305}\u{305}###", below]);
    assert_eq!(rows(3, "a"), ["a#\u{305}\u{30D}##", below]);
    assert_eq!(rows(4, "ab"), ["#\u{305}\u{305}ab#\u{305}\u{310}", below]);
    // The right half of a wide character does not belong to the picture.
    assert_eq!(rows(2, "値"), [" #\u{305}\u{30D}##", below]);
    assert_eq!(rows(6, "a"), ["#\u{305}\u{305}##a", below]);
}

#[test]
fn kitty_cells_inside_tmux_all_have_their_position() {
    let row = |y| ["\u{305}", "\u{30D}", "\u{30E}", "\u{310}"].map(|x| format!("#{y}{x}")).concat();
    assert_eq!(kitty_rows(true, (0, 0), ""), [row("\u{305}"), row("\u{30D}")]);
}

#[test]
fn no_picture_is_left_in_the_terminal() {
    let mut layer = layer(false);
    let mut sent = BTreeSet::new();
    let mut deleted = BTreeSet::new();
    let mut note = |stream: &str| {
        for (keys, _) in commands(stream) {
            if let Some(id) = id(&keys) {
                if keys.starts_with("a=d,d=I,") {
                    assert!(sent.remove(id) && deleted.insert(id.to_owned()));
                } else {
                    sent.insert(id.to_owned());
                    deleted.remove(id);
                }
            }
        }
        sent.len()
    };
    // Each picture has 4 MB, which is far more in total than a terminal keeps.
    let picture = kitty_thumbnail((1000, 1000), 4);
    for number in 0..200 {
        let mut buffer = Buffer::empty(SCREEN);
        layer.begin_frame(&[]);
        layer.place(&mut buffer, TILE, key(number), &picture).expect("placed");
        layer.place(&mut buffer, Rect::new(20, 1, 6, 3), key(1000), &picture).expect("placed");
        let held = note(&layer.end_frame(&mut buffer).before);
        assert!(held <= 34, "{held} pictures held");
    }
    layer.begin_frame(&[]);
    let mut buffer = Buffer::empty(SCREEN);
    layer.place(&mut buffer, TILE, key(1000), &picture).expect("placed");
    assert_eq!(layer.end_frame(&mut buffer).before, "", "what is shown stays");
    assert_eq!(note(&layer.forget_all()), 0);
}

#[test]
fn every_possible_id_is_deleted_blindly() {
    let mut layer = layer(false);
    let mut buffer = Buffer::empty(SCREEN);
    layer.begin_frame(&[]);
    layer.place(&mut buffer, TILE, key(1), &kitty_thumbnail((8, 8), 256)).expect("placed");
    let sent = commands(&layer.end_frame(&mut buffer).before);
    let blind = delete_all_pictures(false);
    assert!(commands(&blind).iter().any(|(keys, _)| id(keys) == id(&sent[0].0)));
}

#[test]
fn inside_tmux_every_command_is_wrapped() {
    let streams = [false, true].map(|in_tmux| {
        let mut layer = layer(in_tmux);
        let mut buffer = Buffer::empty(SCREEN);
        layer.begin_frame(&[]);
        layer.place(&mut buffer, TILE, key(1), &kitty_thumbnail((50, 50), 10_000)).expect("placed");
        layer.end_frame(&mut buffer).before + &layer.forget_all()
    });
    let unwrapped = streams[1]
        .split_inclusive("\x1b\x1b\\\x1b\\")
        .map(|wrapped| {
            let body = wrapped.strip_prefix("\x1bPtmux;").expect("wrapped");
            body.strip_suffix("\x1b\\").expect("ended").replace("\x1b\x1b", "\x1b")
        })
        .collect::<String>();
    assert_eq!(unwrapped, streams[0]);
}

/// Draws one frame with a sixel in `TILE`, or with text if it cannot be placed. Returns what is
/// written after the cells.
fn draw_sixel(layer: &mut PictureLayer, buffer: &mut Buffer, overlays: &[Rect]) -> String {
    buffer.reset();
    layer.begin_frame(overlays);
    if layer.place(buffer, TILE, key(1), &sixel_thumbnail()).is_none() {
        buffer.set_string(3, 1, "text", ratatui::style::Style::new());
    }
    layer.end_frame(buffer).after
}

#[test]
fn a_sixel_is_sent_once_and_wiped_by_text() {
    let mut layer = layer(false);
    let [mut first, mut second] = [Buffer::empty(SCREEN), Buffer::empty(SCREEN)];
    let sent = draw_sixel(&mut layer, &mut first, &[]);
    // Rows 2 and 3 are cleared from column 4, then the picture is drawn, and the cursor returns.
    assert_eq!(
        sent,
        "\x1b7\x1b[0m\x1b[2;4H\x1b[4X\x1b[3;4H\x1b[4X\x1b[2;4H\x1bP0;1;0q#1~\x1b\\\x1b8"
    );
    assert_eq!(first[(3, 1)].diff_option, CellDiffOption::Skip);
    assert_eq!(first[(2, 1)].diff_option, CellDiffOption::None);
    assert_eq!(draw_sixel(&mut layer, &mut second, &[]), "");
    assert!(first.diff(&second).is_empty());
    // An overlay covers a corner. Only its cell is written, and the rest of the picture stays on the screen.
    assert_eq!(draw_sixel(&mut layer, &mut second, &[Rect::new(6, 2, 9, 9)]), "");
    assert_eq!(first.diff(&second).iter().map(|(x, y, _)| (*x, *y)).collect::<Vec<_>>(), [(6, 2)]);
    // When the overlay moves, the picture is drawn again without what is covered now.
    assert_eq!(
        draw_sixel(&mut layer, &mut second, &[Rect::new(3, 1, 1, 1)]),
        "\x1b7\x1b[0m\x1b[2;5H\x1b[3X\x1b[3;4H\x1b[4X\x1b[2;4H\x1bP0;1;0q#1?\x1b\\\x1b8"
    );
    assert_ne!(draw_sixel(&mut layer, &mut first, &[]), "");
    layer.forget_all();
    assert_ne!(draw_sixel(&mut layer, &mut first, &[]), "");
}

#[test]
fn inside_tmux_a_covered_sixel_is_not_drawn() {
    let mut layer = layer(true);
    let mut buffer = Buffer::empty(SCREEN);
    assert_ne!(draw_sixel(&mut layer, &mut buffer, &[]), "");
    assert_eq!(draw_sixel(&mut layer, &mut buffer, &[Rect::new(6, 2, 9, 9)]), "");
    assert_eq!(buffer[(3, 1)].symbol(), "t");
}

#[test]
fn a_sixel_never_touches_the_last_row() {
    let mut layer = layer(false);
    let mut buffer = Buffer::empty(SCREEN);
    layer.begin_frame(&[]);
    let bottom = Rect::new(0, 10, 4, 2);
    assert_eq!(layer.place(&mut buffer, bottom, key(1), &sixel_thumbnail()), None);
    let above = Rect::new(0, 9, 4, 2);
    assert!(layer.place(&mut buffer, above, key(1), &sixel_thumbnail()).is_some());
}
