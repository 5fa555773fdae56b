//! Defines documents and their columns, and formats them as aligned tables, tab-separated values and CSV. Scores and
//! facets are drawn as bars of text.

use std::{collections::BTreeMap, env, sync::LazyLock};

use serde::Deserialize;
use serde_json::{Map, Value};
use tessera_interface::printable_text::PrintableText;
use tessera_model::{
    Cluster, Facet, FacetKind, Histogram, Overview, Relevance, SafeText, ScoreKind, count_facets,
    text::{needs_apostrophe, truncate},
    vql::ColumnValue,
};
use unicode_width::UnicodeWidthStr as _;

use crate::cli::values;

/// The table of each document, by the schema of the document. A document that is also shown with other columns has a
/// further table, which has a name.
const TABLES: &str = include_str!("../../../assets/tables.json");

/// The JSON Schemas of the output documents, by name. The version of a schema increases when a
/// field is removed or changes its meaning, but not when a field is added.
pub const DOCUMENT_SCHEMAS: &str = include_str!("../../../assets/documents.json");

static DEFINITIONS: LazyLock<BTreeMap<&'static str, TableDefinition>> =
    LazyLock::new(|| serde_json::from_str(TABLES).unwrap_or_default());

#[derive(Debug, Default, Deserialize)]
struct TableDefinition {
    /// The field with the rows of a list. A document without it is a single object, with one line per column.
    rows: Option<&'static str>,
    columns: Vec<Column>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Column {
    pub title: &'static str,
    /// The path of the value in a row. Nested fields are separated by dots, and numbers are list
    /// indexes.
    pub field: &'static str,
    /// Whether commands accept the beginning of an ID, so that tables need not show the whole ID.
    #[serde(default)]
    has_short_ids: bool,
}

impl Column {
    /// Returns whether the column contains IDs, which must not be truncated.
    pub fn is_id(&self) -> bool {
        self.field == "id" || self.field.ends_with("_id")
    }

    pub fn value<'a>(&self, row: &'a Value) -> &'a Value {
        self.field.split('.').fold(row, |value, part| {
            let item = part.parse::<usize>().ok().and_then(|index| value.get(index));
            item.or_else(|| value.get(part)).unwrap_or(&Value::Null)
        })
    }
}

#[derive(Clone, Debug)]
pub struct Document {
    root: Value,
    list: Option<&'static str>,
    columns: &'static [Column],
}

impl Document {
    /// Creates a document with the table of its schema.
    pub fn new(schema: &str, fields: Value) -> Self {
        Self { root: with_schema(schema, fields), list: None, columns: &[] }.with_table(schema)
    }

    /// Shows the document in this table.
    pub fn with_table(self, name: &str) -> Self {
        let Some(TableDefinition { rows, columns }) = DEFINITIONS.get(name) else { return self };
        Self { list: *rows, columns, ..self }
    }

    /// Omits the columns after the first ones.
    pub fn with_first_columns(self, count: usize) -> Self {
        let columns = self.columns.get(..count).unwrap_or(self.columns);
        Self { columns, ..self }
    }

    pub fn root(&self) -> &Value {
        &self.root
    }

    pub fn is_list(&self) -> bool {
        self.list.is_some()
    }

    /// Returns the rows. A single object is its own only row.
    pub fn rows(&self) -> impl Iterator<Item = &Value> {
        let listed = self.list.and_then(|list| self.root.get(list)).and_then(Value::as_array);
        let single = self.list.is_none().then_some(&self.root);
        listed.into_iter().flatten().chain(single)
    }

    pub fn columns(&self) -> &'static [Column] {
        self.columns
    }

    /// Returns the fields that the schema has for rows, regardless of the rows that happen to be there.
    pub fn field_names(&self) -> Vec<String> {
        let schemas: Value = serde_json::from_str(DOCUMENT_SCHEMAS).unwrap_or_default();
        let whole = &schemas[self.root["schema"].as_str().unwrap_or_default()]["properties"];
        let row = self.list.map_or(whole, |list| &whole[list]["items"]["properties"]);
        row.as_object().into_iter().flat_map(Map::keys).cloned().collect()
    }
}

/// Adds the name of the schema as the first field.
fn with_schema(schema: &str, fields: Value) -> Value {
    let mut whole = Map::new();
    whole.insert("schema".to_owned(), schema.into());
    if let Value::Object(fields) = fields {
        whole.extend(fields);
    }
    Value::Object(whole)
}

/// The number of columns to assume if the terminal's width is unknown.
const DEFAULT_WIDTH: usize = 80;
const COLUMN_GAP: usize = 2;
const MIN_COLUMN_WIDTH: usize = 8;

pub(super) fn terminal_width() -> usize {
    let from_environment = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let size = || rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    from_environment
        .or_else(|| size().map(|size| usize::from(size.ws_col)))
        .filter(|cells| *cells > 0)
        .unwrap_or(DEFAULT_WIDTH)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TableStyle {
    pub color: bool,
    /// The number of columns of the terminal, or `None` in a pipe.
    pub width: Option<usize>,
    /// Whether whole IDs are shown.
    pub full: bool,
}

/// Formats aligned columns with a header. A single object has one line per column.
pub(super) fn aligned_table(document: &Document, style: TableStyle) -> PrintableText {
    let TableStyle { color, width, full } = style;
    let columns = document.columns();
    if !document.is_list() {
        let widest = columns.iter().map(|column| column.title.width()).max().unwrap_or(0);
        let mut text = PrintableText::default();
        for column in columns {
            text.push(&bold(&format!("{:widest$}", column.title), color));
            let cell = display_cell(column.value(document.root()));
            text.push(&PrintableText::line(format_args!("  {cell}")));
        }
        return text;
    }
    let mut rows: Vec<Vec<String>> = document
        .rows()
        .map(|row| columns.iter().map(|column| display_cell(column.value(row))).collect())
        .collect();
    if !full {
        shorten_ids(columns, &mut rows, |column| column.has_short_ids);
    }
    let titles: Vec<String> = columns.iter().map(|column| column.title.to_owned()).collect();
    let mut widths = column_widths(&titles, &rows);
    if !full && width.is_some_and(|width| table_width(&widths) > width) {
        // Commands need the whole of these IDs, so they are shortened only if names would be cut for them.
        shorten_ids(columns, &mut rows, |column| column.is_id() && !column.has_short_ids);
        widths = column_widths(&titles, &rows);
    }
    let ids: Vec<bool> = columns.iter().map(Column::is_id).collect();
    shrink_to_width(&mut widths, &ids, width);
    let mut text = bold(&aligned_line(&titles, &widths), color);
    text.push(&PrintableText::lines("\n"));
    text.extend(rows.iter().map(|row| PrintableText::line(aligned_line(row, &widths))));
    text
}

fn column_widths(titles: &[String], rows: &[Vec<String>]) -> Vec<usize> {
    let widest = |index: usize| rows.iter().map(|row| row[index].width()).max().unwrap_or(0);
    titles.iter().enumerate().map(|(index, title)| title.width().max(widest(index))).collect()
}

fn table_width(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + COLUMN_GAP * widths.len().saturating_sub(1)
}

/// Shortens the IDs of some columns to their distinct beginnings. An ellipsis shows that commands do not accept the
/// beginning.
fn shorten_ids(columns: &[Column], rows: &mut [Vec<String>], is_shortened: fn(&Column) -> bool) {
    for (index, column) in columns.iter().enumerate().filter(|(_, column)| is_shortened(column)) {
        let length = values::distinct_length(rows.iter().map(|row| row[index].as_str()));
        let is_long = |row: &&mut Vec<String>| {
            row[index].len() > length && row[index].is_char_boundary(length)
        };
        for row in rows.iter_mut().filter(is_long) {
            row[index].truncate(length);
            row[index].push_str(if column.has_short_ids { "" } else { "…" });
        }
    }
}

/// Narrows the widest columns first, and columns of IDs last.
fn shrink_to_width(widths: &mut [usize], ids: &[bool], width: Option<usize>) {
    let Some(width) = width else { return };
    while table_width(widths) > width {
        let wide = widths.iter_mut().zip(ids).filter(|(width, _)| **width > MIN_COLUMN_WIDTH);
        match wide.max_by_key(|(width, is_id)| (!**is_id, **width)) {
            Some((widest, _)) => *widest -= 1,
            None => return,
        }
    }
}

fn aligned_line(cells: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let cell = truncate(cell, *width);
        text += &cell;
        if index + 1 < cells.len() {
            text.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + COLUMN_GAP));
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn bold(text: &str, color: bool) -> PrintableText {
    let text = PrintableText::lines(text);
    if color { text.bold() } else { text }
}

/// Formats one row per line. A single object has one line per column.
pub(super) fn tab_separated(document: &Document) -> PrintableText {
    let columns = document.columns();
    let cells =
        |row| -> Vec<String> { columns.iter().map(|it| cell_text(it.value(row))).collect() };
    if document.is_list() {
        return document.rows().map(|row| PrintableText::line(cells(row).join("\t"))).collect();
    }
    let line = |(column, cell): (&Column, String)| {
        PrintableText::line(format_args!("{}\t{cell}", column.title))
    };
    columns.iter().zip(cells(document.root())).map(line).collect()
}

/// Formats comma-separated values with a header (RFC 4180). Text that a spreadsheet would calculate
/// as a formula gets an apostrophe in front of it.
pub(super) fn csv(document: &Document) -> PrintableText {
    let columns = document.columns();
    let field = |value: &Value| {
        let cell = cell_text(value);
        match (needs_apostrophe(&cell), cell.contains(['"', ','])) {
            (false, false) => cell,
            (true, _) => format!("\"'{}\"", cell.replace('"', "\"\"")),
            (false, true) => format!("\"{}\"", cell.replace('"', "\"\"")),
        }
    };
    let line = |fields: Vec<String>| PrintableText::line(fields.join(","));
    let header = line(columns.iter().map(|column| column.field.to_owned()).collect());
    let row = |row| line(columns.iter().map(|column| field(column.value(row))).collect());
    std::iter::once(header).chain(document.rows().map(row)).collect()
}

/// Formats a value for display. Null becomes a dash, and fractions are rounded.
fn display_cell(value: &Value) -> String {
    match value {
        Value::Null => "—".to_owned(),
        Value::Number(number) if number.is_f64() => {
            format!("{:.3}", number.as_f64().unwrap_or_default())
        }
        other => cell_text(other),
    }
}

fn cell_text(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values)
            if values.iter().all(|value| !value.is_object() && !value.is_array()) =>
        {
            values.iter().map(cell_text).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    SafeText::caption(&text).as_str().to_owned()
}

/// The maximum number of rows and intervals of a plot, and of cells of its longest bar.
const MAX_ROWS: usize = 12;
const MAX_INTERVALS: usize = 20;
const MAX_BAR: usize = 40;

/// Plots clusters: a histogram of their scores, and the most frequent facets of each kind.
pub fn plot_clusters(clusters: &[Cluster]) -> String {
    let scores = plot_scores(clusters);
    let facets = FacetKind::ALL.into_iter().filter_map(|kind| {
        plot_facets(&format!("{}, in clusters", kind.label()), &count_facets(clusters, kind))
    });
    let plots: Vec<String> = scores.into_iter().chain(facets).collect();
    joined_plots(&plots)
}

/// Plots the most frequent facets of the images and of the objects of a dataset.
pub fn plot_overviews(images: &Overview, objects: &Overview) -> String {
    let of = |overview: &Overview, unit: &str| -> Vec<String> {
        let plot = |kind: FacetKind| {
            plot_facets(&format!("{}, in {unit}", kind.label()), overview.facets(kind))
        };
        let columns = overview.columns.iter().filter_map(|column| {
            let value = |(value, count): &(ColumnValue, u64)| Facet {
                name: SafeText::name(&value.to_string()),
                tag: None,
                count: *count,
            };
            let values: Vec<Facet> = column.values.iter().map(value).collect();
            let name = SafeText::name(column.name.as_str());
            plot_facets(&format!("{name}, in {unit}"), &values)
        });
        FacetKind::ALL.into_iter().filter_map(plot).chain(columns).collect()
    };
    joined_plots(&[of(images, "images"), of(objects, "objects")].concat())
}

fn plot_facets(title: &str, facets: &[Facet]) -> Option<String> {
    let rows = facets.iter().take(MAX_ROWS).map(|facet| (facet.name.clone(), facet.count));
    let more = if facets.len() > MAX_ROWS {
        format!(", the {MAX_ROWS} most frequent")
    } else {
        String::new()
    };
    plot_bars(&format!("{title}{more}"), &rows.collect::<Vec<_>>())
}

fn joined_plots(plots: &[String]) -> String {
    if plots.is_empty() {
        return "nothing to plot: no scores, labels, tags or captions\n".to_owned();
    }
    plots.join("\n")
}

fn plot_scores(clusters: &[Cluster]) -> Option<String> {
    let relevances = clusters.iter().filter_map(|cluster| cluster.relevance.as_ref());
    // Only a known kind of score has a direction.
    let is_known = |relevance: &Relevance| relevance.kind == ScoreKind::CosineDistance;
    let title =
        if relevances.clone().all(is_known) { "scores, from the closest" } else { "scores" };
    let scores: Vec<f64> = relevances.map(|relevance| relevance.score).collect();
    let (start, end) = Histogram::new(&scores, 1)?.range;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2 / 0.05")]
    let intervals = (((end - start) / 0.05).round() as usize).clamp(1, MAX_INTERVALS);
    let histogram = Histogram::new(&scores, intervals)?;
    let rows = histogram.counts.iter().enumerate().map(|(index, &count)| {
        #[expect(clippy::cast_precision_loss, reason = "at most 20 intervals")]
        let bound = start + (end - start) * index as f64 / intervals as f64;
        (SafeText::name(&format!("{bound:.2}")), count as u64)
    });
    plot_bars(title, &rows.collect::<Vec<_>>())
}

/// Returns a title and a line with a bar for each row, or `None` if there are no rows.
fn plot_bars(title: &str, rows: &[(SafeText, u64)]) -> Option<String> {
    let max_count = rows.iter().map(|(_, count)| *count).max()?.max(1);
    let width = rows.iter().map(|(name, _)| name.width()).max()?;
    let line = |(name, count): &(SafeText, u64)| {
        // The length is rounded up, so that even a count of one has a visible bar.
        let bar = "█".repeat(bar_length(*count, max_count));
        let gap = " ".repeat(width - name.width());
        format!("  {name}{gap}  {bar} {count}\n")
    };
    Some(rows.iter().map(line).fold(format!("{title}\n"), |text, line| text + &line))
}

fn bar_length(count: u64, max_count: u64) -> usize {
    let length = (u128::from(count) * MAX_BAR as u128).div_ceil(u128::from(max_count));
    usize::try_from(length).unwrap_or(MAX_BAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn column(title: &'static str, field: &'static str) -> Column {
        Column { title, field, has_short_ids: false }
    }

    fn listed(fields: Value, list: &'static str, columns: &'static [Column]) -> Document {
        Document { root: with_schema("tessera.test/1", fields), list: Some(list), columns }
    }
    use crate::cli::output::Column;
    use serde_json::json;

    const COLUMNS: &[Column] =
        &[column("NAME", "name"), column("IMAGES", "n"), column("SCORE", "score.mean")];

    fn list() -> Document {
        let rows = json!({ "rows": [
            { "name": "a\tb\u{1b}[2J", "n": 12, "score": { "mean": 0.123_456 } },
            { "name": "x, \"y\"", "n": null, "tags": ["p", "q"] },
        ] });
        listed(rows, "rows", COLUMNS)
    }

    #[test]
    fn a_table_is_aligned_and_narrowed_to_the_terminal() {
        let style = TableStyle { color: false, width: Some(80), full: false };
        let table = aligned_table(&list(), style).to_string();
        assert_eq!(table, "NAME     IMAGES  SCORE\na␉b␛[2J  12      0.123\nx, \"y\"   —       —\n");
        let narrow = aligned_table(&list(), TableStyle { width: Some(12), ..style }).to_string();
        assert!(narrow.lines().all(|line| line.width() <= 30), "{narrow}");
        let bold = aligned_table(&list(), TableStyle { color: true, width: None, ..style });
        assert!(bold.as_str().starts_with("\u{1b}[1mNAME"));
    }

    #[test]
    fn ids_are_as_long_as_they_have_to_be_unless_full() {
        const COLUMNS: &[Column] = &[Column { has_short_ids: true, ..column("ID", "id") }];
        let ids = ["0a1b2c3d-0000-7000", "0a1b2c3d-0010-7000"];
        let rows = json!({ "rows": [{ "id": ids[0] }, { "id": ids[1] }, { "id": null }] });
        let document = listed(rows, "rows", COLUMNS);
        let style = TableStyle { color: false, width: Some(80), full: false };
        let table = aligned_table(&document, style).to_string();
        assert_eq!(table, "ID\n0a1b2c3d-000\n0a1b2c3d-001\n—\n");
        let full = aligned_table(&document, TableStyle { full: true, ..style }).to_string();
        assert!(ids.iter().all(|id| full.contains(id)), "{full}");
        assert!(tab_separated(&document).as_str().contains(ids[0]));
    }

    #[test]
    fn whole_ids_are_shortened_only_in_a_table_that_does_not_fit() {
        const COLUMNS: &[Column] = &[column("CLUSTER", "cluster_id"), column("FILE", "name")];
        let ids = ["0a1b2c3d-0000-7000", "1a1b2c3d-0000-7000"];
        let row = |id| json!({ "cluster_id": id, "name": "a/long/name.jpg" });
        let rows = json!({ "rows": [row(ids[0]), row(ids[1])] });
        let document = listed(rows, "rows", COLUMNS);
        let style = TableStyle { color: false, width: Some(26), full: false };
        let table = |style| aligned_table(&document, style).to_string();
        let narrow = "CLUSTER    FILE\n0a1b2c3d…  a/long/name.jpg\n1a1b2c3d…  a/long/name.jpg\n";
        assert_eq!(table(style), narrow);
        for style in [
            TableStyle { width: Some(80), ..style },
            TableStyle { width: None, ..style },
            TableStyle { width: Some(30), full: true, ..style },
        ] {
            assert!(table(style).contains(ids[0]), "{}", table(style));
        }
    }

    #[test]
    fn rows_in_a_pipe_have_as_many_cells_as_columns() {
        let rows = tab_separated(&list()).to_string();
        assert!(rows.lines().all(|line| line.split('\t').count() == 3), "{rows:?}");
        assert!(!rows.contains('\u{1b}') && rows.contains("0.123456"));
        let csv = csv(&list()).to_string();
        assert_eq!(csv.lines().next(), Some("name,n,score.mean"));
        assert!(csv.contains("\"x, \"\"y\"\"\",,"), "{csv}");
        let one = Document { list: None, ..listed(json!({ "name": "a" }), "rows", &COLUMNS[..1]) };
        assert_eq!(tab_separated(&one).as_str(), "NAME\ta\n");
        assert_eq!(one.root()["schema"], "tessera.test/1");
    }

    #[test]
    fn no_cell_of_a_csv_file_is_a_formula() {
        let names = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "=\"a\",b", "-1", "-0.5", "a=1"];
        let rows: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
        let document = listed(json!({ "rows": rows }), "rows", &COLUMNS[..1]);
        let text = csv(&document);
        let lines: Vec<&str> = text.as_str().lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "\"'=1+1\"",
                "\"'+1+1\"",
                "\"'-1+1\"",
                "\"'@SUM(A1)\"",
                "\"'=\"\"a\"\",b\"",
                "-1",
                "-0.5",
                "a=1"
            ]
        );
    }
}
