//! Chooses the stream of a video that is shown, as players do, and how its frames become pictures. `ffprobe`, which
//! belongs to `ffmpeg`, lists the streams.

use std::{cmp::Reverse, io::Read, path::Path, time::Duration};

use serde::Deserialize;
use tessera_picture::coded_jpeg_to_srgb;

use super::{
    video_container::VideoContainer,
    video_input::VideoInput,
    video_program::{VideoError, VideoProgram},
};

const TIMEOUT: Duration = Duration::from_mins(1);
/// The maximum size of a list of streams.
const MAX_LIST_BYTES: u64 = 1 << 20;
/// The fields that are read of a stream.
const FIELDS: &str = "stream=index,codec_type,width,height,sample_aspect_ratio,color_primaries,color_transfer\
     :stream_disposition=default,attached_pic,timed_thumbnails";
const JPEG_QUALITY: u8 = 92;

#[derive(Default, Deserialize)]
#[serde(default)]
struct StreamList {
    streams: Vec<VideoStream>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct VideoStream {
    pub index: u32,
    codec_type: String,
    width: u64,
    height: u64,
    sample_aspect_ratio: String,
    color_primaries: String,
    color_transfer: String,
    disposition: Disposition,
}

/// What a stream is for. Each number is 0 or 1.
#[derive(Debug, Default, Deserialize)]
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
        options: &["-v", "quiet", "-threads", "1", "-show_entries", FIELDS, "-of", "json"],
        outputs: &[],
        timeout: TIMEOUT,
    };
    let ((list, ()), video) = program.run(video, read_list, skip_errors, is_cancelled)?;
    let streams = list.unwrap_or_default().streams;
    let has_sound = streams.iter().any(|stream| stream.codec_type == "audio");
    let stream =
        streams.into_iter().filter(VideoStream::is_video).max_by_key(VideoStream::priority);
    let reason =
        || if has_sound { "audio without a video" } else { "ffprobe finds no video in it" };
    Ok((stream.ok_or_else(|| VideoError::Undecodable(reason().to_owned()))?, video))
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

    pub fn has_square_pixels(&self) -> bool {
        // A ratio that is unknown is missing, or its first number is 0.
        let sides = self.sample_aspect_ratio.split_once(':');
        sides.is_none_or(|(width, height)| width == height || width == "0")
    }

    /// Converts a frame of a high dynamic range to sRGB. Other frames have the colors of a JPEG already.
    pub fn to_srgb(&self, jpeg: Vec<u8>) -> Vec<u8> {
        // The numbers of ITU-T H.273.
        let transfer = match self.color_transfer.as_str() {
            "smpte2084" => 16,
            "arib-std-b67" => 18,
            _ => return jpeg,
        };
        let primaries = match self.color_primaries.as_str() {
            "bt709" => 1,
            "smpte431" => 11,
            "smpte432" => 12,
            _ => 9,
        };
        // A frame that cannot be decoded is refused by its next reader, with the reason.
        coded_jpeg_to_srgb(&jpeg, (primaries, transfer), JPEG_QUALITY).unwrap_or(jpeg)
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
