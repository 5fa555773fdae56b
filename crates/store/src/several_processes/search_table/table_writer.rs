//! Writes the rows of search tables.

use half::f16;
use serde_json::{Value, json};

use super::{
    match_conditions::{column_of, issue_column, json_names},
    registry::{Dimensions, SearchTable, table_name},
};
use crate::prelude::*;
use crate::{
    assignment::ClusterAssignment,
    columns::encode_f16,
    media::{MediaKind, MediaRecord},
};
use tessera_model::{
    Granularity, TagId,
    text::composed,
    vql::{ColumnValue, IssueKind, ItemValue},
};
use tessera_search::{
    index::DIMENSION,
    member_search::MemberVector,
    text::{language::Language, name_words::indexed_name},
};

const ISSUES: usize = IssueKind::ALL.len();
const COLUMNS: usize = 23 + Granularity::LEVELS + ISSUES;

/// The stems of the words of a member's path, which an index contains.
pub(super) const NAME_WORDS: &str = "array_to_tsvector(string_to_array(name_words, ' '))";

/// A member of a dataset, with everything that searches read.
pub struct IndexedMember<'a> {
    /// The language whose stems names are searched by.
    pub language: Language,
    pub media: &'a MediaRecord,
    pub assignment: &'a ClusterAssignment,
    /// The confidence of each issue in `IssueKind::ALL`.
    pub issues: [f64; ISSUES],
    pub tags: Vec<TagId>,
    pub descriptor: &'a [f16],
    pub text_vector: Option<&'a [f16]>,
    pub model_vector: Option<&'a [f16]>,
}

/// The table and version to which rows are written. No search sees the rows before they are published.
#[derive(Debug)]
pub struct WriteTarget {
    number: i64,
    version: i64,
    dimensions: Dimensions,
    vector_schema: String,
    /// The source whose members the rows replace, or `None` if the table is new.
    pub source: Option<i64>,
    /// The number of members that were written.
    pub members: u64,
    insert: String,
}

impl WriteTarget {
    /// Creates a new table for vectors of these dimensions.
    pub fn create(
        transaction: &Transaction,
        dataset: DatasetId,
        entity: EntityType,
        dimensions: Dimensions,
        vector_schema: &str,
    ) -> Result<Self> {
        let sql = "INSERT INTO search_table (dataset, entity, version, members, dimension, model_dimension)
                   VALUES (?1, ?2, 1, 0, ?3, ?4) RETURNING number";
        let params = params![dataset.0, entity.as_str(), dimensions.text_vector, dimensions.model];
        let number = query::one(transaction, sql, params, |row| row.get(0))?;
        transaction.execute_batch(&create_table(number, dimensions, vector_schema))?;
        Ok(Self::new(number, 1, dimensions, vector_schema, None))
    }

    /// Begins the next version of a table, for the members of one source. Waits for another worker that is writing the
    /// version. If the indexing task of that worker did not end, the rows that it wrote are deleted. `check` fails if
    /// this worker has lost the indexing task meanwhile.
    pub fn append(
        transaction: &Transaction,
        table: &SearchTable,
        source: i64,
        check: impl FnOnce(&Transaction) -> Result<()>,
    ) -> Result<Self> {
        let lock = "SELECT number FROM search_table WHERE number = ?1 FOR UPDATE";
        query::one(transaction, lock, params![table.number], |row| row.get::<i64>(0))?;
        check(transaction)?;
        let delete = format!("DELETE FROM {} WHERE version > ?1", table.name());
        query::execute(transaction, &delete, params![table.version])?;
        let SearchTable { number, version, vector_schema, .. } = table;
        Ok(Self::new(*number, version + 1, table.dimensions, vector_schema, Some(source)))
    }

    fn new(
        number: i64,
        version: i64,
        dimensions: Dimensions,
        vector_schema: &str,
        source: Option<i64>,
    ) -> Self {
        let values: Vec<String> = (1..=COLUMNS).map(|number| format!("?{number}")).collect();
        let insert = format!("INSERT INTO {} VALUES ({})", table_name(number), values.join(", "));
        let vector_schema = vector_schema.to_owned();
        Self { number, version, dimensions, vector_schema, source, members: 0, insert }
    }

    /// Returns the statements that complete a new table. These statements run after the transaction that wrote the
    /// table, because they take long and updates of the schema must not wait for them.
    pub fn create_indexes(&self) -> Vec<String> {
        let (table, schema) = (table_name(self.number), &self.vector_schema);
        let mut indexes = vec![format!("CREATE UNIQUE INDEX ON {table} (media, version)")];
        let ranks = (0..Granularity::LEVELS).map(|level| format!("rank_{level}"));
        for column in ["picture", "source", "file_path"].map(str::to_owned).into_iter().chain(ranks)
        {
            indexes.push(format!("CREATE INDEX ON {table} ({column})"));
        }
        for column in ["labels", "tags"] {
            indexes.push(format!("CREATE INDEX ON {table} USING gin ({column} jsonb_path_ops)"));
        }
        indexes.push(format!("CREATE INDEX ON {table} USING gin ({NAME_WORDS})"));
        indexes.push(format!("CREATE INDEX ON {table} (twin_order) WHERE twin_order IS NOT NULL"));
        let vectors = [MemberVector::Descriptor, MemberVector::Text, MemberVector::Model];
        for vector in vectors.into_iter().filter(|vector| self.dimensions.has_index(*vector)) {
            let column = column_of(vector);
            indexes.push(format!(
                "CREATE INDEX ON {table} USING hnsw ({column} {schema}.halfvec_ip_ops)"
            ));
        }
        indexes.push(format!("ANALYZE {table}"));
        indexes
    }
}

/// Adds rows to a target.
pub struct TableWriter<'a> {
    target: &'a WriteTarget,
    rows: StatementBatch<'a>,
    members: u64,
}

impl<'a> TableWriter<'a> {
    pub fn new(transaction: &'a Transaction, target: &'a WriteTarget) -> Self {
        Self { target, rows: StatementBatch::new(transaction, &target.insert), members: 0 }
    }

    pub fn add(&mut self, member: &IndexedMember) -> Result<()> {
        let IndexedMember { media, assignment, issues, tags, descriptor, .. } = member;
        let [finest, finer, middle, coarser, coarsest] = assignment.cluster_ranks;
        let [blur, dark, bright, duplicates, outliers, aspect, size, mislabels, label, normal] =
            *issues;
        let tags: Vec<String> = tags.iter().map(|tag| tag.0.to_string()).collect();
        let Dimensions { text_vector, model } = self.target.dimensions;
        let ((width, height), file_path) = (media.cropped_size(), media.file_path());
        self.members += 1;
        self.rows.add(params![
            media.row,
            self.target.version,
            media.source,
            media.picture_row(),
            kind_number(media.kind),
            path_to_bytes(&media.path),
            finest,
            finer,
            middle,
            coarser,
            coarsest,
            assignment.uniqueness,
            assignment.near_duplicate_similarity,
            assignment.duplicate_position,
            assignment.duplicate_link,
            blur,
            dark,
            bright,
            duplicates,
            outliers,
            aspect,
            size,
            mislabels,
            label,
            normal,
            json_names(media.all_labels().map(String::as_str)),
            json_names(tags.iter().map(String::as_str)),
            encode_f16(descriptor),
            fitting(member.text_vector, text_vector),
            fitting(member.model_vector, model),
            composed(&file_path).replace('\0', "\u{fffd}"),
            media.size,
            width,
            height,
            media.format(),
            media.date(),
            extra_values(media),
            indexed_name(&file_path, member.language).replace('\0', ""),
        ])
    }

    /// Returns the number of rows.
    pub fn finish(self) -> Result<u64> {
        self.rows.finish()?;
        Ok(self.members)
    }
}

/// Encodes a vector. A vector with a different dimension belongs to a text space that is about to be replaced, so it is
/// omitted.
fn fitting(vector: Option<&[f16]>, dimension: usize) -> Option<Vec<u8>> {
    vector.filter(|found| found.len() == dimension).map(encode_f16)
}

fn kind_number(kind: MediaKind) -> i32 {
    match kind {
        MediaKind::Image => 0,
        MediaKind::Frame => 1,
        MediaKind::Object => 2,
    }
}

/// Writes the columns of the user's own as JSON. A date is an object with its time in milliseconds.
fn extra_values(media: &MediaRecord) -> String {
    let value = |value: &ColumnValue| match value.item() {
        ItemValue::Text(text) => json!(text.replace('\0', "\u{fffd}")),
        ItemValue::Number(number) => json!(number),
        ItemValue::Date(at) => json!({ "at": at }),
        ItemValue::Flag(flag) => json!(flag),
    };
    let columns =
        media.extra_columns.iter().map(|(name, it)| (name.replace('\0', "\u{fffd}"), value(it)));
    columns.collect::<Value>().to_string()
}

/// Makes the rows of a target visible to searches of the new generation. It must run in the transaction that begins the
/// generation.
pub fn publish(transaction: &Transaction, written: &WriteTarget) -> Result<()> {
    let WriteTarget { number, version, members, source, .. } = written;
    let replaced = match source {
        None => 0,
        Some(source) => {
            let table = table_name(*number);
            let delete = format!("DELETE FROM {table} WHERE source = ?1 AND version < ?2");
            query::change(transaction, &delete, params![source, version])?
        }
    };
    let sql = "UPDATE search_table SET version = ?2, members = members + ?3 - ?4,
                 generation = (SELECT generation FROM dataset WHERE id = search_table.dataset)
               WHERE number = ?1";
    match query::change(transaction, sql, params![number, version, members, replaced])? {
        0 => Err(QueryError::NoRow),
        _ => Ok(()),
    }
}

/// Returns the statement that creates a table. The columns are in the order of [`TableWriter::add`].
fn create_table(number: i64, dimensions: Dimensions, vector_schema: &str) -> String {
    let ranks = (0..Granularity::LEVELS).map(|level| format!("rank_{level} bigint NOT NULL"));
    let issues = IssueKind::ALL.iter().map(|kind| format!("{} real NOT NULL", issue_column(*kind)));
    // A vector column needs a dimension even if there are no vectors.
    let (text_vector, model) = (dimensions.text_vector.max(1), dimensions.model.max(1));
    format!(
        "CREATE TABLE {} (media bigint NOT NULL, version bigint NOT NULL, source bigint NOT NULL,
           picture bigint NOT NULL, kind smallint NOT NULL, path bytea NOT NULL, {},
           uniqueness real NOT NULL, twin real NOT NULL, twin_order bigint, twin_link real NOT NULL,
           {}, labels jsonb NOT NULL, tags jsonb NOT NULL,
           descriptor {vector_schema}.halfvec({DIMENSION}) NOT NULL,
           text_vector {vector_schema}.halfvec({text_vector}), model_vector {vector_schema}.halfvec({model}),
           file_path text COLLATE \"C\" NOT NULL, size bigint NOT NULL, width bigint NOT NULL,
           height bigint NOT NULL, format text NOT NULL, date bigint, extra_columns jsonb NOT NULL,
           name_words text NOT NULL)",
        table_name(number),
        ranks.collect::<Vec<_>>().join(", "),
        issues.collect::<Vec<_>>().join(", "),
    )
}
