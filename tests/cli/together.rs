//! Tests several programs on one index folder: they see the same datasets and tasks, and none of them depends on
//! another one that is stopped or killed.

use std::{
    collections::BTreeSet,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use reqwest::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{
    Serving, home,
    kill::random,
    outcome, picture_folder, run, serve,
    served_folder::{BATCH, PICTURES, ServedFolder, batch},
    tessera,
};

/// The number of starts and kills, unless `TESSERA_TOGETHER_ROUNDS` gives another one.
const ROUNDS: u64 = 200;
/// The time after which everything must work again when a process was killed.
const RECOVERY: Duration = Duration::from_secs(10);

#[test]
fn other_folders_and_the_same_one_are_open_at_the_same_time() {
    let (home, folder) = home();
    let other = picture_folder(home.path(), "other", &["b.png"]);
    let folder = folder.to_str().unwrap();
    let first = serve(home.path(), &[folder, "--no-auth"]);
    let second = serve(home.path(), &[other.to_str().unwrap(), "--no-auth"]);
    assert_ne!(first.1["base_url"], second.1["base_url"]);
    let add = ["profile", "add", "here", "--kind", "local", "--folder", folder];
    let (code, _, err) = run(home.path(), &add);
    assert_eq!(code, 0, "{err}");
    let names = |command: &mut std::process::Command| {
        let (code, out, err) = outcome(command);
        assert_eq!(code, 0, "{err}");
        let mut names: Vec<String> = out.lines().map(str::to_owned).collect();
        names.sort();
        names
    };
    let list = ["dataset", "list", "--jq", ".datasets[].display_name"];
    for (serving, offered) in [(&first, "pictures"), (&second, "other")] {
        assert_eq!(names(&mut serving.asked(home.path(), &list)), [offered]);
    }
    let in_process = [&["--profile", "here"], &list[..]].concat();
    assert_eq!(names(&mut tessera(home.path(), &in_process)), ["other", "pictures"]);
}

#[tokio::test]
async fn another_process_takes_over_the_tasks_of_a_killed_one() {
    let mut served = ServedFolder::started_by(|home| {
        let path = |name: &str| home.join(name).to_str().unwrap().to_owned();
        serve(home, &[&path("pictures"), "--data", &path("data")])
    })
    .await;
    let mut runner = other_service(&served);
    // The first process runs the tasks. It is killed while the other one accepts an addition.
    served.swap_service(&mut runner);
    served.post("add_media", Some(batch(0))).await;
    drop(runner);
    let killed = Instant::now();
    let record = served.until(|record| record["status_new"] == "PARTIAL INDEX").await;
    assert_eq!(record["n_images"], PICTURES + BATCH, "{record}");
    assert!(killed.elapsed() < RECOVERY, "{:?}", killed.elapsed());
}

fn other_service(served: &ServedFolder) -> Serving {
    let path = |name: &str| served.home.path().join(name).to_str().unwrap().to_owned();
    serve(served.home.path(), &[&path("pictures"), "--data", &path("data")])
}

/// A process that is started and ended by the rounds.
enum Slot {
    Empty,
    Service(Serving),
    Command(Child),
}

impl Slot {
    /// Ends the process by a kill, or in the usual way.
    fn end(self, is_killed: bool) {
        let mut child = match self {
            Self::Empty => return,
            Self::Service(Serving(..)) if is_killed => return,
            Self::Service(ref serving) => {
                let _ = kill_process(Pid::from_child(&serving.0), Signal::TERM);
                return drop_when_ended(self);
            }
            Self::Command(child) => child,
        };
        if is_killed {
            // The command may have ended already.
            let _ = child.kill();
        }
        child.wait().unwrap();
    }
}

/// Waits for a service that was asked to end.
fn drop_when_ended(slot: Slot) {
    if let Slot::Service(mut serving) = slot {
        serving.0.wait().unwrap();
    }
}

/// Starts a command on the same folder, with a service of its own.
fn command(served: &ServedFolder, round: u64) -> Child {
    let archive = format!("a{round}");
    let export = ["export", "start", "--format", "json", "--name", &archive, "--wait"];
    let words: &[&str] = match random(round, 2, 3) {
        0 => &["dataset", "list"],
        1 => &["search", "clusters"],
        _ => &export,
    };
    let mut command = tessera(served.home.path(), &[&["--profile", "here"], words].concat());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

struct Rounds {
    served: ServedFolder,
    slots: [Slot; 5],
    expected: BTreeSet<String>,
    additions: u32,
}

impl Rounds {
    /// Starts a process, or ends one.
    fn change(&mut self, round: u64) {
        let number = random(round, 1, 6);
        let is_killed = random(round, 3, 3) > 0;
        let Some(slot) = self.slots.get_mut(usize::try_from(number).unwrap()) else {
            return self.served.kill();
        };
        *slot = match std::mem::replace(slot, Slot::Empty) {
            Slot::Empty if number < 3 => Slot::Service(other_service(&self.served)),
            Slot::Empty => Slot::Command(command(&self.served, round)),
            running => {
                running.end(is_killed);
                Slot::Empty
            }
        };
    }

    /// Adds a batch, unless the dataset does not accept one at the moment.
    async fn add(&mut self) {
        let path = format!("/dataset/{}/add_media", self.served.dataset());
        let (round, request) = (self.additions, self.served.request(Method::POST, &path));
        let response = request.multipart(batch(round)).send().await.unwrap();
        if response.status() == 202 {
            self.additions += 1;
            self.expected.extend((0..BATCH).map(|n| format!("r{round}_{n:03}.png")));
        } else {
            assert_eq!(response.status(), 409, "{}", response.text().await.unwrap());
        }
    }
}

#[tokio::test]
async fn nothing_is_lost_or_stuck_when_six_processes_start_and_end_in_any_order() {
    let rounds = std::env::var("TESSERA_TOGETHER_ROUNDS").map_or(ROUNDS, |it| it.parse().unwrap());
    let served = ServedFolder::started_by(|home| {
        let path = |name: &str| home.join(name).to_str().unwrap().to_owned();
        // The commands use the default index folder.
        for folder in ["data", "tessera"] {
            std::fs::create_dir(home.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(home.join("data"), home.join("tessera/local")).unwrap();
        let folder = path("pictures");
        let add = ["profile", "add", "here", "--kind", "local", "--folder", &folder];
        assert_eq!(run(home, &add).0, 0);
        serve(home, &[&folder, "--data", &path("data")])
    })
    .await;
    let expected = (0..PICTURES).map(|n| format!("p{n:03}.png")).collect();
    let mut rounds_state =
        Rounds { served, slots: [const { Slot::Empty }; 5], expected, additions: 0 };
    for round in 0..rounds {
        rounds_state.change(round);
        if round % 8 == 0 {
            rounds_state.add().await;
        }
        let begun = Instant::now();
        rounds_state.served.record().await;
        assert!(begun.elapsed() < RECOVERY, "round {round}: {:?}", begun.elapsed());
    }
    let Rounds { served, slots, expected, .. } = rounds_state;
    for slot in slots {
        slot.end(true);
    }
    let is_idle = |record: &serde_json::Value| {
        ["READY", "PARTIAL INDEX"].iter().any(|it| record["status_new"] == *it)
    };
    let record = served.until(is_idle).await;
    if record["status_new"] == "PARTIAL INDEX" {
        served.post("reindex", None).await;
        served.until(|record| record["status_new"] == "READY").await;
    }
    assert_eq!(served.names().await, expected);
    assert_eq!(served.record().await["fatal_error_msg"], json!(null));
    let data = std::fs::read_dir(served.home.path().join("data")).unwrap();
    let names: Vec<String> =
        data.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|name| name.starts_with("set-aside")), "{names:?}");
}
