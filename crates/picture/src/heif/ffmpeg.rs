//! Decodes the tiles of a picture with `ffmpeg`. The program receives a stream of one codec through a pipe, but no file
//! and none of our environment variables. Its running time, the size of its pictures and the amount of output that is
//! read are limited.

use std::{
    env,
    io::{BufRead, BufReader, Read, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Stdio},
    sync::{OnceLock, mpsc},
    thread,
    time::Duration,
};

use image::RgbImage;

use tessera_subprocess::{isolated_command, spawn_with_limit};

use super::{Codec, CodedPicture};
use crate::limits::DecodeError;

const TIMEOUT: Duration = Duration::from_mins(1);
/// The maximum length of a line in a PPM header. Real headers are shorter.
const MAX_HEADER_BYTES: u64 = 64;
/// Codecs round the sides of a picture up to a multiple of this number before they crop.
const MAX_PADDING: u64 = 128;
/// The maximum memory of `ffmpeg`. A picture of 100 million pixels with 10 bits takes between 1.5 and 2 GiB.
const MAX_FFMPEG_BYTES: u64 = 3 << 30;

/// Matrices that `ffmpeg` would mistake for another one, such as that of `YCgCo`, and those of constant luminance.
const UNKNOWN_MATRICES: [u64; 8] = [8, 10, 11, 13, 14, 15, 16, 17];

/// Returns the path of `ffmpeg`. `PATH` is searched only once.
pub fn find_ffmpeg() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        let paths = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&paths).map(|folder| folder.join("ffmpeg")).find(|path| path.is_file())
    };
    FOUND.get_or_init(find).as_deref()
}

/// Returns the shown pixels of a picture as stored: not rotated, and in the colors of its profile.
pub fn to_rgb(picture: &CodedPicture, program: &Path, name: &str) -> Result<RgbImage, DecodeError> {
    let failed = |reason: &str| DecodeError(format!("{name}: {reason}; convert it to JPEG"));
    if picture.color_matrix.is_some_and(|(matrix, _)| UNKNOWN_MATRICES.contains(&matrix)) {
        return Err(failed("its color matrix is not supported"));
    }
    let stream = picture.stream().ok_or_else(|| failed("the coded picture is damaged"))?;
    let mut child = start(picture, program)
        .map_err(|cause| failed(&format!("cannot start ffmpeg ({})", cause.kind())))?;
    if let Some(mut input) = child.stdin.take() {
        // `ffmpeg` may exit before it has read all input, so an error is ignored.
        thread::spawn(move || drop(input.write_all(&stream)));
    }
    let pixels = read_with_timeout(&mut child, Tiles::of(picture));
    // The process has exited or took too long. In both cases, it must not stay behind.
    let _ = child.kill();
    let _ = child.wait();
    match pixels {
        Ok(Some(pixels)) => Ok(picture.visible_part(pixels)),
        Ok(None) => Err(failed("ffmpeg cannot decode it")),
        Err(_) => Err(failed("ffmpeg took too long to decode it")),
    }
}

fn start(picture: &CodedPicture, program: &Path) -> std::io::Result<Child> {
    let demuxer = match picture.codec {
        Codec::Hevc => "hevc",
        Codec::Av1 => "obu",
    };
    let [width, height] = [picture.tile_size.0, picture.tile_size.1].map(u64::from);
    let max_pixels = ((width + MAX_PADDING) * (height + MAX_PADDING)).to_string();
    let mut command = isolated_command(program);
    command
        .args(["-nostdin", "-v", "quiet", "-threads", "1", "-protocol_whitelist", "pipe"])
        .args(["-max_pixels", &max_pixels, "-f", demuxer, "-i", "pipe:0", "-map", "0:v:0"])
        // Without the new clock, `ffmpeg` would repeat or drop pictures to fill a second.
        .args(["-vf", &format!("{},settb=1/25,setpts=N", color_filter(picture)), "-r", "25"])
        .args(["-f", "image2pipe", "-c:v", "ppm", "-pix_fmt", "rgb24", "pipe:1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    spawn_with_limit(&mut command, MAX_FFMPEG_BYTES)
}

/// Returns the filter that converts to RGB. What the container says about colors takes precedence over the coded
/// picture.
fn color_filter(picture: &CodedPicture) -> String {
    let mut filter = "scale=flags=accurate_rnd+full_chroma_int".to_owned();
    let (matrix, is_full) = picture.color_matrix.unzip();
    match matrix {
        Some(1) => filter.push_str(":in_color_matrix=bt709"),
        Some(4) => filter.push_str(":in_color_matrix=fcc"),
        Some(7) => filter.push_str(":in_color_matrix=smpte240m"),
        Some(5 | 6) => filter.push_str(":in_color_matrix=bt601"),
        Some(9) => filter.push_str(":in_color_matrix=bt2020"),
        _ => {}
    }
    match is_full {
        Some(true) => filter.push_str(":in_range=full"),
        Some(false) => filter.push_str(":in_range=limited"),
        None => {}
    }
    filter
}

/// How the pictures of the stream form the whole picture.
struct Tiles {
    size: (u32, u32),
    tile_size: (u32, u32),
    columns: u32,
    count: usize,
}

impl Tiles {
    fn of(picture: &CodedPicture) -> Self {
        let CodedPicture { coded_size, tile_size, columns, .. } = *picture;
        Self { size: coded_size, tile_size, columns, count: picture.tile_count() }
    }

    /// Reads all tiles. Returns `None` if a tile is missing, or its size differs from the size that the file declares.
    fn read(&self, mut output: impl BufRead) -> Option<RgbImage> {
        let (width, height) = self.tile_size;
        let mut whole = RgbImage::new(self.size.0, self.size.1);
        let row_bytes = 3 * self.size.0 as usize;
        let mut row = vec![0; 3 * width as usize];
        for number in 0..u32::try_from(self.count).ok()? {
            (read_header(&mut output)? == self.tile_size).then_some(())?;
            let (left, top) = (number % self.columns * width, number / self.columns * height);
            // A tile may extend beyond the picture.
            let visible = 3 * self.size.0.saturating_sub(left).min(width) as usize;
            for y in top..top + height {
                output.read_exact(&mut row).ok()?;
                if y < self.size.1 {
                    let start = y as usize * row_bytes + 3 * left as usize;
                    whole.get_mut(start..start + visible)?.copy_from_slice(&row[..visible]);
                }
            }
        }
        Some(whole)
    }
}

/// Reads the header of an 8-bit PPM as `ffmpeg` writes it: `P6`, the size and 255, each on a line.
fn read_header(output: &mut impl BufRead) -> Option<(u32, u32)> {
    let mut line = || {
        let mut line = String::new();
        output.by_ref().take(MAX_HEADER_BYTES).read_line(&mut line).ok()?;
        line.strip_suffix('\n').map(str::to_owned)
    };
    let (kind, size, max_sample) = (line()?, line()?, line()?);
    let (width, height) = size.split_once(' ')?;
    (kind == "P6" && max_sample == "255").then_some((width.parse().ok()?, height.parse().ok()?))
}

/// Reads the output in a thread, because only the end of the program can interrupt the reading.
fn read_with_timeout(
    child: &mut Child,
    tiles: Tiles,
) -> Result<Option<RgbImage>, mpsc::RecvTimeoutError> {
    let Some(output): Option<ChildStdout> = child.stdout.take() else { return Ok(None) };
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(tiles.read(BufReader::new(output))));
    receiver.recv_timeout(TIMEOUT)
}

#[cfg(test)]
mod tests {
    use tessera_testing::scripts::write_script;

    use super::*;

    /// Decodes a picture of 96 x 64 pixels with a program that is a shell script of these commands.
    fn decoded(commands: &str) -> Result<RgbImage, String> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ffmpeg");
        write_script(&program, commands);
        let file = include_bytes!("../../tests/picture/heif/chart.heic");
        let picture = CodedPicture::open(file, "HEIC").unwrap();
        to_rgb(&picture, &program, "HEIC").map_err(|error| error.0)
    }

    #[test]
    fn the_output_is_the_picture() {
        let pixels = decoded("printf 'P6\\n96 64\\n255\\n'; head -c 18432 /dev/zero").unwrap();
        assert_eq!((pixels.dimensions(), pixels.get_pixel(95, 63).0), ((96, 64), [0; 3]));
    }

    #[test]
    fn other_output_is_refused() {
        let refusal = "HEIC: ffmpeg cannot decode it; convert it to JPEG";
        for commands in [
            "exit 1",
            "printf 'P6\\n96 64\\n255\\n'; head -c 18431 /dev/zero",
            "printf 'P6\\n9600 6400\\n255\\n'; head -c 184320000 /dev/zero",
            "head -c 100000 /dev/zero",
        ] {
            assert_eq!(decoded(commands).unwrap_err(), refusal, "{commands}");
        }
    }

    #[test]
    fn colors_that_the_program_would_mistake_are_refused() {
        let mut file = include_bytes!("../../tests/picture/heif/chart.avif").to_vec();
        let at = file.windows(8).position(|bytes| bytes == b"colrnclx").unwrap();
        for matrix in [8, 10, 13] {
            file[at + 13] = matrix;
            let picture = CodedPicture::open(&file, "AVIF").unwrap();
            let error = to_rgb(&picture, Path::new("/no program"), "AVIF").unwrap_err();
            assert_eq!(error.0, "AVIF: its color matrix is not supported; convert it to JPEG");
        }
    }

    #[test]
    fn the_program_inherits_no_variables_but_those_it_needs() {
        let commands = "test -z \"$HOME$CARGO_MANIFEST_DIR$USER\" || exit 1
            printf 'P6\\n96 64\\n255\\n'; head -c 18432 /dev/zero";
        assert!(decoded(commands).is_ok());
    }

    #[test]
    fn tiles_are_put_together_and_cut_to_the_size() {
        let tiles = Tiles { size: (3, 1), tile_size: (2, 2), columns: 2, count: 2 };
        let tile = |gray| [&b"P6\n2 2\n255\n"[..], &[gray; 12]].concat();
        let read = tiles.read(&*[tile(1), tile(2)].concat()).unwrap();
        assert_eq!(read.into_raw(), [1, 1, 1, 1, 1, 1, 2, 2, 2]);
        assert!(tiles.read(&*tile(1)).is_none(), "one is missing");
    }
}
