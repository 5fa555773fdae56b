//! The texts in picture files, by media item. These texts are stored separately from the texts in use, because sidecars
//! take precedence and may change.

use super::{
    columns::to_json,
    engine::{Connection, Result, StatementBatch, params},
};
use tessera_media::ingest::embedded_text::EmbeddedText;

/// Replaces the texts of media items, which are given by their rows.
pub fn replace_all<'a>(
    connection: &Connection,
    texts: impl Iterator<Item = (i64, &'a EmbeddedText)> + Clone,
) -> Result<()> {
    let mut deletes = StatementBatch::new(connection, "DELETE FROM embedded_text WHERE media = ?1");
    texts.clone().try_for_each(|(media, _)| deletes.add(params![media]))?;
    deletes.finish()?;
    let sql = "INSERT INTO embedded_text VALUES (?1, ?2, ?3)";
    let mut inserts = StatementBatch::new(connection, sql);
    for (media, text) in texts.filter(|(_, text)| **text != EmbeddedText::default()) {
        inserts.add(params![media, text.caption, to_json(&text.labels)?])?;
    }
    inserts.finish().map(drop)
}
