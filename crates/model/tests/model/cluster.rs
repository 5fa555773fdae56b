use uuid::Uuid;

use tessera_model::{cluster::*, *};

pub fn empty_cluster() -> Cluster {
    Cluster {
        id: ClusterId(Uuid::nil()),
        entity: EntityType::Images,
        n_images: None,
        n_objects: None,
        n_videos: None,
        n_frames: None,
        similarity_threshold: None,
        relevance: None,
        previews: vec![],
        labels: vec![],
        tags: vec![],
        captions: vec![],
    }
}

pub fn preview() -> Preview {
    Preview {
        media: MediaId(Uuid::nil()),
        kind: SafeText::name("IMAGE"),
        original: None,
        thumbnail: None,
        caption: Some(SafeText::caption("a dog")),
        file_name: SafeText::file_name("dog.png"),
        original_uri: None,
        original_path: None,
        frame: None,
        region: None,
        relevance: None,
        labels: Vec::new(),
        tags: Vec::new(),
        rating: 0,
        dimensions: None,
        file: FileFacts::default(),
        extra_columns: std::collections::BTreeMap::new(),
    }
}

#[test]
fn the_size_counts_what_the_members_are() {
    let [images, objects] = [EntityType::Images, EntityType::Objects];
    for (entity, [n_images, n_frames, n_videos, n_objects], size) in [
        (images, [Some(3), None, None, Some(9)], Some(3)),
        (images, [Some(3), Some(4), Some(2), None], Some(7)),
        (images, [Some(3), None, Some(2), None], Some(5)),
        (images, [None, Some(4), Some(2), None], Some(4)),
        (images, [None, None, None, Some(9)], None),
        (objects, [Some(3), Some(4), Some(2), Some(9)], Some(9)),
        (objects, [Some(3), None, None, None], None),
    ] {
        let cluster =
            Cluster { entity, n_images, n_frames, n_videos, n_objects, ..empty_cluster() };
        assert_eq!(cluster.size(), size, "{cluster:?}");
    }
}

#[test]
fn contents_are_named_if_there_are_frames() {
    for ([n_images, n_frames, n_videos], contents) in [
        ([Some(3), None, None], None),
        ([Some(3), Some(0), Some(1)], None),
        ([None, Some(1), None], Some("1 frame")),
        ([Some(0), Some(12), Some(1)], Some("12 frames, 1 video")),
        ([Some(1), Some(12), Some(3)], Some("1 image, 12 frames, 3 videos")),
        ([Some(1_234), Some(2), Some(1)], Some("1 234 images, 2 frames, 1 video")),
    ] {
        let cluster = Cluster { n_images, n_frames, n_videos, ..empty_cluster() };
        assert_eq!(cluster.contents_with_frames().as_deref(), contents);
    }
}

#[test]
fn the_caption_is_its_own_or_that_of_the_first_preview() {
    let caption = |cluster: &Cluster| cluster.caption().map(SafeText::to_string);
    let mut cluster = empty_cluster();
    assert_eq!(caption(&cluster), None);
    let other = Preview { caption: Some(SafeText::caption("a cat")), ..preview() };
    cluster.previews = vec![preview(), other];
    assert_eq!(caption(&cluster).as_deref(), Some("a dog"));
    cluster.captions = vec![SafeText::caption("animals"), SafeText::caption("pets")];
    assert_eq!(caption(&cluster).as_deref(), Some("animals"));
}

#[test]
fn the_title_of_a_frame_is_its_time_and_video() {
    assert_eq!(preview().title().as_str(), "dog.png");
    let video = SafeText::name("clips/film.mp4");
    let frame = Some(VideoFrame { video, seconds: Some(7.0), link: None });
    assert_eq!(Preview { frame, ..preview() }.title().as_str(), "00:07 film.mp4");
}

#[test]
fn each_band_has_a_label_and_a_strength() {
    for (band, label, strength) in [
        (RelevanceBand::Strong, "strong", 4),
        (RelevanceBand::Same, "same", 4),
        (RelevanceBand::High, "high", 3),
        (RelevanceBand::Partial, "partial", 2),
        (RelevanceBand::Related, "related", 2),
        (RelevanceBand::Loose, "loose", 1),
    ] {
        assert_eq!((band.label(), band.strength()), (label, strength));
    }
}

#[test]
fn legends_name_the_bounds_of_the_bands() {
    for (scale, bounds) in
        [(ScoreScale::Visual, [".30", ".50"]), (ScoreScale::Caption, [".40", ".60"])]
    {
        for bound in bounds {
            assert!(scale.legend().contains(bound), "{bound} in {}", scale.legend());
        }
    }
}

#[test]
fn bands_follow_the_interface() {
    let band = |score| Relevance::new(score, ScoreKind::CosineDistance).band(ScoreScale::Visual);
    assert_eq!(band(0.004), Some(RelevanceBand::Same));
    assert_eq!(band(0.005), Some(RelevanceBand::High));
    assert_eq!(band(0.3), Some(RelevanceBand::High));
    assert_eq!(band(0.4), Some(RelevanceBand::Related));
    assert_eq!(band(0.5), Some(RelevanceBand::Loose));
    let other = Relevance::new(0.1, ScoreKind::Other(SafeText::name("dot")));
    assert_eq!(other.band(ScoreScale::Visual), None);
}

#[test]
fn caption_scores_have_their_own_bands() {
    let band = |score| Relevance::new(score, ScoreKind::CosineDistance).band(ScoreScale::Caption);
    assert_eq!(band(0.39), Some(RelevanceBand::Strong));
    assert_eq!(band(0.4), Some(RelevanceBand::Partial));
    assert_eq!(band(0.6), Some(RelevanceBand::Partial));
    assert_eq!(band(0.61), Some(RelevanceBand::Loose));
}
