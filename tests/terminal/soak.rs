//! Runs a service, commands and the interface under a mixed load for a configurable time. `/proc` is sampled for
//! everything that must not grow.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{Program, serving::Serving};

/// The pause between two rounds, because the load should be mixed rather than as high as possible.
const PAUSE: Duration = Duration::from_millis(500);
const KEYS: [&str; 16] =
    ["n", "j", "l", "\r", "\x1b", ">", "<", "t", "t", "p", "?", "\x1b", "f", "\x1b", "r", "H"];
/// What is sampled, and by how much it may grow from the first half to the end.
const LIMITS: [(&str, f64); 4] =
    [("MiB of memory", 8.0), ("descriptors", 4.0), ("threads", 4.0), ("temporary files", 4.0)];

struct SoakHome {
    home: tempfile::TempDir,
    serving: Serving,
}

impl SoakHome {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let pictures = home.path().join("pictures");
        tessera_testing::pictures::write_noise(&pictures, 60);
        let captions = (0..60).map(|number| {
            format!(
                "{{\"file_name\": \"noise-{number:04}.png\", \"caption\": \"A van {number}\"}}\n"
            )
        });
        fs::write(pictures.join("metadata.jsonl"), captions.collect::<String>()).unwrap();
        for folder in ["temporary", "exports"] {
            fs::create_dir(home.path().join(folder)).unwrap();
        }
        let serving = Serving::start(Self::command(home.path()).arg("serve").arg(&pictures));
        Self { home, serving }
    }

    fn command(home: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
        for folder in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
            command.env(folder, home);
        }
        command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
        command.env("TMPDIR", home.join("temporary")).current_dir(home);
        command.stdin(Stdio::null());
        command
    }

    /// Returns the login and the dataset as the environment of a command.
    fn login(&self) -> [(&'static str, String); 5] {
        let field = |name: &str| self.serving.field(name).to_owned();
        let dataset = self.serving.1["datasets"][0]["id"].as_str().unwrap().to_owned();
        [
            ("TESSERA_BASE_URL", field("base_url")),
            ("TESSERA_KIND", "hosted".to_owned()),
            ("TESSERA_API_KEY", field("api_key")),
            ("TESSERA_API_SECRET", field("api_secret")),
            ("TESSERA_DATASET", dataset),
        ]
    }

    fn interface(&self) -> Program {
        let login = self.login().map(|(name, value)| format!("export {name}='{value}'\n")).concat();
        let folder = self.home.path().display();
        let script = format!(
            "{login}export TMPDIR='{folder}/temporary'\nexec tessera --dataset \"$TESSERA_DATASET\""
        );
        Program::script(&script, tempfile::tempdir().unwrap())
    }

    fn run(&self, arguments: &[&str]) {
        let mut command = Self::command(self.home.path());
        let output = command.envs(self.login()).args(arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
    }

    /// Runs every kind of read, an export, and sometimes an addition.
    fn round(&self, number: u32) {
        let picture = format!("pictures/noise-{:04}.png", number % 60);
        let dataset = &self.login()[4].1;
        self.run(&["dataset", "list"]);
        self.run(&["search", "browse", "--dataset", dataset, "--json"]);
        self.run(&["search", "caption", "a van", "--dataset", dataset]);
        self.run(&["search", "image", &picture, "--dataset", dataset]);
        if number % 4 == 1 {
            let export = ["export", "start", dataset, "--format", "parquet", "--images"];
            self.run(&[&export[..], &["--download", "exports", "--force"]].concat());
        }
        if number % 40 == 20 {
            self.run(&["media", "add", dataset, "--file", &picture, "--wait"]);
            self.run(&["reindex", dataset, "--wait", "--yes"]);
        }
    }

    fn sample(&self, process: u32) -> [f64; 4] {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let field = |name: &str| -> f64 {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        };
        let count = |folder: PathBuf| {
            f64::from(u32::try_from(fs::read_dir(folder).unwrap().count()).unwrap())
        };
        [
            field("VmRSS:") / 1024.0,
            count(format!("/proc/{process}/fd").into()),
            field("Threads:"),
            count(self.home.path().join("temporary")),
        ]
    }
}

/// Returns how much a straight line through the values rises from the first to the last.
fn rise(values: &[f64]) -> f64 {
    let count = values.iter().map(|_| 1.0).sum::<f64>();
    let middle = (count - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / count;
    let (mut products, mut squares, mut at) = (0.0, 0.0, -middle);
    for value in values {
        products += at * (value - mean);
        squares += at * at;
        at += 1.0;
    }
    products / squares * (count - 1.0)
}

#[test]
fn rise_is_that_of_the_line_through_the_values() {
    for (values, expected) in
        [([5.0; 4], 0.0), ([1.0, 2.0, 3.0, 4.0], 3.0), ([4.0, 3.0, 2.0, 1.0], -3.0)]
    {
        assert!((rise(&values) - expected).abs() < 1e-9, "{values:?}");
    }
}

#[test]
#[ignore = "takes 20 minutes; docs/testing.md has the command"]
#[expect(clippy::print_stdout, reason = "it reports what it measured")]
fn mixed_load_leaves_nothing_behind() {
    let minutes = env::var("TESSERA_SOAK_MINUTES").map_or(20, |text| text.parse().unwrap());
    let fixture = SoakHome::new();
    let dataset = fixture.login()[4].1.clone();
    fixture.run(&["dataset", "wait", &dataset, "--until", "READY"]);
    let mut interface = fixture.interface();
    interface.wait_for("▀");
    let processes = [("service", fixture.serving.0.id()), ("interface", interface.process_id())];
    let mut samples = [Vec::new(), Vec::new()];
    let start = Instant::now();
    let mut round = 0;
    while start.elapsed() < Duration::from_mins(minutes) {
        fixture.round(round);
        for key in KEYS {
            interface.press(key);
        }
        for ((_, process), samples) in processes.iter().zip(&mut samples) {
            samples.push(fixture.sample(*process));
        }
        round += 1;
        thread::sleep(PAUSE);
    }
    println!("{round} rounds in {minutes} minutes");
    let mut grown = Vec::new();
    for ((name, _), samples) in processes.iter().zip(&samples) {
        for (column, (what, limit)) in LIMITS.iter().enumerate() {
            let values: Vec<f64> = samples.iter().map(|sample| sample[column]).collect();
            let rise = rise(&values[values.len() / 2..]);
            let (first, last) = (values[0], values[values.len() - 1]);
            let line = format!(
                "{name}: {what} {first:.1} to {last:.1}, rise in the second half {rise:.1}"
            );
            println!("{line}");
            if rise > *limit {
                grown.push(line);
            }
        }
    }
    assert!(grown.is_empty(), "{grown:#?}");
    interface.signal("TERM");
    interface.wait();
}
