//! Animations: sampled into frames like videos, without another program.

use image::{RgbImage, imageops};
use tessera_picture::{encode_jpeg, visit_frames};

use super::video::VideoFrame;

/// After a frame, the next one is selected when the scene has changed, and at the latest after the second time.
const SECONDS_TO_NEW_SCENE: f64 = 2.0;
const SECONDS_TO_NEXT: f64 = 5.0;
/// Mean difference of the light of two scenes, of 255.
const SCENE_DIFFERENCE: u32 = 25;
/// The width and height at which scenes are compared.
const SCENE_SIDE: u32 = 32;
/// Larger frames are scaled down, but not below it.
const MIN_SIDE: u32 = 1_280;
const JPEG_QUALITY: u8 = 90;
const MAX_FRAMES: usize = 100;

/// The frames that are kept of an animation.
#[derive(Default)]
struct Selection {
    frames: Vec<VideoFrame>,
    /// Of the frame that was selected last.
    scene: Vec<u8>,
    /// By how much the times between frames grow in a long animation.
    stretch: f64,
}

/// Returns the sampled frames of an animation, in the order of time; `None` for a picture with a single frame.
pub fn sample_animation(bytes: &[u8], is_cancelled: &dyn Fn() -> bool) -> Option<Vec<VideoFrame>> {
    let mut selection = Selection { stretch: 1.0, ..Selection::default() };
    let (mut count, mut failed) = (0_u64, false);
    let visited = visit_frames(bytes, &mut |frame| {
        count += 1;
        let seconds = frame.seconds;
        let waited = selection.frames.last().map(|last| seconds - last.seconds);
        if waited.is_none_or(|waited| waited >= SECONDS_TO_NEW_SCENE * selection.stretch) {
            match frame.into_picture(MIN_SIDE) {
                Ok(picture) => selection.consider(&picture, seconds, waited),
                Err(_) => failed = true,
            }
        }
        !failed && !is_cancelled()
    });
    let is_animation = visited.is_ok() && count > 1 && !selection.frames.is_empty();
    is_animation.then_some(selection.frames)
}

impl Selection {
    /// Keeps a frame that shows another scene than the last one, or comes late after it.
    fn consider(&mut self, picture: &RgbImage, seconds: f64, waited: Option<f64>) {
        let scene = scene(picture);
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

fn scene(picture: &RgbImage) -> Vec<u8> {
    let small = imageops::thumbnail(picture, SCENE_SIDE, SCENE_SIDE);
    imageops::grayscale(&small).into_raw()
}

/// The mean difference of two scenes.
fn difference(a: &[u8], b: &[u8]) -> u32 {
    let sum: u32 = a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
    sum / (SCENE_SIDE * SCENE_SIDE)
}
