//! `tessera search anchor`: searches by an anchor again. An uploaded anchor is valid only for the
//! entity and granularity it was registered with, which the search history knows.

use super::options::SearchOptions;
use crate::cli::{CliError, Connection, Context};
use shell_words::quote;
use tessera_model::{
    Anchor, AnchorKind, HistoryEntry, Query, SafeText, Search, StateKey, StateValue,
};

/// Searches by `anchor`. The options may not contradict its registration.
pub fn search_by_anchor(
    context: &Context,
    connection: &Connection,
    anchor: Anchor,
    search: Search,
    options: &SearchOptions,
) -> Result<HistoryEntry, CliError> {
    let query = Query::Similar(anchor);
    let search = Search { query: query.clone(), ..search };
    if anchor.kind == AnchorKind::Media {
        let similar_to = Some(SafeText::name(&format!("media {}", anchor.media.short())));
        return Ok(HistoryEntry { search, similar_to, file: None, region: None });
    }
    let Some(known) = find_registered(connection, &search)? else {
        let level = search.granularity.level();
        context.messages.warn(format!(
            "this anchor was not registered from this machine; assuming {} at granularity {level}",
            search.entity.as_str()
        ));
        return Ok(HistoryEntry { search, similar_to: None, file: None, region: None });
    };
    let (entity, granularity) = (known.search.entity, known.search.granularity);
    let other = options.entity.is_some_and(|wanted| wanted != entity)
        || options.granularity.is_some_and(|wanted| wanted != granularity);
    if other {
        let level = granularity.level();
        let message =
            format!("this anchor is valid only for {} at granularity {level}", entity.as_str());
        let error = CliError::usage(message);
        return Err(match &known.file {
            Some(file) => error.with_remedy(format!(
                "tessera search image {} --entity {} --granularity {}",
                quote(&file.to_string_lossy()),
                search.entity.as_str().to_lowercase(),
                search.granularity.level()
            )),
            None => error,
        });
    }
    Ok(HistoryEntry { search: Search { entity, granularity, ..search }, ..known })
}

/// The search that the uploaded anchor was registered for, if the history contains it.
fn find_registered(
    connection: &Connection,
    asked: &Search,
) -> Result<Option<HistoryEntry>, CliError> {
    let Some(StateValue::History(searches)) = connection.journal.load(&StateKey::History)? else {
        return Ok(None);
    };
    let same = |past: &HistoryEntry| {
        past.search.query == asked.query && past.search.dataset == asked.dataset
    };
    Ok(searches.into_iter().rev().find(same))
}
