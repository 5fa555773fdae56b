//! Videos in a folder: sampled into frames if `ffmpeg` is installed, skipped otherwise. The `ffmpeg` of
//! these tests is a shell script that writes images.

use std::{
    fs,
    io::Write as _,
    path::Path,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::{Value, json};
use tessera_service::DeploymentSettings;
use tessera_testing::scripts::write_script;

use crate::{
    export::{archive, content, metadata, names},
    support::{Place, Service, picture},
};

const VIDEO: &[u8] = b"\0\0\0\x20ftypisom and what follows";

fn place() -> Place {
    Place::new(&[("a.png", picture(0)), ("clips/film.mp4", VIDEO.to_vec())])
}

/// Settings with an `ffmpeg` that finds these pictures in every video, one each 2.5 seconds.
pub fn with_ffmpeg(folder: &Path, pictures: &[u32]) -> DeploymentSettings {
    with_frames(folder, pictures.iter().map(|kind| picture(*kind)))
}

/// The same for any pictures.
pub fn with_frames(
    folder: &Path,
    pictures: impl IntoIterator<Item = Vec<u8>>,
) -> DeploymentSettings {
    let (mut frames, mut times) = (Vec::new(), Vec::new());
    for (number, bytes) in (0_u32..).zip(pictures) {
        write!(frames, "--ffmpeg\r\nContent-length: {}\r\n\r\n", bytes.len()).unwrap();
        frames.extend(bytes);
        frames.extend(b"\r\n");
        let time = 2.5 * f64::from(number);
        writeln!(times, "frame:{number} pts:0 pts_time:{time}").unwrap();
    }
    fs::write(folder.join("frames"), frames).unwrap();
    fs::write(folder.join("times"), times).unwrap();
    let program = folder.join("ffmpeg");
    write_ffprobe(folder, r#"{"index": 0, "codec_type": "video"}"#);
    let folder = folder.display();
    write_script(
        &program,
        &format!("cat > '{folder}/input'\ncat '{folder}/times' >&2\ncat '{folder}/frames'"),
    );
    DeploymentSettings { ffmpeg: Some(program), ..DeploymentSettings::default() }
}

/// Writes an `ffprobe` that finds these streams in every file.
pub fn write_ffprobe(folder: &Path, streams: &str) {
    let commands = format!("cat > /dev/null\necho '{{\"streams\": [{streams}]}}'");
    write_script(&folder.join("ffprobe"), &commands);
}

async fn served(place: Place, settings: DeploymentSettings) -> Service {
    let deployment = place.open_with(settings);
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    Service::serve(place, deployment, dataset, true).await
}

/// All previews of a response.
fn previews(body: &Value) -> Vec<&Value> {
    let clusters = body["clusters"].as_array().unwrap();
    clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap()).collect()
}

fn frames_in_order(body: &Value) -> Vec<&Value> {
    let mut frames = previews(body);
    frames.retain(|preview| preview["frame_timestamp"].is_number());
    frames.sort_by(|a, b| {
        a["frame_timestamp"].as_f64().unwrap().total_cmp(&b["frame_timestamp"].as_f64().unwrap())
    });
    frames
}

#[tokio::test]
async fn a_video_is_sampled_into_frames_with_time_and_video() {
    let tools = tempfile::tempdir().unwrap();
    let service = served(place(), with_ffmpeg(tools.path(), &[2, 3, 1])).await;
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!((&record["n_images"], &record["n_videos"]), (&json!(1), &json!(1)));
    let body = service.good(&service.explore("threshold=0")).await;
    let frames = frames_in_order(&body);
    let facts: Vec<_> = frames
        .iter()
        .map(|frame| {
            ["type", "file_name", "original_uri", "frame_timestamp"].map(|key| &frame[key])
        })
        .collect();
    let fact =
        |name, seconds: f64| [json!("VIDEO"), json!(name), json!("clips/film.mp4"), json!(seconds)];
    let expected =
        [fact("film_000001.jpg", 0.0), fact("film_000002.jpg", 2.5), fact("film_000003.jpg", 5.0)];
    assert_eq!(facts, expected.iter().map(<[Value; 4]>::each_ref).collect::<Vec<_>>());
    let picture = previews(&body).into_iter().find(|it| it["file_name"] == "a.png").unwrap();
    assert_eq!(
        (&picture["original_uri"], &picture["video_uri"], &picture["frame_timestamp"]),
        (&json!("a.png"), &json!(""), &json!(null))
    );
}

#[tokio::test]
async fn a_frame_has_a_picture_a_thumbnail_and_its_video() {
    let tools = tempfile::tempdir().unwrap();
    let service = served(place(), with_ffmpeg(tools.path(), &[2, 3])).await;
    let body = service.good(&service.explore("threshold=0")).await;
    let frame = frames_in_order(&body)[1];
    let get = async |key: &str| {
        let answer = service.client.get(frame[key].as_str().unwrap()).send().await.unwrap();
        let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
        (kind, answer.bytes().await.unwrap())
    };
    assert_eq!(get("media_uri").await.1, self::picture(3));
    let (kind, thumbnail) = get("media_thumb_uri").await;
    assert!(kind == "image/jpeg" && thumbnail.starts_with(&[0xFF, 0xD8]));
    let (kind, video) = get("video_uri").await;
    assert_eq!((kind.as_str(), video.as_ref()), ("video/mp4", VIDEO));
    let unsigned = frame["video_uri"].as_str().unwrap().split('?').next().unwrap();
    assert_eq!(service.client.get(unsigned).send().await.unwrap().status(), 401);
}

#[tokio::test]
async fn clusters_count_frames_and_the_videos_they_are_from() {
    let tools = tempfile::tempdir().unwrap();
    let files =
        [("a.png", picture(0)), ("b.mp4", VIDEO.to_vec()), ("c.mp4", [VIDEO, b"!"].concat())];
    let service = served(Place::new(&files), with_ffmpeg(tools.path(), &[2, 2, 3])).await;
    let browsed = service.good(&service.explore("threshold=0")).await;
    let anchor = frames_in_order(&browsed)[0]["media_id"].as_str().unwrap();
    let query = format!("threshold=0&anchor_type=MEDIA&anchor_media_id={anchor}");
    let ranked = service.good(&service.explore(&query)).await;
    for body in [browsed, ranked] {
        let clusters = body["clusters"].as_array().unwrap();
        let sum = |key| clusters.iter().map(|it| it[key].as_u64().unwrap()).sum::<u64>();
        assert_eq!((sum("n_images"), sum("n_frames")), (1, 6), "{body}");
        let largest = clusters.iter().max_by_key(|it| it["n_frames"].as_u64()).unwrap();
        assert_eq!((&largest["n_frames"], &largest["n_videos"]), (&json!(4), &json!(2)), "{body}");
    }
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!((&record["n_images"], &record["n_videos"]), (&json!(1), &json!(2)));
}

#[tokio::test]
async fn a_frame_is_searched_like_a_picture() {
    let tools = tempfile::tempdir().unwrap();
    let files = [("a.png", picture(0)), ("b.png", picture(1)), ("c.mp4", VIDEO.to_vec())];
    let service = served(Place::new(&files), with_ffmpeg(tools.path(), &[0, 2])).await;
    let body = service.good(&service.explore("threshold=0")).await;
    let anchor = frames_in_order(&body)[0]["media_id"].as_str().unwrap();
    let query = format!("threshold=0&anchor_type=MEDIA&anchor_media_id={anchor}");
    let found = service.good(&service.explore(&query)).await;
    let nearest = previews(&found)[0];
    assert!(nearest["media_id"] == anchor || nearest["file_name"] == "a.png", "{found}");
}

#[tokio::test]
async fn frames_are_exported_with_their_pictures_and_their_video() {
    let tools = tempfile::tempdir().unwrap();
    let service = served(place(), with_ffmpeg(tools.path(), &[2, 3])).await;
    let query = "file_name=a&export_format=json&include_images=true";
    let (task, mut zip) = archive(&service, query).await;
    assert_eq!(task["entities_count"], 3);
    let expected =
        ["images/a.png", "images/film_000001.jpg", "images/film_000002.jpg", "metadata.json"];
    assert_eq!(names(&zip), expected);
    assert_eq!(content(&mut zip, "images/film_000002.jpg"), picture(3));
    let document = metadata(&mut zip);
    let row = &document["media_items"][2];
    let facts = ["media_type", "file_name", "file_path"].map(|key| row[key].as_str().unwrap());
    assert_eq!(facts, ["video_frame", "film_000002.jpg", "clips/film.mp4/film_000002.jpg"]);
    assert_eq!(row["file_size"], format!("{}B", picture(3).len()));
    let info = row["metadata_items"].as_array().unwrap().iter();
    let info: Vec<_> = info.filter(|item| item["type"] == "video_info").collect();
    let expected = json!({"video_name": "film.mp4", "frame_timestamp": 2.5});
    assert_eq!((info.len(), &info[0]["properties"]), (1, &expected));
}

#[tokio::test]
async fn frames_have_their_video_in_parquet() {
    let tools = tempfile::tempdir().unwrap();
    let service = served(place(), with_ffmpeg(tools.path(), &[2, 3])).await;
    let (_, mut zip) = archive(&service, "file_name=a&export_format=parquet").await;
    let bytes = content(&mut zip, "metadata.parquet");
    let reader = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
    let rows: Vec<Value> =
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_json_value()).collect();
    let facts: Vec<_> =
        rows.iter().map(|row| (&row["video_name"], &row["frame_timestamp"])).collect();
    let video = json!("film.mp4");
    let expected = [(Value::Null, Value::Null), (video.clone(), json!(0.0)), (video, json!(2.5))];
    assert_eq!(facts, expected.iter().map(|(name, time)| (name, time)).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_changed_video_has_only_its_new_frames() {
    let tools = tempfile::tempdir().unwrap();
    let service = served(place(), with_ffmpeg(tools.path(), &[2, 3, 1])).await;
    let place = service.stop().await;
    fs::write(place.picture("clips/film.mp4"), [VIDEO, b"!"].concat()).unwrap();
    let service = served(place, with_ffmpeg(tools.path(), &[3])).await;
    let body = service.good(&service.explore("threshold=0")).await;
    assert_eq!(frames_in_order(&body).len(), 1);
    let place = service.stop().await;
    // A picture of the same name.
    fs::write(place.picture("clips/film.mp4"), picture(1)).unwrap();
    let service = served(place, with_ffmpeg(tools.path(), &[3])).await;
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!((&record["n_images"], &record["n_videos"]), (&json!(2), &json!(0)));
    let body = service.good(&service.explore("threshold=0")).await;
    assert_eq!((frames_in_order(&body).len(), previews(&body).len()), (0, 2));
}

#[tokio::test]
async fn a_video_that_is_cut_off_is_listed_until_it_is_complete() {
    let tools = tempfile::tempdir().unwrap();
    let settings = with_ffmpeg(tools.path(), &[2]);
    let times = tools.path().join("times");
    let warning = "pipe:0: corrupt input packet in stream 0\n";
    fs::write(&times, fs::read_to_string(&times).unwrap() + warning).unwrap();
    let service = served(place(), settings).await;
    assert_eq!(service.good(&service.of_dataset("")).await["n_videos"], 1);
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    assert_eq!(skipped[0].file.to_string(), "clips/film.mp4");
    let reason = "not read completely, because the end of the video is missing";
    assert_eq!(skipped[0].reason.to_string(), reason);

    let place = service.stop().await;
    fs::write(place.picture("clips/film.mp4"), [VIDEO, b", to its end"].concat()).unwrap();
    let service = served(place, with_ffmpeg(tools.path(), &[2])).await;
    assert_eq!(service.deployment.skipped_files(service.dataset).unwrap(), []);
}

#[tokio::test]
async fn without_ffmpeg_videos_are_skipped_until_it_is_installed() {
    let service = served(place(), DeploymentSettings::default()).await;
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    let words: Vec<_> =
        skipped.iter().map(|one| (one.file.to_string(), one.reason.to_string())).collect();
    let reason = "a video: install ffmpeg and ffprobe to show its frames";
    assert_eq!(words, [("clips/film.mp4".to_owned(), reason.to_owned())]);
    assert_eq!(service.good(&service.of_dataset("")).await["n_videos"], 0);

    let place = service.stop().await;
    let tools = tempfile::tempdir().unwrap();
    let service = served(place, with_ffmpeg(tools.path(), &[2])).await;
    assert_eq!(service.good(&service.of_dataset("")).await["n_videos"], 1);
    assert_eq!(service.deployment.skipped_files(service.dataset).unwrap(), []);

    let place = service.stop().await;
    let film = fs::File::options().append(true).open(place.picture("clips/film.mp4")).unwrap();
    film.set_modified(SystemTime::now() + Duration::from_mins(1)).unwrap();
    let service = served(place, DeploymentSettings::default()).await;
    let videos = &service.good(&service.of_dataset("")).await["n_videos"];
    assert_eq!(videos, 1, "an unchanged video keeps its frames");
}
