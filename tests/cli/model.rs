//! Tests `tessera model`, and `--model` of the commands with a local deployment.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tessera_encoder::Encoder;
use tessera_testing::{
    loopback_hub::{HubFault, LoopbackHub},
    scripts::write_script,
    tiny_model::{ModelFolder, OPPOSITE_COLORS, OWN_COLORS},
};

use super::{Serving, documents::assert_described, outcome, picture_folder, run, started, tessera};

fn check(folder: &Path, more: &[&str]) -> (i32, String, String) {
    let home = tempfile::tempdir().unwrap();
    run(home.path(), &[&["model", "check", folder.to_str().unwrap()], more].concat())
}

#[test]
fn check_shows_what_was_found_and_tests_it() {
    for (folder, kind, labels) in [
        (ModelFolder::clip(), "image and text encoder", 0),
        (ModelFolder::siglip(), "image and text encoder", 0),
        (ModelFolder::classifier(), "classifier", 3),
        (ModelFolder::tokens(), "image encoder", 0),
    ] {
        let (code, out, err) = check(folder.path(), &["--json"]);
        assert_eq!(code, 0, "{err}");
        assert_described(&out);
        let found: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&found["kind"], &found["labels"]), (&json!(kind), &json!(labels)));
        assert!(found["distance"].as_f64().unwrap() > 0.1, "{found}");
        assert_eq!(found["ms_per_text"].is_null(), !kind.contains("text"));
        let (code, out, _) = check(folder.path(), &[]);
        assert_eq!(code, 0);
        for words in [kind, "onnx", "stretched to 8x8, bilinear", "self-test", "per picture"] {
            assert!(out.contains(words), "{out} does not contain {words}");
        }
    }
}

#[test]
fn check_names_defaults_and_refuses_unusable_folders() {
    let bare = ModelFolder::clip().without("preprocessor_config.json").without("config.json");
    let (code, out, _) = check(bare.path(), &["--json"]);
    let found: Value = serde_json::from_str(&out).unwrap();
    let defaults = found["defaults"].to_string();
    assert_eq!(code, 0);
    assert!(defaults.contains("preprocessor_config.json is missing; taken: shorter side 8"));
    for (folder, code, words) in [
        (ModelFolder::empty(), 2, "has neither onnx/vision_model.onnx nor onnx/model.onnx; give"),
        (ModelFolder::clip().without("tokenizer.json"), 2, "tokenizer.json is missing, without"),
        (ModelFolder::blind(), 1, "the same vector for two different pictures"),
    ] {
        let (found, out, err) = check(folder.path(), &[]);
        assert_eq!((found, out.as_str()), (code, ""), "{err}");
        assert!(err.contains(words), "{err}");
    }
    let hostile =
        ModelFolder::empty().with_json("onnx/vision_model.onnx", &json!("\u{1b}]0;title\u{7}"));
    let (code, _, err) = check(hostile.path(), &[]);
    assert!(code == 2 && !err.contains('\u{1b}'), "{err:?}");
}

#[test]
fn check_shows_the_labels_of_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (name, color) in [("red.png", [255, 0, 0]), ("gray.png", [128; 3])] {
        image::RgbImage::from_pixel(20, 20, image::Rgb(color)).save(path(name)).unwrap();
    }
    fs::write(path("broken.png"), "nothing").unwrap();
    let model = ModelFolder::classifier();
    let (code, out, err) = check(model.path(), &[&path("red.png"), &path("gray.png"), "--json"]);
    assert_eq!(code, 0, "{err}");
    assert_described(&out);
    let found: Value = serde_json::from_str(&out).unwrap();
    let labels = [&found["pictures"][0]["label"], &found["pictures"][1]["label"]];
    assert_eq!(labels, [&json!("red"), &Value::Null]);
    let (_, out, _) = check(model.path(), &[&path("red.png"), &path("gray.png")]);
    assert!(out.contains("red (confidence") && out.contains("no label is certain"), "{out}");
    let (code, _, err) = check(model.path(), &[&path("broken.png")]);
    assert!(code == 2 && err.contains("broken.png"), "{code} {err}");
}

#[test]
fn an_added_model_is_used_by_name_without_its_original() {
    let home = tempfile::tempdir().unwrap();
    let model = ModelFolder::classifier();
    let folder = model.path().to_str().unwrap().to_owned();
    let tessera = |arguments: &[&str]| run(home.path(), &[&["model"], arguments].concat());
    let (code, _, err) = tessera(&["add", &folder, "--name", "colors"]);
    assert!(code == 0 && err.contains("--model colors"), "{err}");
    drop(model);
    let (code, out, err) = tessera(&["list", "--json"]);
    assert_eq!(code, 0, "{err}");
    assert_described(&out);
    let listed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(listed["models"][0]["name"], "colors");
    assert!(listed["models"][0]["bytes"].as_u64().unwrap() > 100, "{listed}");
    let (code, out, err) = tessera(&["check", "colors"]);
    assert!(code == 0 && out.contains("classifier"), "{err}");
    assert_eq!(tessera(&["remove", "colors"]).0, 0);
    assert_eq!(tessera(&["check", "colors"]).0, 2);
    let (code, _, err) = tessera(&["remove", "colors"]);
    assert!(code != 0 && err.contains("unknown model"), "{err}");
}

#[test]
fn a_model_is_added_only_if_it_works_and_its_name_is_free() {
    let home = tempfile::tempdir().unwrap();
    let add = |model: &ModelFolder, name: &str| {
        run(home.path(), &["model", "add", model.path().to_str().unwrap(), "--name", name])
    };
    let (code, _, err) = add(&ModelFolder::blind(), "blind");
    assert!(code == 1 && err.contains("the same vector"), "{err}");
    let (code, _, err) = add(&ModelFolder::clip(), "../clip");
    assert!(code == 2 && err.contains("a model name has"), "{err}");
    let mut both = thread::scope(|scope| {
        let adding = [(); 2].map(|()| scope.spawn(|| add(&ModelFolder::clip(), "clip").0));
        adding.map(|it| it.join().unwrap())
    });
    both.sort_unstable();
    assert_eq!(both, [0, 2], "only one of two programs adds the name");
    let (code, _, err) = add(&ModelFolder::siglip(), "clip");
    assert!(code == 2 && err.contains("tessera model remove clip"), "{err}");
    let (_, out, _) = run(home.path(), &["model", "list"]);
    assert!(out.contains("clip") && !out.contains("blind") && !out.contains("partial"), "{out}");
    let (_, out, _) = run(home.path(), &["doctor", "--offline"]);
    assert!(out.contains("take: clip") && !out.contains("starter model"), "{out}");
}

#[test]
fn a_model_of_the_settings_is_used_and_its_defaults_are_printed() {
    let home = tempfile::tempdir().unwrap();
    let photos = picture_folder(home.path(), "photos", &["a.png"]);
    let model = ModelFolder::clip().without("preprocessor_config.json");
    let config = home.path().join("config.toml");
    fs::write(&config, format!("model = {:?}", model.path().to_str().unwrap())).unwrap();
    let serve = ["serve", "--no-auth", "--config", config.to_str().unwrap()];
    let serving =
        started(tessera(home.path(), &[&serve[..], &[photos.to_str().unwrap()]].concat()));
    serving.indexed();
    let dataset = serving.1["datasets"][0]["id"].as_str().unwrap();
    let (status, found) = serving.ask("GET", &format!("/api/v1/enrichment/{dataset}/context"));
    let models = &found["dataset_enrichment_models"]["enrichment_models"];
    assert_eq!((status, &models["MULTIMODEL_IMAGE_ENCODING"]["id"]), (200, &json!("own-model")));
    drop(serving);
    let mut command = tessera(home.path(), &["serve", photos.to_str().unwrap()]);
    let (code, _, err) = outcome(command.env("TESSERA_MODEL", home.path().join("none")));
    assert!(code == 2 && err.contains("does not exist; check the path"), "{err}");
}

/// Serves a tiny model as a hub does, with external weights that are not named after their model.
fn hub(fault: HubFault) -> LoopbackHub {
    let model = ModelFolder::external("colors.data", OWN_COLORS, None);
    let mut files = Vec::new();
    for path in ["config.json", "preprocessor_config.json", "tokenizer.json", "onnx"] {
        let path = model.path().join(path);
        let inside: Vec<_> = match fs::read_dir(&path) {
            Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
            Err(_) => vec![path],
        };
        for path in inside.into_iter().filter(|path| path.is_file()) {
            let name = path.strip_prefix(model.path()).unwrap().to_str().unwrap().to_owned();
            files.push((name, fs::read(&path).unwrap()));
        }
    }
    files.push(("pytorch_model.bin".to_owned(), vec![1; 5_000]));
    files.push(("run.py".to_owned(), b"print()".to_vec()));
    LoopbackHub::new(files, fault)
}

fn with_hub(home: &Path, hub: &LoopbackHub, arguments: &[&str]) -> (i32, String, String) {
    let mut command = tessera(home, arguments);
    command.env("HF_ENDPOINT", hub.endpoint()).env("HF_HOME", home.join("hf"));
    outcome(&mut command)
}

#[test]
fn a_model_of_a_hub_is_downloaded_after_a_confirmation_and_used_by_its_name() {
    let home = tempfile::tempdir().unwrap();
    let hub = hub(HubFault::None);
    let run = |arguments: &[&str]| with_hub(home.path(), &hub, arguments);
    let (code, _, err) = run(&["model", "get", "org/tiny"]);
    assert!(code == 2 && err.contains("Download") && err.contains("--yes"), "{err}");
    assert!(!home.path().join("hf/hub/models--org--tiny/blobs").exists());
    let (code, _, err) = run(&["model", "get", "org/tiny", "--yes"]);
    assert!(code == 0 && err.contains("use it with --model org/tiny"), "{err}");
    let unwanted = |path: &str| path.contains("pytorch_model") || path.contains("run.py");
    assert!(!hub.requests().iter().any(|request| unwanted(&request.path)));
    // A folder of the same name in the working directory is not meant.
    fs::create_dir_all(home.path().join("org/tiny")).unwrap();
    let mut command = tessera(home.path(), &["model", "check", "org/tiny", "--json"]);
    command.current_dir(home.path());
    let (code, out, err) = outcome(command.env("HF_HOME", home.path().join("hf")));
    assert!(code == 0 && out.contains("image and text encoder"), "{err}");
    let mut offline = tessera(home.path(), &["model", "get", "org/tiny"]);
    offline.env("HF_HOME", home.path().join("hf"));
    let (code, _, err) = outcome(offline.env("HF_HUB_OFFLINE", "1"));
    assert!(code == 0 && err.contains("org/tiny is ready"), "{err}");
}

#[test]
fn a_downloaded_model_is_listed_kept_and_used_without_its_hub() {
    let home = tempfile::tempdir().unwrap();
    let get = ["model", "get", "org/tiny", "--yes"];
    let hub = hub(HubFault::None);
    let run = |arguments: &[&str]| with_hub(home.path(), &hub, arguments);
    let (code, _, err) = run(&get);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = run(&["model", "list", "--jq", ".models[].name"]);
    assert_eq!((code, out.as_str()), (0, "org/tiny\n"), "{err}");
    let (code, _, err) = run(&["model", "remove", "org/tiny"]);
    let folder = home.path().join("hf/hub/models--org--tiny/snapshots");
    assert!(code == 2 && err.contains(folder.to_str().unwrap()), "{err}");
    let mut unreachable = tessera(home.path(), &get);
    unreachable.env("HF_HOME", home.path().join("hf"));
    let (code, _, err) = outcome(unreachable.env("HF_ENDPOINT", "http://127.0.0.1:9"));
    assert!(code == 0 && err.contains("the files of the last download are used"), "{err}");
    let mut missing = tessera(home.path(), &["model", "get", "org/other", "--yes"]);
    missing.env("HF_HOME", home.path().join("hf"));
    let (code, _, err) = outcome(missing.env("HF_ENDPOINT", "http://127.0.0.1:9"));
    assert!(code == 3 && err.contains("cannot reach the hub"), "{err}");
}

#[test]
fn each_refusal_of_a_hub_has_its_exit_code() {
    let home = tempfile::tempdir().unwrap();
    for (fault, exit, words) in
        [(HubFault::Gated, 4, "without a token"), (HubFault::BusyAlways, 3, "the hub asks to wait")]
    {
        let get = ["model", "get", "org/tiny", "--yes"];
        let (code, _, err) = with_hub(home.path(), &hub(fault), &get);
        assert!(code == exit && err.contains(words), "{code}: {err}");
    }
}

#[test]
fn a_repository_without_onnx_names_where_it_was_searched() {
    let home = tempfile::tempdir().unwrap();
    let files = vec![("model.safetensors".to_owned(), vec![1; 10])];
    let hub = LoopbackHub::new(files, HubFault::None);
    let (code, _, err) = with_hub(home.path(), &hub, &["model", "get", "org/tiny", "--yes"]);
    assert_eq!(code, 2, "{err}");
    for words in ["onnx/vision_model.onnx", "model.onnx", "tessera model list --available"] {
        assert!(err.contains(words), "{err}");
    }
    let (code, _, err) = with_hub(home.path(), &hub, &["model", "get", "tiny", "--yes"]);
    assert!(code == 2 && err.contains("is not the name of a repository"), "{err}");
}

#[test]
fn the_models_that_can_be_had_are_listed() {
    let home = tempfile::tempdir().unwrap();
    let (code, out, err) = run(home.path(), &["model", "list", "--available", "--json"]);
    assert_eq!(code, 0, "{err}");
    assert_described(&out);
    let listed: Value = serde_json::from_str(&out).unwrap();
    let models = listed["models"].as_array().unwrap();
    assert_eq!(models[0]["name"], "starter");
    for model in &models[1..] {
        assert_eq!(model["tried"], "not tried here with real weights");
    }
}

#[test]
fn the_starter_model_says_what_it_needs() {
    let home = tempfile::tempdir().unwrap();
    let (code, _, err) = run(home.path(), &["model", "get", "starter"]);
    assert_eq!(code, 2);
    for words in ["Python 3.9", "apt-get", "41.0 MiB", "--yes"] {
        assert!(err.contains(words), "{err}");
    }
    let mut command = tessera(home.path(), &["model", "get", "starter", "--yes"]);
    command.env("PATH", home.path());
    let (code, _, err) = outcome(&mut command);
    assert!(code == 1 && err.contains("cannot run python3"), "{err}");
}

/// A `python3` that downloads for ten minutes in a process of its own, as pip does.
const SLOW_PYTHON: &str = r#"[ "$3" = --packages ] && [ "$TMPDIR" = "$4" ] || exit 9
/bin/sleep 600 &
echo $! > "$4/part"
/bin/mv "$4/part" "$HOME/downloading"
wait"#;

#[test]
fn a_stopped_starter_model_leaves_no_download_running() {
    let home = tempfile::tempdir().unwrap();
    let python = home.path().join("python3");
    write_script(&python, SLOW_PYTHON);
    let mut command = tessera(home.path(), &["model", "get", "starter", "--yes"]);
    command.env("PATH", home.path());
    let mut running = command.spawn().unwrap();
    let begun = Instant::now();
    let download = loop {
        if let Ok(id) = fs::read_to_string(home.path().join("downloading")) {
            break id.trim().to_owned();
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "nothing is downloaded");
        thread::sleep(Duration::from_millis(20));
    };
    let command_of = |id: &str| fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    assert!(command_of(&download).starts_with(b"/bin/sleep"));
    kill_process(Pid::from_child(&running), Signal::INT).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(130));
    assert_eq!(command_of(&download), b"", "the download goes on");
}

#[test]
fn external_weights_of_any_name_belong_to_the_model() {
    let home = tempfile::tempdir().unwrap();
    let model = ModelFolder::external("colors.data", OWN_COLORS, None);
    let add = |name: &str| {
        run(home.path(), &["model", "add", model.path().to_str().unwrap(), "--name", name])
    };
    let (code, _, err) = add("own");
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = run(home.path(), &["model", "check", "own"]);
    assert_eq!(code, 0, "the weights were copied: {err}");
    fs::remove_file(model.path().join("onnx/colors.data")).unwrap();
    let (code, _, err) = add("other");
    assert!(code == 2 && err.contains("its weights colors.data are missing"), "{err}");
}

#[test]
fn a_length_of_weights_that_no_file_has_is_refused() {
    let model = ModelFolder::external("colors.data", OWN_COLORS, Some(1 << 44));
    let (code, _, err) = check(model.path(), &[]);
    assert!(code == 2 && err.contains("colors.data are shorter than it states"), "{err}");
}

/// A field of a message that states a length.
fn stated(field: u8, length: u64) -> Vec<u8> {
    let mut bytes = vec![field << 3 | 2];
    let mut rest = length;
    while rest >= 0x80 {
        bytes.push(rest.to_le_bytes()[0] | 0x80);
        rest >>= 7;
    }
    bytes.push(rest.to_le_bytes()[0]);
    bytes
}

#[test]
fn a_length_that_the_file_does_not_have_is_refused() {
    const HUGE: u64 = 1 << 45;
    let model = ModelFolder::external("colors.data", OWN_COLORS, None);
    let path = model.path().join("onnx/vision_model.onnx");
    let whole = fs::read(&path).unwrap();
    let nested = |fields: &[u8]| {
        fields.iter().rev().fold(Vec::new(), |inner: Vec<u8>, field| {
            let length = if inner.is_empty() { HUGE } else { inner.len() as u64 };
            [stated(*field, length), inner].concat()
        })
    };
    // The producer, the key of metadata, and in the graph the name of a node, and names and values of tensors.
    for fields in [&[2][..], &[14, 1], &[7, 1, 3], &[7, 5, 9], &[7, 1, 5, 5, 8]] {
        fs::write(&path, [&whole[..], &nested(fields)].concat()).unwrap();
        let (code, _, err) = check(model.path(), &[]);
        assert!(
            code == 2 && err.contains("is not a usable ONNX model"),
            "{fields:?}: {code} {err}"
        );
    }
}

#[test]
fn other_weights_make_another_model() {
    let fingerprint = |weights| {
        let model = ModelFolder::external("colors.data", weights, None);
        Encoder::load(model.path()).unwrap().fingerprint()
    };
    assert_eq!(fingerprint(OWN_COLORS), fingerprint(OWN_COLORS));
    assert_ne!(fingerprint(OWN_COLORS), fingerprint(OPPOSITE_COLORS));
}

/// Returns how many media the service has encoded, and how many it encodes, once `is_met`.
fn encoding(serving: &Serving, is_met: impl Fn(u64) -> bool) -> (u64, u64) {
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < Duration::from_mins(1), "nothing is encoded");
        let (status, local) = serving.ask("GET", "/local/dataset/{id}");
        assert_eq!(status, 200, "{local}");
        let number = |key: &str| local["encoding"][key].as_u64();
        if let (Some(done), Some(total)) = (number("done"), number("total"))
            && is_met(done)
        {
            return (done, total);
        }
    }
}

#[test]
fn encoding_continues_where_a_kill_ended_it() {
    const PICTURES: u32 = 1_000;
    let home = tempfile::tempdir().unwrap();
    let photos = home.path().join("photos");
    tessera_testing::pictures::write_noise(&photos, PICTURES);
    let model = ModelFolder::clip();
    let start = || {
        let options = ["serve", "--no-auth", "--model", model.path().to_str().unwrap()];
        started(tessera(home.path(), &[&options[..], &[photos.to_str().unwrap()]].concat()))
    };
    let mut serving = start();
    let (done, total) = encoding(&serving, |done| done >= 64);
    assert_eq!(total, u64::from(PICTURES));
    serving.0.kill().unwrap();
    serving.0.wait().unwrap();
    drop(serving);
    let serving = start();
    let (_, rest) = encoding(&serving, |_| true);
    // A batch of 32 pictures is stored at a time.
    assert!(rest <= total - (done - 32), "{rest} of {total} after {done}");
    assert_eq!(serving.indexed()["n_images"], PICTURES);
    let (_, local) = serving.ask("GET", "/local/dataset/{id}");
    assert_eq!(local["encoding"], Value::Null);
}
