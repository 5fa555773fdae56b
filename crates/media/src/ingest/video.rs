//! Samples videos and animations into frames. Videos are decoded by `ffmpeg`, if it is installed. Animations need no
//! other program, except those in AVIF and HEIC. `ffprobe`, which belongs to `ffmpeg`, lists the streams of a video.
//! One stream is shown, chosen as players choose it.

use std::{
    cmp::Reverse,
    io::{BufRead, Read},
    path::Path,
    time::Duration,
};

use super::video_program::{VideoError, VideoInput, VideoProgram};
use image::{RgbImage, metadata::Orientation};
use serde::Deserialize;
use tessera_files::read_at_most;
use tessera_picture::{
    ImageSequence, VideoContainer, VisiblePart, coded_jpeg_to_srgb, encode_jpeg, gray_square,
    visit_frames,
};

const SAMPLING_TIMEOUT: Duration = Duration::from_mins(5);
/// Size above which only the key frames of a video are decoded, because decoding all frames of a film takes many
/// minutes.
const MAX_FULLY_DECODED: u64 = 64 << 20;
/// The pixels of the largest frame that the levels of H.264, HEVC and AV1 allow: 8192x4352.
const MAX_FRAME_PIXELS: u64 = 8192 * 4352;
/// Maximum number of frames that are kept of a video or animation.
const MAX_FRAMES: usize = 100;
/// Maximum sizes, in bytes, of an encoded frame, of a header line, and of the times of all frames.
const MAX_FRAME_BYTES: u64 = 16 << 20;
const MAX_HEADER_BYTES: u64 = 1 << 10;
const MAX_TIME_BYTES: u64 = 16 << 20;

/// Selects the first frame. A further frame is selected at a scene change at least two seconds after the last selected
/// frame, or after five seconds without one. The second filter prints the times of the frames, each
/// at once, so that no warning is written into the middle of one.
const SELECTION: &str = "select='isnan(prev_selected_t)+gte(t-prev_selected_t,2)\
     *(gt(scene,0.3)+gte(t-prev_selected_t,5))',metadata=print:file=/dev/fd/2:direct=1";
/// What `ffmpeg` warns of at the end of a video that is cut off: a packet, and a file of Matroska.
const CUT_OFF_WARNINGS: [&str; 2] = ["corrupt input packet", "File ended prematurely"];
/// Makes pixels square, as players show them, within the sides that codecs allow.
const SQUARE_PIXELS: &str = "scale='clip(iw*sar,2,16384)':ih,setsar=1,";
/// Blends transparent parts with medium gray, like those of pictures.
const BLENDING: &str = "format=rgba,split[front],lutrgb=r=128:g=128:b=128:a=255[back];[back][front]overlay=format=rgb,";
/// Limits the size of the frames, and converts their colors to those of JPEG. Without the new clock, `ffmpeg` would
/// repeat frames to fill the gaps.
const FITTING: &str = "scale='min(1280,iw)':'min(1280,ih)':force_original_aspect_ratio=decrease\
     :out_color_matrix=bt601:out_range=full,format=yuvj420p,settb=1/25,setpts=N";
/// States the colors of high definition. Without it, `ffmpeg` takes those of older video.
const HIGH_DEFINITION: &str = "setparams=colorspace=bt709,";
/// The width and the height above which players take a video that states no colors for one of high definition.
const MAX_STANDARD_DEFINITION: (u64, u64) = (1279, 576);

/// The reason why a video is skipped without `ffmpeg`. Such a video is tried again once `ffmpeg` is installed.
pub const FFMPEG_MISSING: &str = "a video: install ffmpeg and ffprobe to show its frames";

/// A frame as JPEG, with its time in the video.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoFrame {
    pub seconds: f64,
    pub jpeg: Vec<u8>,
}

/// The frames of a video, in the order of time.
#[derive(Debug)]
pub struct SampledVideo {
    pub frames: Vec<VideoFrame>,
    /// Whether the end of the file is missing.
    pub is_cut_off: bool,
}

/// Samples the frames of a video. Fails if there are no frames, if sampling takes too long,
/// or if it is cancelled.
pub fn sample_frames(
    container: VideoContainer,
    ffmpeg: &Path,
    video: VideoInput,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<SampledVideo, VideoError> {
    let (stream, mut video) = find_stream(ffmpeg, container, video, is_cancelled)?;
    let is_large = video.length().is_ok_and(|length| length > MAX_FULLY_DECODED);
    let max_pixels = MAX_FRAME_PIXELS.to_string();
    let mut options =
        vec!["-nostdin", "-v", "warning", "-threads", "1", "-max_pixels", &max_pixels];
    options.extend(if is_large { &["-skip_frame", "nokey"][..] } else { &[] });
    let graph = filter_graph(&stream, container.sequence);
    let mut outputs = vec!["-filter_complex", &graph, "-map", "[shown]", "-r", "25"];
    outputs.extend(["-f", "mpjpeg", "-c:v", "mjpeg", "-q:v", "4", "pipe:1"]);
    // The usual decoder is tried as well, because `ffmpeg` may have been built without the other one.
    for decoder in stream.decoder_with_alpha().map(Some).into_iter().chain([None]) {
        let decoder = decoder.iter().flat_map(|name| ["-c:v", name]);
        let program = VideoProgram {
            path: ffmpeg,
            container,
            options: &options.iter().copied().chain(decoder).collect::<Vec<_>>(),
            outputs: &outputs,
            timeout: SAMPLING_TIMEOUT,
        };
        let ((pictures, (times, is_cut_off)), same) =
            program.run(video, read_pictures, read_times, is_cancelled)?;
        let frame = |(number, jpeg)| {
            Some(VideoFrame { seconds: *times.get(number)?, jpeg: stream.to_srgb(jpeg) })
        };
        let frames: Vec<_> = pictures.into_iter().filter_map(frame).collect();
        if !frames.is_empty() {
            return Ok(SampledVideo { frames, is_cut_off });
        }
        video = same;
    }
    Err(VideoError::Undecodable("ffmpeg cannot decode it".to_owned()))
}

/// Returns the filters between a stream and the output.
fn filter_graph(stream: &VideoStream, sequence: Option<ImageSequence>) -> String {
    let input = match stream.alpha {
        Some(alpha) => format!("[0:{}][0:{alpha}]alphamerge,", stream.index),
        None => format!("[0:{}]", stream.index),
    };
    let when = |condition: bool, filters: &'static str| if condition { filters } else { "" };
    let colors = when(stream.is_unstated_high_definition(), HIGH_DEFINITION);
    let square = when(!stream.has_square_pixels(), SQUARE_PIXELS);
    let upright = sequence.map(upright_filters).unwrap_or_default();
    let blending = when(stream.has_alpha(), BLENDING);
    format!("{input}{SELECTION},{colors}{square}{upright}{blending}{FITTING}[shown]")
}

/// Returns the filters that cut the shown part out of a picture, and turn it.
fn upright_filters(sequence: ImageSequence) -> String {
    let cut = sequence.part.map(|VisiblePart { left, top, size: (width, height) }| {
        format!("crop={width}:{height}:{left}:{top}:exact=1,")
    });
    let turn = match sequence.orientation {
        Orientation::NoTransforms => "",
        Orientation::Rotate90 => "transpose=clock,",
        Orientation::Rotate180 => "hflip,vflip,",
        Orientation::Rotate270 => "transpose=cclock,",
        Orientation::FlipHorizontal => "hflip,",
        Orientation::FlipVertical => "vflip,",
        Orientation::Rotate90FlipH => "transpose=clock,hflip,",
        Orientation::Rotate270FlipH => "transpose=cclock,hflip,",
    };
    cut.unwrap_or_default() + turn
}

/// Reads the pictures with their numbers. If there are more than [`MAX_FRAMES`], keeps only every second picture, or
/// every fourth, and so on.
fn read_pictures(mut output: impl BufRead) -> Vec<(usize, Vec<u8>)> {
    let (mut kept, mut stride) = (Vec::new(), 1);
    let pictures = std::iter::from_fn(|| next_part(&mut output));
    for (number, picture) in pictures.enumerate() {
        if number % stride == 0 {
            kept.push((number, picture));
        }
        if kept.len() > MAX_FRAMES {
            stride *= 2;
            kept.retain(|(number, _)| number % stride == 0);
        }
    }
    kept
}

/// Reads one part of a multipart stream: header lines, an empty line, and as many bytes as the header announces.
fn next_part(output: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length: Option<u64> = None;
    loop {
        let mut line = String::new();
        let read = output.by_ref().take(MAX_HEADER_BYTES).read_line(&mut line).ok()?;
        match (length, line.trim(), line.split_once(':')) {
            _ if read == 0 => return None,
            (Some(_), "", _) => break,
            (_, _, Some((name, value))) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().ok();
            }
            _ => {}
        }
    }
    let length = length.filter(|&length| length <= MAX_FRAME_BYTES)?;
    let bytes = read_at_most(output, length).ok()?;
    (bytes.len() as u64 == length).then_some(bytes)
}

/// Reads the time of each picture, in seconds, and whether a warning says that the video is cut off.
fn read_times(output: impl BufRead) -> (Vec<f64>, bool) {
    let (mut times, mut is_cut_off) = (Vec::new(), false);
    for line in output.take(MAX_TIME_BYTES).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        is_cut_off |= CUT_OFF_WARNINGS.iter().any(|warning| line.contains(warning));
        let time = line.split_whitespace().find_map(|word| word.strip_prefix("pts_time:"));
        let seconds = |text: &str| text.parse().ok().filter(|seconds: &f64| seconds.is_finite());
        times.extend(time.map(|text| seconds(text).unwrap_or(0.0)));
    }
    (times, is_cut_off)
}

/// The minimum times from a selected frame to the next one: the first if the scene has changed, the second if it has
/// not.
const SECONDS_TO_NEW_SCENE: f64 = 2.0;
const SECONDS_TO_NEXT: f64 = 5.0;
/// The mean difference in brightness at or above which two scenes differ. The maximum is 255.
const SCENE_DIFFERENCE: u32 = 25;
/// The width and height at which scenes are compared.
const SCENE_SIDE: u32 = 32;
/// Larger frames are scaled down, but not below this width or height.
const MIN_SIDE: u32 = 1_280;
const JPEG_QUALITY: u8 = 90;

/// The frames that are kept of an animation.
#[derive(Default)]
struct Selection {
    frames: Vec<VideoFrame>,
    /// The scene of the latest selected frame.
    scene: Vec<u8>,
    /// The factor by which the times between frames grow in a long animation.
    stretch: f64,
}

/// Returns the sampled frames of an animation, in the order of time. Returns `None` for a picture with a single frame.
pub fn sample_animation(bytes: &[u8], is_cancelled: &dyn Fn() -> bool) -> Option<Vec<VideoFrame>> {
    let mut selection = Selection { stretch: 1.0, ..Selection::default() };
    let visited = visit_frames(bytes, &mut |frame| {
        if is_cancelled() {
            return false;
        }
        let seconds = frame.seconds;
        let waited = selection.frames.last().map(|last| seconds - last.seconds);
        if waited.is_none_or(|waited| waited >= SECONDS_TO_NEW_SCENE * selection.stretch) {
            let Ok(picture) = frame.into_picture(MIN_SIDE) else { return false };
            selection.consider(&picture, seconds, waited);
        }
        true
    });
    let is_animation = visited.is_ok() && !selection.frames.is_empty();
    is_animation.then_some(selection.frames)
}

impl Selection {
    /// Keeps a frame if it shows a different scene than the latest selected frame, or follows it after a long time.
    fn consider(&mut self, picture: &RgbImage, seconds: f64, waited: Option<f64>) {
        let scene = gray_square(picture, SCENE_SIDE);
        let is_late = waited.is_none_or(|waited| waited >= SECONDS_TO_NEXT * self.stretch);
        if !is_late && difference(&scene, &self.scene) < SCENE_DIFFERENCE {
            return;
        }
        let Ok(jpeg) = encode_jpeg(picture, JPEG_QUALITY) else { return };
        self.frames.push(VideoFrame { seconds, jpeg });
        self.scene = scene;
        if self.frames.len() > MAX_FRAMES {
            let mut number = 0;
            self.frames.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.stretch *= 2.0;
        }
    }
}

/// Returns the mean difference of two scenes.
fn difference(a: &[u8], b: &[u8]) -> u32 {
    let sum: u32 = a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
    sum / (SCENE_SIDE * SCENE_SIDE)
}

const LISTING_TIMEOUT: Duration = Duration::from_mins(1);
/// The maximum size of a list of streams.
const MAX_LIST_BYTES: u64 = 1 << 20;
/// The fields that are read of a stream.
const STREAM_FIELDS: &str = "stream=index,codec_type,codec_name,pix_fmt,width,height,sample_aspect_ratio\
     ,color_space,color_primaries,color_transfer\
     :stream_disposition=default,attached_pic,timed_thumbnails:stream_tags=alpha_mode";
const CONVERTED_JPEG_QUALITY: u8 = 92;
/// How the names of pixel formats with transparency begin.
const ALPHA_FORMATS: [&str; 11] =
    ["yuva", "rgba", "bgra", "argb", "abgr", "gbrap", "ya8", "ya16", "ayuv", "vuya", "pal8"];

#[derive(Default, Deserialize)]
#[serde(default)]
struct StreamList {
    streams: Vec<VideoStream>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct VideoStream {
    pub index: u32,
    codec_type: String,
    codec_name: String,
    pix_fmt: String,
    width: u64,
    height: u64,
    sample_aspect_ratio: String,
    color_space: String,
    color_primaries: String,
    color_transfer: String,
    disposition: Disposition,
    tags: Tags,
    /// The stream that contains the transparency of this one.
    #[serde(skip)]
    alpha: Option<u32>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Tags {
    /// `1` if each packet of `WebM` contains the transparency, too, which is not part of the pixel format.
    alpha_mode: String,
}

/// What a stream is for. Each number is 0 or 1.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Disposition {
    default: u8,
    attached_pic: u8,
    timed_thumbnails: u8,
}

/// Finds the stream to show. Returns it with the video for another program.
pub fn find_stream(
    ffmpeg: &Path,
    container: VideoContainer,
    video: VideoInput,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<(VideoStream, VideoInput), VideoError> {
    let program = VideoProgram {
        path: &ffmpeg.with_file_name("ffprobe"),
        container,
        options: &["-v", "quiet", "-threads", "1", "-show_entries", STREAM_FIELDS, "-of", "json"],
        outputs: &[],
        timeout: LISTING_TIMEOUT,
    };
    let ((list, ()), video) = program.run(video, read_list, skip_errors, is_cancelled)?;
    let streams = list.unwrap_or_default().streams;
    let has_sound = streams.iter().any(|stream| stream.codec_type == "audio");
    let streams = streams.into_iter().filter(VideoStream::is_video);
    let alpha_track = container.sequence.and_then(|sequence| sequence.alpha_track);
    let alpha = alpha_track.and_then(|track| u32::try_from(track).ok());
    let shown = streams.filter(|stream| Some(stream.index) != alpha);
    let shown = shown.max_by_key(VideoStream::priority);
    let shown = shown.map(|shown| VideoStream { alpha, ..shown });
    let reason =
        || if has_sound { "audio without a video" } else { "ffprobe finds no video in it" };
    Ok((shown.ok_or_else(|| VideoError::Undecodable(reason().to_owned()))?, video))
}

fn read_list(output: impl Read) -> Option<StreamList> {
    serde_json::from_reader(output.take(MAX_LIST_BYTES)).ok()
}

/// Reads all errors, because the program must not wait for a full pipe.
fn skip_errors(mut errors: impl Read) {
    let _ = std::io::copy(&mut errors, &mut std::io::sink());
}

impl VideoStream {
    /// Whether this is a video, and not the cover of a piece of music or the thumbnails of a player.
    fn is_video(&self) -> bool {
        let Disposition { attached_pic, timed_thumbnails, .. } = self.disposition;
        self.codec_type == "video" && attached_pic == 0 && timed_thumbnails == 0
    }

    /// The default stream is shown, or else the largest one. Of equal streams, this is the first.
    fn priority(&self) -> impl Ord + use<> {
        (self.disposition.default, self.width.saturating_mul(self.height), Reverse(self.index))
    }

    fn has_alpha(&self) -> bool {
        let is_in_pixels = ALPHA_FORMATS.iter().any(|start| self.pix_fmt.starts_with(start));
        is_in_pixels || self.alpha.is_some() || self.tags.alpha_mode == "1"
    }

    /// Returns the decoder that reads the transparency of a `WebM`. The usual decoder of `ffmpeg` drops it.
    fn decoder_with_alpha(&self) -> Option<&'static str> {
        match self.codec_name.as_str() {
            "vp8" if self.has_alpha() => Some("libvpx"),
            "vp9" if self.has_alpha() => Some("libvpx-vp9"),
            _ => None,
        }
    }

    /// Whether a stream of high definition does not say how its colors are stored.
    fn is_unstated_high_definition(&self) -> bool {
        let (width, height) = MAX_STANDARD_DEFINITION;
        let is_stated = !matches!(self.color_space.as_str(), "" | "unknown");
        !is_stated && (self.width > width || self.height > height)
    }

    pub fn has_square_pixels(&self) -> bool {
        // A ratio that is unknown is missing, or its first number is 0.
        let sides = self.sample_aspect_ratio.split_once(':');
        sides.is_none_or(|(width, height)| width == height || width == "0")
    }

    /// Converts a frame of a high dynamic range or with wide primaries to sRGB. Other frames have the colors of a JPEG
    /// already.
    pub fn to_srgb(&self, jpeg: Vec<u8>) -> Vec<u8> {
        // The numbers of ITU-T H.273. Number 13 stands for all transfer characteristics of standard dynamic range.
        let transfer = match self.color_transfer.as_str() {
            "smpte2084" => 16,
            "arib-std-b67" => 18,
            _ => 13,
        };
        let primaries = match self.color_primaries.as_str() {
            "smpte431" => 11,
            "smpte432" => 12,
            "bt709" => 1,
            "bt2020" => 9,
            _ if transfer == 13 => return jpeg,
            _ => 9,
        };
        if (primaries, transfer) == (1, 13) {
            return jpeg;
        }
        // A frame that cannot be decoded is refused by its next reader, with the reason.
        coded_jpeg_to_srgb(&jpeg, (primaries, transfer), CONVERTED_JPEG_QUALITY).unwrap_or(jpeg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(list: &str) -> Option<u32> {
        let streams = read_list(list.as_bytes())?.streams.into_iter();
        Some(streams.filter(VideoStream::is_video).max_by_key(VideoStream::priority)?.index)
    }

    fn stream(index: u32, sides: (u32, u32), disposition: &str) -> String {
        let (width, height) = sides;
        format!(
            r#"{{"index":{index},"codec_type":"video","width":{width},"height":{height},
            "disposition":{{{disposition}}}}}"#
        )
    }

    #[test]
    fn the_default_stream_is_shown_or_else_the_largest() {
        let list = |streams: &[String]| format!(r#"{{"streams":[{}]}}"#, streams.join(","));
        let (small, large) = ((80, 60), (320, 240));
        let streams = [stream(0, large, ""), stream(1, small, r#""default":1"#)];
        assert_eq!(chosen(&list(&streams)), Some(1));
        let streams = [stream(0, small, ""), stream(1, large, ""), stream(2, large, "")];
        assert_eq!(chosen(&list(&streams)), Some(1));
        let cover = stream(0, large, r#""default":1,"attached_pic":1"#);
        assert_eq!(chosen(&list(std::slice::from_ref(&cover))), None);
        assert_eq!(chosen(&list(&[cover, stream(1, small, "")])), Some(1));
        assert_eq!(chosen(r#"{"streams":[{"index":0,"codec_type":"audio"}]}"#), None);
        assert_eq!(chosen("{}"), None);
    }

    #[test]
    fn unknown_pixels_are_square() {
        let is_square = |ratio: &str| {
            VideoStream { sample_aspect_ratio: ratio.to_owned(), ..VideoStream::default() }
                .has_square_pixels()
        };
        assert!(["", "N/A", "0:1", "1:1"].into_iter().all(is_square));
        assert!(!["2:1", "64:45"].into_iter().any(is_square));
    }
}
