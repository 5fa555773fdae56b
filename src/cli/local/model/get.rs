//! `tessera model get`: downloads a model from a model hub, or makes the starter model.

use std::sync::Mutex;

use crate::{
    cli::{CliError, CliResult, Context, Exit},
    usecase::models::{ModelDownload, ModelError},
};
use tessera_model::{
    ModelPlan,
    text::{count_with_noun, format_bytes},
};

impl From<ModelError> for CliError {
    fn from(error: ModelError) -> Self {
        let exit = if error.is_usage { Exit::Usage } else { Exit::Failed };
        let found = Self::new(exit, error.message);
        error.remedy.into_iter().fold(found, Self::with_remedy)
    }
}

pub(super) async fn get(context: &Context, name: &str) -> CliResult {
    let download = ModelDownload::plan(name).await?;
    let plan = download.summary();
    for (path, bytes) in download.missing() {
        context.messages.info(format!("{:>10}  {path}", format_bytes(bytes)));
    }
    if plan.files > 0 && !context.confirm(&question(&plan), "--yes")? {
        return Err(CliError::usage("nothing was downloaded"));
    }
    let bar = Mutex::new(context.messages.progress_bar("download"));
    let progress = |bytes, all| {
        if let Ok(mut bar) = bar.lock() {
            bar.set_bytes(bytes, Some(all));
        }
    };
    download.run(&progress).await?;
    drop(bar);
    context.messages.info(format!("{name} is ready; use it with --model {name}"));
    Ok(Exit::Done)
}

fn question(plan: &ModelPlan) -> String {
    let ModelPlan { name, files, bytes, note } = plan;
    let bytes = format_bytes(*bytes);
    if note.is_empty() {
        let files = count_with_noun(*files as u64, "file", "files");
        return format!("Download {files} of {name}, {bytes} in all?");
    }
    format!("{note} {bytes} are downloaded. Make the model {name}?")
}
