//! `tessera search anchor`: searches by an anchor again. An uploaded anchor is valid only for the
//! entity and granularity it was registered with, which the search history knows.

use super::options::SearchOptions;
use crate::cli::{CliError, CliResult, Connection};
use tessera_model::{Anchor, AnchorKind, HistoryEntry, Query, SafeText, Search, ShellCommand};

/// Searches by `anchor`. The options may not contradict its registration.
pub fn search_by_anchor(
    connection: &Connection<'_>,
    anchor: Anchor,
    search: Search,
    options: &SearchOptions,
) -> CliResult<HistoryEntry> {
    let search = Search { query: Query::Similar(anchor), ..search };
    if anchor.kind == AnchorKind::Media {
        let similar_to = Some(SafeText::name(&format!("media {}", anchor.media.short())));
        return Ok(HistoryEntry { similar_to, ..HistoryEntry::new(search) });
    }
    let Some(known) = find_registered(connection, &search)? else {
        let level = search.granularity.level();
        connection.context.messages.warn(format!(
            "this anchor was not registered from this machine; assuming {} at granularity {level}",
            search.entity.as_str()
        ));
        return Ok(HistoryEntry::new(search));
    };
    let (entity, granularity) = (known.search.entity, known.search.granularity);
    if options.entity.is_none_or(|chosen| chosen == entity)
        && options.granularity.is_none_or(|chosen| chosen == granularity)
    {
        return Ok(HistoryEntry { search: Search { entity, granularity, ..search }, ..known });
    }
    let (level, entity) = (granularity.level(), entity.as_str());
    let error =
        CliError::usage(format!("this anchor is valid only for {entity} at granularity {level}"));
    Err(match &known.file {
        Some(file) => error.with_remedy(
            ShellCommand::new("tessera search image")
                .word(file)
                .option("--entity", search.entity.as_str().to_lowercase())
                .option("--granularity", search.granularity.level().to_string()),
        ),
        None => error,
    })
}

/// The search that the uploaded anchor was registered for, if the history contains it.
fn find_registered(
    connection: &Connection<'_>,
    search: &Search,
) -> CliResult<Option<HistoryEntry>> {
    let is_same = |entry: &HistoryEntry| {
        entry.search.query == search.query && entry.search.dataset == search.dataset
    };
    Ok(connection.journal.history()?.into_iter().rev().find(is_same))
}
