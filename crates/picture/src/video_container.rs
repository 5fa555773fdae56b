//! Recognizes the containers of videos by their first bytes, and decides whether a file of any name is a picture or a
//! video. `ffmpeg` gets the name of a single container, so that no video can make it open another file, as a playlist
//! would.

use std::{fs::File, io::Read as _, path::Path};

use tessera_model::FileKind;

use crate::{ImageSequence, PictureFormat};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoContainer {
    pub content_type: &'static str,
    /// The name of the container in `ffmpeg`.
    pub demuxer: &'static str,
    /// How the pictures of an animated AVIF or HEIC are shown.
    pub sequence: Option<ImageSequence>,
}

/// The synchronization byte of the packets of an MPEG transport stream.
const SYNC: u8 = 0x47;
/// The number of packets that must start with it.
const PACKETS: usize = 4;
/// The positions of the first packet, and the lengths of packets: plain, after the times of a camcorder or a Blu-ray,
/// and with checksums.
const PACKET_LAYOUTS: [(usize, usize); 3] = [(0, 188), (4, 192), (0, 204)];

impl VideoContainer {
    /// The number of bytes from the start of a file that [`VideoContainer::detect`] needs. Most containers are
    /// recognized by the first 12 bytes.
    pub const SIGNATURE_LENGTH: usize = 1024;

    /// Returns the container of the pictures of an animated AVIF or HEIC, and `None` for a file with a single picture.
    pub fn of_sequence(file: &[u8]) -> Option<Self> {
        let sequence = ImageSequence::read(file)?;
        Some(Self { content_type: "image/avif", demuxer: "mov", sequence: Some(sequence) })
    }

    /// Detects the container from the first bytes of a file, of which at least 12 are needed.
    pub fn detect(head: &[u8]) -> Option<Self> {
        let is = |content_type, demuxer| Some(Self { content_type, demuxer, sequence: None });
        match head {
            // The samples of a picture can look like packets.
            _ if PictureFormat::detect(head).is_some() => None,
            _ if audio_format(head).is_some() => None,
            [_, _, _, _, b'f', b't', b'y', b'p', b'q', b't', ..] => is("video/quicktime", "mov"),
            [_, _, _, _, b'f', b't', b'y', b'p', ..] => is("video/mp4", "mov"),
            // Cameras and old programs write QuickTime without its brands.
            _ if is_quicktime(head) => is("video/quicktime", "mov"),
            [0x1A, 0x45, 0xDF, 0xA3, ..] => is("video/x-matroska", "matroska"),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'A', b'V', b'I', b' ', ..] => {
                is("video/x-msvideo", "avi")
            }
            [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11, ..] => is("video/x-ms-wmv", "asf"),
            [b'F', b'L', b'V', 1, ..] => is("video/x-flv", "flv"),
            [b'O', b'g', b'g', b'S', 0, ..] => is("video/ogg", "ogg"),
            // A program stream, as in MPG and VOB, and a bare stream of pictures.
            [0, 0, 1, 0xBA, ..] => is("video/mpeg", "mpeg"),
            [0, 0, 1, 0xB3, ..] => is("video/mpeg", "mpegvideo"),
            // The header of MPEG-4 Part 2.
            [0, 0, 1, 0x20 | 0xB0 | 0xB5, ..] => is("video/mp4v-es", "m4v"),
            // Bare streams begin with the parameters of H.264 or HEVC, or with a delimiter or a message before them.
            [0, 0, 0, 1, 0x06 | 0x09 | 0x27 | 0x47 | 0x67, ..]
            | [0, 0, 1, 0x06 | 0x09 | 0x27 | 0x47 | 0x67, ..] => is("video/h264", "h264"),
            [0, 0, 0, 1, 0x40 | 0x46 | 0x4E, 1, ..] | [0, 0, 1, 0x40 | 0x46 | 0x4E, 1, ..] => {
                is("video/h265", "hevc")
            }
            [0x1F, 0x07, 0x00, 0x3F | 0xBF, ..] => is("video/dv", "dv"),
            [0x06, 0x0E, 0x2B, 0x34, 0x02, 0x05, 0x01, 0x01, ..] => is("application/mxf", "mxf"),
            [b'.', b'R', b'M', b'F', ..] => is("application/vnd.rn-realmedia", "rm"),
            _ if is_transport_stream(head) => is("video/mp2t", "mpegts"),
            _ => None,
        }
    }
}

/// Whether a file begins with a box of `QuickTime` that is not a list of brands.
pub fn is_quicktime(head: &[u8]) -> bool {
    let [a, b, c, d, name @ ..] = head else { return false };
    // Size 0 means that the box extends to the end, and size 1 that its size follows.
    let has_size = !matches!(u32::from_be_bytes([*a, *b, *c, *d]), 2..8);
    let names = [b"moov", b"mdat", b"wide", b"pnot", b"free", b"skip"];
    has_size && names.iter().any(|box_name| name.starts_with(*box_name))
}

/// Whether a file begins with packets of an MPEG transport stream, the first of which may be cut off.
fn is_transport_stream(head: &[u8]) -> bool {
    let has_packets = |first: usize, length: usize| {
        (0..PACKETS).all(|number| head.get(first + number * length) == Some(&SYNC))
    };
    let (_, plain) = PACKET_LAYOUTS[0];
    PACKET_LAYOUTS.iter().any(|(first, length)| has_packets(*first, *length))
        || (1..plain).any(|first| has_packets(first, plain))
}

/// Returns what a file is that contains only sound.
pub fn audio_format(head: &[u8]) -> Option<&'static str> {
    Some(match head {
        [b'I', b'D', b'3', 2..=4, ..] | [0xFF, 0xE2..=0xE7 | 0xF2..=0xF7 | 0xFA..=0xFD, ..] => {
            "sound (MP3)"
        }
        [0xFF, 0xF0 | 0xF1 | 0xF8 | 0xF9, ..] => "sound (AAC)",
        [b'f', b'L', b'a', b'C', ..] => "sound (FLAC)",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => "sound (WAV)",
        [b'F', b'O', b'R', b'M', _, _, _, _, b'A', b'I', b'F', b'F' | b'C', ..] => "sound (AIFF)",
        [b'#', b'!', b'A', b'M', b'R', ..] => "sound (AMR)",
        [b'M', b'T', b'h', b'd', ..] => "sound (MIDI)",
        [_, _, _, _, b'f', b't', b'y', b'p', b'M', b'4', b'A' | b'B', ..] => "sound (M4A)",
        _ if has_only_sound(head) => "sound (Ogg)",
        _ => return None,
    })
}

/// Whether a file is Ogg whose streams are all sound. Each stream begins with a page of its own that names its codec,
/// and these pages come first (RFC 3533, section 6). A folder may contain thousands of such files, and `ffprobe` takes
/// a tenth of a second for each.
fn has_only_sound(head: &[u8]) -> bool {
    const SOUNDS: [&[u8]; 5] = [b"\x01vorbis", b"OpusHead", b"\x7FFLAC", b"Speex   ", b"fLaC"];
    /// The stream of a file that describes the other streams.
    const SKELETON: &[u8] = b"fishead\0";
    /// The bytes of a page before the sizes of its segments, whose number is the last of these bytes.
    const HEADER: usize = 27;
    let (mut rest, mut sounds) = (head, 0);
    while let Some((header, body)) = rest.split_at_checked(HEADER)
        && header.starts_with(b"OggS\0")
    {
        let is_first_of_stream = header[5] & 2 != 0;
        if !is_first_of_stream {
            return sounds > 0;
        }
        let Some((sizes, packets)) = body.split_at_checked(usize::from(header[HEADER - 1])) else {
            return false;
        };
        let size = sizes.iter().map(|size| usize::from(*size)).sum();
        if SOUNDS.iter().any(|sound| packets.starts_with(sound)) {
            sounds += 1;
        } else if !packets.starts_with(SKELETON) {
            return false;
        }
        rest = packets.get(size..).unwrap_or_default();
    }
    false
}

/// Returns the kind of a picture or video by the first bytes of its file. [`VideoContainer::SIGNATURE_LENGTH`] of them
/// are enough.
pub fn media_kind(head: &[u8]) -> Option<FileKind> {
    let video = VideoContainer::detect(head).map(|_| FileKind::Video);
    video.or_else(|| PictureFormat::detect(head).map(|_| FileKind::Picture))
}

/// Returns the kind of a file on this machine. The content decides if the name says nothing.
pub fn file_kind(path: &Path) -> FileKind {
    let by_name = FileKind::from_name(&path.to_string_lossy());
    // Reading a pipe would never end.
    if by_name != FileKind::Other || !path.is_file() {
        return by_name;
    }
    let mut head = Vec::new();
    let limit = VideoContainer::SIGNATURE_LENGTH as u64;
    let read = File::open(path).and_then(|file| file.take(limit).read_to_end(&mut head));
    read.ok().and_then(|_| media_kind(&head)).unwrap_or(by_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of Ogg with a packet.
    fn page(is_first: bool, packet: &[u8]) -> Vec<u8> {
        let kind = if is_first { 2 } else { 0 };
        let size = u8::try_from(packet.len()).unwrap();
        [b"OggS\0", &[kind][..], &[0; 20], &[1, size], packet].concat()
    }

    #[test]
    fn sound_without_a_video_is_recognized_without_a_program() {
        let vorbis = page(true, b"\x01vorbis and its numbers");
        let theora = page(true, b"\x80theora and its numbers");
        let skeleton = page(true, b"fishead\0");
        let comments = page(false, b"\x03vorbis");
        let ogg = |pages: &[&Vec<u8>]| {
            let head: Vec<u8> = pages.iter().copied().flatten().copied().collect();
            (audio_format(&head), VideoContainer::detect(&head).map(|found| found.demuxer))
        };
        let (sound, video) = ((Some("sound (Ogg)"), None), (None, Some("ogg")));
        assert_eq!(ogg(&[&vorbis, &comments]), sound);
        assert_eq!(ogg(&[&skeleton, &page(true, b"OpusHead"), &vorbis, &comments]), sound);
        assert_eq!(ogg(&[&theora, &vorbis, &comments]), video);
        assert_eq!(ogg(&[&vorbis, &theora, &comments]), video);
        assert_eq!(ogg(&[&skeleton, &comments]), video, "ffprobe decides");
        assert_eq!(ogg(&[&vorbis]), video, "further streams may follow");
        let m4a = b"\0\0\0\x20ftypM4A \0\0\0\0M4A mp42";
        assert_eq!((audio_format(m4a), VideoContainer::detect(m4a)), (Some("sound (M4A)"), None));
        assert!(VideoContainer::detect(b"\0\0\0\x20ftypM4V \0\0\0\0M4V ").is_some());
    }
}
