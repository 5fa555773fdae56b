//! Checks for `tessera doctor` what local deployments need from this machine: the programs for videos and for the
//! starter model, a model, free space, and a store that can be read.

use std::process::Stdio;

use crate::cli::prelude::*;
use crate::{
    cli::{doctor_result::DoctorResult, local::model::models_document},
    subprocess,
    usecase::models::{NO_MODEL, require_model},
};
use tessera_media::ingest::disk_quota::RESERVED_BYTES;
use tessera_model::text::format_bytes;
use tessera_service::DeploymentSettings;
use tessera_store::{StoreError, sqlite};

/// Below this free space in bytes, exports and indexes of usual size may not fit.
const LITTLE_SPACE: u64 = 2 << 30;

/// Exits with 0 if Python can run the script of the starter model.
const PYTHON_CHECK: &str = "import sys, pip; sys.exit(sys.version_info < (3, 9))";

/// Checks what local deployments need. `data` is the folder of their indexes, which may not exist yet, or be unknown.
/// `model` is the setting.
pub fn check_requirements(data: Option<&Path>, model: Option<&Path>) -> Vec<DoctorResult> {
    let videos = match DeploymentSettings::detect().ffmpeg {
        Some(program) => {
            DoctorResult::passed("videos, AVIF and HEIF", program.display().to_string())
        }
        None => DoctorResult::warning(
            "videos, AVIF and HEIF",
            "skipped; install ffmpeg and ffprobe to show them",
        ),
    };
    let mut results = vec![videos];
    results.extend(check_models(model));
    if let Some(data) = data {
        results.extend(check_space(data));
        results.extend(sqlite::check_file(data).err().map(|error| store_result(&error)));
    }
    results
}

fn check_models(chosen: Option<&Path>) -> Vec<DoctorResult> {
    let names: Vec<String> = match models_document() {
        Ok(document) => {
            document.rows().filter_map(|row| row["name"].as_str().map(str::to_owned)).collect()
        }
        Err(error) => return vec![DoctorResult::warning("model", error.message)],
    };
    let chosen = chosen.filter(|name| *name != Path::new(NO_MODEL));
    let model = match chosen {
        Some(chosen) => match require_model(chosen) {
            Ok(()) => {
                let message = format!("{}, which the settings choose", chosen.display());
                DoctorResult::passed("model", message)
            }
            Err(message) => DoctorResult::failed("model", message, Exit::Usage),
        },
        None if names.is_empty() => DoctorResult::passed(
            "model",
            "none; `tessera model list --available` lists models that find pictures by words, and \
             `tessera model get NAME` gets one",
        ),
        None => {
            let names = names.join(", ");
            let message = format!("the settings choose none; `--model` and `model` take: {names}");
            DoctorResult::passed("model", message)
        }
    };
    let has_none = chosen.is_none() && names.is_empty();
    std::iter::once(model).chain(has_none.then(check_starter)).collect()
}

/// Checks the programs that make the starter model.
fn check_starter() -> DoctorResult {
    let mut missing = Vec::new();
    if !runs_python() {
        missing.push("Python 3.9 or newer with pip");
    }
    missing.extend(["apt-get", "dpkg-deb"].into_iter().filter(|it| !subprocess::is_on_path(it)));
    if missing.is_empty() {
        let message = "`tessera model get starter` can make it, because its programs are installed";
        return DoctorResult::passed("starter model", message);
    }
    let missing = missing.join(", ");
    let message = format!(
        "`tessera model get starter` cannot make it; install {missing}, or choose another model"
    );
    DoctorResult::warning("starter model", message)
}

fn runs_python() -> bool {
    let mut command = subprocess::command("python3");
    command.args(["-c", PYTHON_CHECK]).stdin(Stdio::null());
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Returns nothing if the space cannot be found out, because the folder itself is checked elsewhere.
fn check_space(data: &Path) -> Option<DoctorResult> {
    let existing = data.ancestors().find(|folder| folder.exists())?;
    tessera_files::free_space(existing).map(space_result)
}

/// Returns the result of a store that cannot be read.
fn store_result(error: &StoreError) -> DoctorResult {
    if error.is_damage() {
        let remedy = "the next command with --folder sets it aside, and indexes its datasets again";
        return DoctorResult::warning("local store", format!("the store is damaged; {remedy}"));
    }
    DoctorResult::failed("local store", error.to_string(), Exit::Failed)
}

fn space_result(free: u64) -> DoctorResult {
    let message = format!("{} are free for indexes and exports", format_bytes(free));
    if free < RESERVED_BYTES {
        let reserved = format_bytes(RESERVED_BYTES);
        let message = format!(
            "{message}, but uploads and exports leave {reserved} free; delete files, or use another disk with --data"
        );
        return DoctorResult::failed("disk", message, Exit::Failed);
    }
    let result = if free < LITTLE_SPACE { DoctorResult::warning } else { DoctorResult::passed };
    result("disk", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_space_than_the_program_reserves_fails() {
        for (free, exit) in [
            (0, Some(Exit::Failed)),
            (RESERVED_BYTES - 1, Some(Exit::Failed)),
            (RESERVED_BYTES, None),
            (LITTLE_SPACE, None),
        ] {
            assert_eq!(space_result(free).exit, exit, "{free}");
        }
        assert!(space_result(0).line().contains("; delete files"), "{}", space_result(0).line());
    }

    #[test]
    fn a_model_of_the_settings_that_is_not_there_fails() {
        let folder = tempfile::tempdir().unwrap();
        let exit = |model| check_models(Some(model))[0].exit;
        assert_eq!(exit(folder.path()), Some(Exit::Usage));
        assert_eq!(exit(Path::new(NO_MODEL)), None);
    }
}
