use image::Rgb;
use serde_json::{Value, json};

use super::*;

fn read_for(file: &Value, input: InputForm) -> (Result<Preprocessing, String>, Vec<String>) {
    let mut defaults = Vec::new();
    let settings = PictureSettings { source: PREPROCESSOR.to_owned(), json: file.clone() };
    let read = Preprocessing::read(Some(&settings), ModelFamily::Other, input, &mut defaults);
    (read, defaults)
}

fn read(file: &Value) -> (Result<Preprocessing, String>, Vec<String>) {
    read_for(file, InputForm::default())
}

fn described(file: &Value) -> String {
    read(file).0.unwrap().describe()
}

#[test]
fn sizes_crops_and_filters_come_from_the_file() {
    let colors = json!({"image_mean": [0.5, 0.5, 0.5], "image_std": [0.25, 0.25, 0.25]});
    let with = |more: Value| {
        let mut file = colors.clone();
        file.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        file
    };
    for (file, expected) in [
        (
            json!({"size": {"shortest_edge": 256}, "do_center_crop": true,
                   "crop_size": {"width": 224, "height": 224}, "resample": 2}),
            "shorter side 256, middle 224x224, bilinear, scale 0.003921569, ",
        ),
        (
            json!({"size": {"height": 384, "width": 256}, "resample": 3, "rescale_factor": 0.5}),
            "stretched to 256x384, bicubic, scale 0.5, ",
        ),
        (
            json!({"size": 224, "do_center_crop": true, "crop_size": 192, "resample": 1,
                   "do_rescale": false}),
            "shorter side 224, middle 192x192, lanczos, scale 1, ",
        ),
        (json!({"size": 224, "resample": 0}), "stretched to 224x224, nearest, "),
        (
            json!({"size": {"shortest_edge": 224}, "crop_pct": 0.875, "resample": 3}),
            "shorter side 256, middle 224x224, ",
        ),
        (
            json!({"size": {"shortest_edge": 384}, "crop_pct": 0.95, "resample": 3}),
            "stretched to 384x384, bicubic",
        ),
    ] {
        let found = described(&with(file));
        assert!(found.starts_with(expected), "{found} does not begin with {expected}");
        assert!(found.ends_with("mean [0.5, 0.5, 0.5], std [0.25, 0.25, 0.25]"), "{found}");
    }
    let plain = described(&json!({"size": 8, "resample": 3, "do_normalize": false}));
    assert!(plain.ends_with("mean [0.0, 0.0, 0.0], std [1.0, 1.0, 1.0]"), "{plain}");
}

#[test]
fn sizes_have_many_forms() {
    for (file, expected) in [
        (json!({"size": [16, 32], "resample": "bicubic"}), "stretched to 32x16, bicubic"),
        (
            json!({"size": {"shortest_edge": 9}, "crop_size": [7, 8]}),
            "shorter side 9, middle 8x7, bicubic",
        ),
        (
            json!({"size": {"longest_edge": 9}, "do_center_crop": true, "crop_size": 8}),
            "longer side 9, middle 8x8, border [0, 0, 0], bicubic",
        ),
        (
            json!({"size": {"min_width": 9, "min_height": 5}, "do_center_crop": true,
                   "crop_size": 5}),
            "covering 9x5, middle 5x5, bicubic",
        ),
    ] {
        let found = described(&file);
        assert!(found.starts_with(expected), "{found} does not begin with {expected}");
    }
}

#[test]
fn each_image_processor_has_its_own_defaults() {
    for (class, size, start) in [
        ("CLIPImageProcessor", 9, "shorter side 9, middle 8x8, bicubic"),
        ("ViTImageProcessorFast", 9, "stretched to 9x9, bilinear"),
        ("DeiTFeatureExtractor", 9, "stretched to 9x9, middle 8x8, bicubic"),
        ("ConvNextFeatureExtractor", 224, "shorter side 256, middle 224x224, bilinear"),
        ("LevitImageProcessor", 7, "shorter side 8, middle 8x8, bicubic"),
        ("PoolFormerImageProcessor", 9, "shorter side 10, middle 8x8, bicubic"),
        ("EfficientNetImageProcessor", 8, "stretched to 8x8, nearest"),
        ("MobileViTImageProcessor", 9, "shorter side 9, middle 8x8, bilinear"),
    ] {
        let file = json!({"image_processor_type": class, "size": size, "crop_size": 8});
        let found = described(&file);
        assert!(found.starts_with(start), "{class}: {found}");
    }
    let half = "mean [0.5, 0.5, 0.5], std [0.5, 0.5, 0.5]";
    for (class, more, end) in [
        ("ViTImageProcessor", json!({}), half),
        ("EfficientNetImageProcessor", json!({"include_top": false}), half),
        ("EfficientNetImageProcessor", json!({}), "mean [0.5, 0.5, 0.5], std [0.25, 0.25, 0.25]"),
        (
            "",
            json!({"rescale_offset": true, "image_mean": 0.5}),
            "mean [1.5, 1.5, 1.5], std [0.229, ",
        ),
        ("MobileViTImageProcessor", json!({}), "std [1.0, 1.0, 1.0], channels blue, green, red"),
    ] {
        let mut file = more;
        file["image_processor_type"] = class.into();
        let found = described(&file);
        assert!(found.contains(end), "{class}: {found}");
    }
}

#[test]
fn a_picture_smaller_than_the_input_gets_a_border_and_blue_may_be_first() {
    let file = json!({"size": {"max_width": 4, "max_height": 2}, "do_center_crop": true,
        "crop_size": {"width": 4, "height": 4}, "border_color": [0, 255, 0], "do_normalize": false,
        "resample": 0, "do_flip_channel_order": true});
    let preprocessing = read(&file).0.unwrap();
    let pixels = preprocessing.apply(&RgbImage::from_pixel(8, 4, Rgb([255, 0, 0]))).unwrap();
    let [border, red] = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let rows: Vec<_> = pixels.chunks(4).map(|row| row[0]).collect();
    assert_eq!(rows, [border, red, red, border]);
    // The mark of a switched-off step is not silent.
    let (_, defaults) = read(&json!({"size": 8, "do_resize": false}));
    assert!(
        defaults.iter().any(|text| text.contains("turns do_resize off; taken: ")),
        "{defaults:?}"
    );
}

#[test]
fn defaults_are_reported_by_name() {
    let (read, defaults) = read(&json!({"do_center_crop": true}));
    assert_eq!(read.unwrap().size(), (224, 224));
    for name in ["size", "crop_size", "image_mean", "image_std", "resample"] {
        let found = defaults.iter().any(|text| text.contains(&format!("has no {name}; taken: ")));
        assert!(found, "{name} is not in {defaults:?}");
    }
    for (family, words) in [
        (ModelFamily::Siglip, "stretched to 32x16, bicubic, scale 0.003921569, mean [0.5, "),
        (
            ModelFamily::Clip,
            "covering 32x16, middle 32x16, bicubic, scale 0.003921569, mean [0.481",
        ),
        (ModelFamily::Other, "mean [0.485, "),
    ] {
        let mut defaults = Vec::new();
        Preprocessing::read(
            None,
            family,
            InputForm { width: Some(32), height: Some(16), ..InputForm::default() },
            &mut defaults,
        )
        .unwrap();
        assert_eq!(defaults.len(), 1);
        assert!(defaults[0].contains("preprocessor_config.json is missing"), "{defaults:?}");
        assert!(defaults[0].contains(words), "{defaults:?}");
    }
}

#[test]
fn unusable_files_are_refused_with_the_key() {
    for (file, words) in [
        (json!([]), "without settings"),
        (json!({"size": {"longest_edge": 224}}), "unsupported size in"),
        (json!({"size": 0}), "unsupported size in"),
        (json!({"size": 1_000_000}), "unsupported size in"),
        (json!({"size": 8, "image_mean": [1]}), "image_mean"),
        (json!({"size": 8, "image_std": [0, 0, 0]}), "image_std"),
        (json!({"size": 8, "resample": 9}), "resample"),
        (json!({"size": 8, "rescale_factor": "x"}), "rescale_factor"),
        (json!({"size": {"shortest_edge": 8}, "crop_pct": 0}), "crop_pct"),
    ] {
        let (read, _) = read(&file);
        let reason = read.unwrap_err();
        assert!(reason.contains(words) && reason.contains("; "), "{file}: {reason}");
    }
    let file = json!({"size": 8});
    let other = InputForm { width: Some(9), height: Some(9), ..InputForm::default() };
    let (read, _) = read_for(&file, other);
    assert!(read.unwrap_err().contains("takes pictures of 9x9 pixels, and preproc"));
    let gray = InputForm { is_gray: true, ..InputForm::default() };
    assert!(read_for(&json!({"size": 8, "image_mean": [0.5]}), gray).0.is_ok());
    let (read, _) = read_for(&file, InputForm { is_bytes: true, ..InputForm::default() });
    assert!(read.unwrap_err().contains("from 0 to 255, and preprocessor_config.json scales"));
}

#[test]
fn pixels_are_those_of_the_middle_scaled_and_normalized() {
    let file = json!({"size": {"shortest_edge": 4}, "do_center_crop": true, "crop_size": 2,
        "resample": 0, "image_mean": [0.5, 0.0, 0.0], "image_std": [0.5, 1.0, 0.5]});
    let preprocessing = read(&file).0.unwrap();
    // The picture is red in the middle and blue around it.
    let picture = RgbImage::from_fn(8, 4, |x, y| {
        let middle = (3..5).contains(&x) && (1..3).contains(&y);
        if middle { Rgb([255, 0, 0]) } else { Rgb([0, 0, 255]) }
    });
    assert_eq!(preprocessing.apply(&picture).unwrap(), [[1.0, 0.0, 0.0]; 4]);
    for size in [(1, 1), (1, 30_000), (30_000, 1)] {
        let picture = RgbImage::from_pixel(size.0, size.1, Rgb([255, 0, 0]));
        assert_eq!(preprocessing.apply(&picture).unwrap(), [[1.0, 0.0, 0.0]; 4]);
    }
}
