//! Tests disks that do not offer everything: no locks, no hard links, or no sync of folders. The errors of such disks
//! are injected into the system calls of the real binary. The tests are skipped if they cannot be injected.

use std::{fs, path::Path, process::Command};

use serde_json::json;
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

use super::{
    durability::{can_trace, traced_with},
    outcome, picture, started, tessera,
};

const ID: &str = "ad48d250-0000-11f1-bfca-000000000001";
const TASK: &str = "33333333-3333-4333-8333-333333333333";

/// Wraps a command so that these system calls fail with an error.
fn failing(command: &Command, calls: &[(&str, &str)]) -> Command {
    let names: Vec<&str> = calls.iter().map(|(names, _)| *names).collect();
    let mut options = vec!["-qq".to_owned(), "-e".to_owned(), format!("trace={}", names.join(","))];
    for (names, error) in calls {
        options.extend(["-e".to_owned(), format!("inject={names}:error={error}")]);
    }
    traced_with(command, &options, Path::new("/dev/null"))
}

fn archive() -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file("metadata.json", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut archive, b"[]").unwrap();
    archive.finish().unwrap().into_inner()
}

async fn service() -> ScriptedServer {
    let archive = archive();
    ScriptedServer::start(move |seen: &ReceivedRequest| {
        let path = seen.path();
        if path.ends_with("/export.zip") {
            Reply::new(200, &[], &archive)
        } else if path.ends_with("async") {
            Reply::json(json!({ "id": TASK }).to_string())
        } else if path.ends_with("export_status") {
            Reply::json(
                json!({ "status": "COMPLETED", "download_uri": "/x/export.zip" }).to_string(),
            )
        } else {
            let record = json!({ "id": ID, "display_name": "dash", "status_new": "READY" });
            Reply::json(record.to_string())
        }
    })
    .await
}

fn download(server: &ScriptedServer, home: &Path) -> Command {
    let _ = fs::remove_file(home.join("dash.zip"));
    let start = ["export", "start", ID, "--format", "json", "--wait", "--download"];
    let mut command = tessera(home, &[&start[..], &[home.to_str().unwrap()]].concat());
    command.env("TESSERA_BASE_URL", server.url()).env("TESSERA_KIND", "onprem");
    command
}

const NO_LINKS: &[(&str, &str)] = &[("renameat2", "EINVAL"), ("link,linkat", "EPERM")];

#[tokio::test(flavor = "multi_thread")]
async fn downloads_and_jobs_work_on_every_disk() {
    if !can_trace() {
        return;
    }
    let server = service().await;
    let home = tempfile::tempdir().unwrap();
    for (calls, warning) in [
        (&[("flock", "ENOSYS")][..], "no file locks"),
        (&[("flock", "ENOLCK")], "no file locks"),
        (&[("flock", "EOPNOTSUPP")], "no file locks"),
        (&[("fsync,fdatasync", "EINVAL")], "cannot sync folders"),
        (&[("fsync,fdatasync", "EOPNOTSUPP")], "cannot sync folders"),
        (NO_LINKS, ""),
        (&[("renameat2", "EINVAL"), ("link,linkat", "EROFS")], ""),
        (&[("renameat2", "EINVAL"), ("link,linkat", "EIO")], ""),
        (&[("statfs,fstatfs", "ENOSYS")], ""),
        (&[("statfs,fstatfs", "EPERM")], ""),
        (&[], ""),
    ] {
        let command = download(&server, home.path());
        let (code, _, err) = match calls {
            [] => outcome(&mut { command }),
            calls => outcome(&mut failing(&command, calls)),
        };
        assert_eq!(code, 0, "{calls:?}: {err}");
        assert!(home.path().join("dash.zip").is_file(), "{calls:?}: {err}");
        assert_eq!(err.contains("warning"), !warning.is_empty(), "{calls:?}: {err}");
        assert!(err.contains(warning), "{calls:?}: {err}");
    }
    let mut list = tessera(home.path(), &["jobs", "list"]);
    list.env("TESSERA_BASE_URL", server.url()).env("TESSERA_KIND", "onprem");
    let (code, out, err) = outcome(&mut failing(&list, &[("flock", "ENOSYS")]));
    assert_eq!((code, out.lines().count()), (0, 11), "{err}{out}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_existing_file_is_kept_without_hard_links() {
    if !can_trace() {
        return;
    }
    let server = service().await;
    let home = tempfile::tempdir().unwrap();
    let command = download(&server, home.path());
    fs::write(home.path().join("dash.zip"), "mine").unwrap();
    let (code, _, err) = outcome(&mut failing(&command, NO_LINKS));
    assert!(code != 0 && err.contains("already exists"), "{err}");
    assert_eq!(fs::read_to_string(home.path().join("dash.zip")).unwrap(), "mine");
}

#[test]
fn an_index_folder_and_settings_work_on_a_disk_without_locks() {
    if !can_trace() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("pictures");
    fs::create_dir(&folder).unwrap();
    picture(&folder.join("a.png"));
    let serve = tessera(home.path(), &["serve", folder.to_str().unwrap(), "--no-auth"]);
    let serving = started(failing(&serve, &[("flock", "ENOLCK")]));
    assert_eq!(serving.indexed()["status_new"], "READY");
    drop(serving);
    let weak = [("flock", "ENOLCK"), ("fsync", "EINVAL")];
    let set = tessera(home.path(), &["config", "set", "ui.theme", "light"]);
    let (code, _, err) = outcome(&mut failing(&set, &weak));
    assert_eq!(code, 0, "{err}");
    let (code, out, err) =
        outcome(&mut failing(&tessera(home.path(), &["doctor", "--offline"]), &weak));
    assert!(
        out.contains("no file locks") && out.contains("cannot sync folders"),
        "{code} {err}{out}"
    );
}

/// A disk of another user or behind FUSE may refuse times, reserving renames and hard links.
#[test]
fn files_are_copied_to_a_disk_that_refuses_times_and_links() {
    if !can_trace() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("pictures");
    fs::create_dir(&folder).unwrap();
    picture(&folder.join("a.png"));
    let filter = r#"[{"name":{"op":"contains","value":"png"}}]"#;
    for (position, calls) in [
        &[("utimensat", "EPERM")][..],
        &[("utimensat", "ENOSYS")],
        &[("renameat2", "EPERM"), ("link,linkat", "EPERM")],
        &[("renameat2", "EINVAL"), ("link,linkat", "EMLINK")],
        &[("renameat2", "EINVAL"), ("link,linkat", "EROFS")],
    ]
    .into_iter()
    .enumerate()
    {
        let target = home.path().join(format!("copies-{position}"));
        let [from, to] = [&folder, &target].map(|path| path.to_str().unwrap());
        let arguments = ["--folder", from, "media", "copy", "--vql", filter, "--to", to, "--yes"];
        let (code, _, err) = outcome(&mut failing(&tessera(home.path(), &arguments), calls));
        assert_eq!(code, 0, "{calls:?}: {err}");
        assert_eq!(
            fs::read(target.join("a.png")).unwrap(),
            fs::read(folder.join("a.png")).unwrap()
        );
    }
}
