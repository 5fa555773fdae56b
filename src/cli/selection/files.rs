//! `tessera selection import` and `export`.

use std::path::{Path, PathBuf};

use super::store::{SelectionStore, count_entries};
use crate::{
    cli::{CliError, CliResult, Context, Exit, read_file_or_stdin},
    state,
};
use tessera_model::SafeText;

pub(super) fn import(context: &Context, store: &SelectionStore, from: &Path) -> CliResult {
    let selection = state::read_selection(&read_file_or_stdin(from)?, store.dataset)
        .map_err(|reason| CliError::new(Exit::Invalid, format!("{}: {reason}", from.display())))?;
    let replaced = match store.load_or_default()?.len() {
        0 => String::new(),
        before => format!(", replacing {}", count_entries(before)),
    };
    store.save(&selection)?;
    context.messages.info(format!("{}{replaced}", count_entries(selection.len())));
    Ok(Exit::Done)
}

pub(super) fn export(context: &Context, store: &SelectionStore, to: PathBuf) -> CliResult {
    let selection = store.load()?;
    if to.as_os_str() == "-" {
        let document = state::write_selection(store.dataset, &selection);
        return context.out.print_json(&document).map(|()| Exit::Done);
    }
    let file = state::save_selection(to, store.dataset, &selection)?;
    let file = SafeText::file_name(&file.to_string_lossy());
    context.messages.info(format!("{} in {file}", count_entries(selection.len())));
    Ok(Exit::Done)
}
