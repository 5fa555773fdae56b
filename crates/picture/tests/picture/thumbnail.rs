//! Thumbnails for every protocol.

use tessera_picture::{Canvas, Crop, Encoded, Protocol, decode, thumbnail};

fn png(width: u32, height: u32) -> Vec<u8> {
    let picture = image::RgbImage::from_fn(width, height, |x, y| {
        let shade = |at: u32, side: u32| (at * 255 / side).to_le_bytes()[0];
        image::Rgb([shade(x, width), shade(y, height), 90])
    });
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png).expect("encoded");
    bytes.into_inner()
}

fn canvas(protocol: Protocol) -> Canvas {
    Canvas { columns: 16, rows: 6, cell: (9, 18), protocol }
}

#[test]
fn every_protocol_gets_what_its_cells_need() {
    let bytes = png(300, 200);
    for protocol in [Protocol::HalfBlock, Protocol::Kitty, Protocol::Sixel, Protocol::Iterm] {
        let thumbnail = thumbnail(&bytes, &Crop::Full, canvas(protocol)).expect("a thumbnail");
        assert_eq!((thumbnail.cells, thumbnail.original), ((16, 5), (300, 200)));
        match thumbnail.encoded {
            Encoded::Pixels(pixels) => assert_eq!(pixels.len(), 16 * 5 * 2),
            Encoded::Kitty { payload, size } => {
                assert_eq!(size, (16 * 9, 5 * 18));
                assert_eq!(payload.len(), 16 * 9 * 5 * 18 * 4);
            }
            Encoded::Sequence(sequence) => {
                let start = if protocol == Protocol::Sixel { "\x1bP" } else { "\x1b]1337;" };
                assert!(sequence.starts_with(start), "{protocol:?}");
            }
        }
    }
}

#[test]
fn an_inline_picture_is_a_jpeg_of_the_stated_length() {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let thumbnail =
        thumbnail(&png(300, 200), &Crop::Full, canvas(Protocol::Iterm)).expect("a thumbnail");
    let Encoded::Sequence(sequence) = thumbnail.encoded else {
        panic!("not a sequence");
    };
    let body = sequence.strip_prefix("\x1b]1337;File=").and_then(|s| s.strip_suffix('\x07'));
    let (words, payload) = body.and_then(|body| body.split_once(':')).expect("words : payload");
    let jpeg = STANDARD.decode(payload).expect("base64");
    assert!(words.contains(&format!("size={};width=16;height=5;", jpeg.len())));
    let decoded = decode::decode(&jpeg, 1000).expect("a JPEG");
    assert_eq!(decoded.original, (144, 90));
}
