//! Writes the report of a dataset as one HTML page that needs no other file, no script and no network.

use std::fmt::Write as _;

use base64::{Engine, engine::general_purpose::STANDARD};

use super::report::{SHOWN, facts, shown_leaks, tables, unread_lines};
use crate::cli::prelude::*;
use crate::usecase::{dataset_summary::DatasetSummary, leaks::Leak, media_rows::MediaRow};
use tessera_model::{
    Link,
    text::{escape_xml, grouped_with_noun},
};
use tessera_picture::{decode::decode, encode_jpeg, resize};

const STYLE: &str = include_str!("../../../assets/report.css");

/// The number of groups of near-duplicates whose pictures are shown.
const SHOWN_GROUPS: usize = 20;
/// The longer side of a thumbnail in pixels, and its quality.
const THUMBNAIL_SIDE: u32 = 180;
const THUMBNAIL_QUALITY: u8 = 80;
const MAX_PICTURE_BYTES: usize = 64 << 20;
const NO_PICTURE: &str = "<em>no picture</em>";

pub(super) async fn page(
    connection: &Connection<'_>,
    name: &str,
    summary: &DatasetSummary<'_>,
) -> String {
    let name = escape_xml(name);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{name}</title>\n<style>\n{STYLE}</style>\n<h1>{name}</h1>\n<table>\n"
    );
    // Writing to a string cannot fail.
    for (name, value) in facts(summary) {
        let _ = writeln!(page, "<tr><th>{name}</th><td>{}</td></tr>", escape_xml(&value));
    }
    page.push_str("</table>\n");
    for (title, counts) in tables(summary) {
        push_counts(&mut page, title, &counts);
    }
    for (kind, rows) in &summary.issues {
        let _ = writeln!(page, "<h2>{}</h2>", escape_xml(kind.as_str()));
        push_pictures(&mut page, connection, rows).await;
    }
    push_groups(&mut page, connection, "Near-duplicates", &summary.duplicates).await;
    let (leaks, more_leaks) = shown_leaks(summary);
    for pair in leaks {
        let groups: Vec<_> = pair.leaks.iter().map(Leak::media).collect();
        let title = format!("Leaks between {}", escape_xml(&pair.name));
        push_groups(&mut page, connection, &title, &groups).await;
    }
    if let Some(more) = more_leaks {
        let _ = writeln!(page, "<p>{more}</p>");
    }
    push_unread(&mut page, &unread_lines(summary));
    // Names are escaped, so that they do not contain the element.
    let missing = page.matches(NO_PICTURE).count() as u64;
    if missing > 0 {
        let missing = grouped_with_noun(missing, "picture", "pictures");
        let sentence = format!("{missing} of the report could not be read");
        let _ = writeln!(page, "<p>{sentence}.</p>");
        connection.context.messages.warn(sentence);
    }
    page + "</html>\n"
}

async fn push_groups(
    page: &mut String,
    connection: &Connection<'_>,
    title: &str,
    groups: &[Vec<&MediaRow>],
) {
    if groups.is_empty() {
        return;
    }
    let _ = writeln!(page, "<h2>{title}</h2>");
    for group in groups.iter().take(SHOWN_GROUPS) {
        push_pictures(page, connection, group).await;
    }
    if let Some(more) = groups.len().checked_sub(SHOWN_GROUPS).filter(|more| *more > 0) {
        let _ =
            writeln!(page, "<p>… {} more</p>", grouped_with_noun(more as u64, "group", "groups"));
    }
}

fn push_unread(page: &mut String, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    page.push_str("<h2>Not read, or not completely</h2>\n<ul>\n");
    for line in lines.iter().take(SHOWN) {
        let _ = writeln!(page, "<li>{}</li>", escape_xml(line));
    }
    page.push_str("</ul>\n");
    push_more(page, lines.len());
}

/// Says how many of `all` items are not on the page.
fn push_more(page: &mut String, all: usize) {
    if all > SHOWN {
        let _ = writeln!(page, "<p>… {} more</p>", all - SHOWN);
    }
}

/// Adds a table with a bar for each count.
fn push_counts(page: &mut String, title: &str, counts: &[(&str, u64)]) {
    let most = counts.first().map_or(1, |(_, count)| *count).max(1);
    let _ = writeln!(page, "<h2>{title}</h2>\n<table>");
    for (name, count) in counts.iter().take(SHOWN) {
        let width = count * 200 / most;
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"number\">{count}</td><td><span class=\"bar\" style=\"width:{width}px\"></span></td></tr>",
            escape_xml(name)
        );
    }
    page.push_str("</table>\n");
    push_more(page, counts.len());
}

async fn push_pictures(page: &mut String, connection: &Connection<'_>, rows: &[&MediaRow]) {
    page.push_str("<div class=\"pictures\">\n");
    for row in rows.iter().take(SHOWN) {
        let picture = thumbnail(connection, row).await.map_or_else(
            || NO_PICTURE.to_owned(),
            |jpeg| {
                format!("<img alt=\"\" src=\"data:image/jpeg;base64,{}\">", STANDARD.encode(jpeg))
            },
        );
        let size = row.size.map(|(width, height)| format!(" ({width} × {height})"));
        let caption = escape_xml(&row.path) + &size.unwrap_or_default();
        let _ = writeln!(page, "<figure>{picture}<figcaption>{caption}</figcaption></figure>");
    }
    page.push_str("</div>\n");
    push_more(page, rows.len());
}

/// Returns a JPEG, or `None` if the picture cannot be read. A frame has no file of its own, so its link is followed.
async fn thumbnail(connection: &Connection<'_>, row: &MediaRow) -> Option<Vec<u8>> {
    let bytes = match (row.whole_file(), &row.link) {
        (Some(original), _) => tokio::fs::read(original).await.ok()?,
        (_, Some(link)) => {
            let link = Link::new(link);
            connection.client.fetch_picture(&link, MAX_PICTURE_BYTES).await.ok()?.into()
        }
        _ => return None,
    };
    let shrink = move || {
        let decoded = decode(&bytes, THUMBNAIL_SIDE).ok()?;
        let (width, height) = decoded.pixels.dimensions();
        let longer = width.max(height).max(1);
        let scaled = |pixels: u32| (pixels * THUMBNAIL_SIDE / longer).max(1);
        let size =
            if longer > THUMBNAIL_SIDE { (scaled(width), scaled(height)) } else { (width, height) };
        encode_jpeg(&resize(&decoded.pixels, size).ok()?, THUMBNAIL_QUALITY).ok()
    };
    tokio::task::spawn_blocking(shrink).await.ok()?
}
