//! Reads the rows and columns of a Parquet file. Start here to read a file.

use std::sync::Arc;

use half::f16;
use parquet::{
    basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as PhysicalType},
    errors::ParquetError,
    file::{
        metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData},
        reader::RowGroupReader,
    },
    record::{Field, reader::TreeBuilder},
    schema::types::{SchemaDescriptor, Type, TypePtr},
};
use serde_json::{Map, Value};

use crate::{
    pages::{BATCH_RECORDS, BoundedRowGroup},
    source::{BoundedFile, Source},
};
use tessera_picture::decode::catch_decoder_panic;

/// What is wrong with a file, or an error that the visitor of the caller returned.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The memory limit for the pages that are open at the same time: a dictionary and a page for each column.
const MAX_PAGE_MEMORY: u64 = 256 << 20;
const MAX_PAGE_BYTES: u64 = 16 << 20;
/// The maximum length of a library message about a damaged file, in characters.
const MAX_ERROR_CHARS: usize = 120;
/// The maximum number of list values in one row, in all columns together.
const MAX_ROW_VALUES: u64 = 1 << 20;

/// The columns that are read.
#[derive(Clone, Copy, Debug)]
pub enum Columns<'a> {
    All,
    /// The columns with these names.
    Named(&'a [&'a str]),
    /// The columns with these names that have one value per row.
    Flat(&'a [&'a str]),
}

pub struct ParquetFile {
    file: Arc<BoundedFile>,
    metadata: ParquetMetaData,
}

impl ParquetFile {
    pub fn open(source: impl Into<Source>) -> Result<Self, Error> {
        let file = Arc::new(BoundedFile::new(source.into()));
        let read = || ParquetMetaDataReader::new().parse_and_finish(&*file);
        let metadata = catch_panic(|| read().map_err(described))?;
        Ok(Self { file, metadata })
    }

    /// The names of all columns.
    pub fn column_names(&self) -> Vec<String> {
        let fields = self.schema().root_schema().get_fields();
        fields.iter().map(|field| field.name().to_owned()).collect()
    }

    /// Returns the names of the columns with one text, number, flag or date per row.
    pub fn scalar_column_names(&self) -> Vec<String> {
        let is_scalar = |field: &&TypePtr| {
            let info = field.get_basic_info();
            let is_list = info.has_repetition() && info.repetition() == Repetition::REPEATED;
            let is_text =
                matches!(info.converted_type(), ConvertedType::UTF8 | ConvertedType::ENUM);
            let is_number = info.converted_type() == ConvertedType::DECIMAL
                || info.logical_type_ref() == Some(&LogicalType::Float16);
            field.is_primitive()
                && !is_list
                && match field.get_physical_type() {
                    PhysicalType::BYTE_ARRAY => is_text || is_number,
                    PhysicalType::FIXED_LEN_BYTE_ARRAY => is_number,
                    _ => true,
                }
        };
        let fields = self.schema().root_schema().get_fields().iter().filter(is_scalar);
        fields.map(|field| field.name().to_owned()).collect()
    }

    /// Calls `visit` with each row, as a JSON object.
    pub fn for_each_row(
        &self,
        columns: Columns<'_>,
        visit: &mut dyn FnMut(Value) -> Result<(), Error>,
    ) -> Result<(), Error> {
        catch_panic(|| self.read_rows(columns, visit))
    }

    fn read_rows(
        &self,
        columns: Columns<'_>,
        visit: &mut dyn FnMut(Value) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let root = self.schema().root_schema();
        let fields = root.get_fields().iter();
        let fields: Vec<_> =
            fields.filter(|field| columns.contain(field)).map(Arc::clone).collect();
        let schema =
            Type::group_type_builder(root.name()).with_fields(fields).build().map_err(described)?;
        let schema = Arc::new(schema);
        let dates = schema.get_fields().iter().filter(|field| has_nanoseconds(field));
        let dates: Vec<&str> = dates.map(|field| field.name()).collect();
        let schema = Arc::new(SchemaDescriptor::new(Arc::clone(&schema)));
        let open = schema.num_columns().max(1) as u64;
        self.file.begin_pages((MAX_PAGE_MEMORY / (2 * open)).clamp(1, MAX_PAGE_BYTES));
        for metadata in self.metadata.row_groups() {
            let max_row_values = MAX_ROW_VALUES / open;
            let group = BoundedRowGroup { file: &self.file, metadata, max_row_values };
            let rows = count_rows(&group, columns)?;
            if schema.num_columns() == 0 {
                (0..rows).try_for_each(|_| visit(Value::Object(Map::new())))?;
                continue;
            }
            let builder = TreeBuilder::new().with_batch_size(BATCH_RECORDS);
            for row in builder.as_iter(Arc::clone(&schema), &group).map_err(described)? {
                let mut row = to_json(&Field::Group(row.map_err(described)?));
                for date in &dates {
                    if let Some(nanoseconds) = row[date].as_i64() {
                        row[date] = date_text(nanoseconds).into();
                    }
                }
                visit(row)?;
            }
        }
        Ok(())
    }

    /// Calls `visit` with each text of a column. The column is the one whose name satisfies `is_wanted`, or the first
    /// column of texts. Only columns with one value per row are considered.
    pub fn for_each_text(
        &self,
        is_wanted: impl Fn(&str) -> bool,
        visit: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let schema = self.schema();
        let is_text = |index: &usize| {
            let column = schema.column(*index);
            column.physical_type() == PhysicalType::BYTE_ARRAY && column.max_rep_level() == 0
        };
        let texts: Vec<usize> = (0..schema.num_columns()).filter(is_text).collect();
        let wanted = texts.iter().find(|index| is_wanted(schema.column(**index).name()));
        let index = *wanted.or(texts.first()).ok_or("it has no string column")?;
        let mut end = Ok(());
        self.for_each_record(index, 0, BATCH_RECORDS, &mut |values| {
            end = values.iter().flatten().try_for_each(|value| visit(value));
            end.is_ok()
        })?;
        end
    }

    /// Returns a text that the writer stored in the metadata of the file.
    pub fn key_value(&self, key: &str) -> Option<&str> {
        let pairs = self.metadata.file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
    }

    pub(crate) fn row_groups(&self) -> &[RowGroupMetaData] {
        self.metadata.row_groups()
    }

    pub(crate) fn bounded_file(&self) -> &Arc<BoundedFile> {
        &self.file
    }

    pub(crate) fn begin_pages(&self, max_bytes: u64) {
        self.file.begin_pages(max_bytes);
    }

    pub(crate) fn schema(&self) -> &SchemaDescriptor {
        self.metadata.file_metadata().schema_descr()
    }
}

/// Converts a value to JSON. A float32 or float16 with a fraction becomes the shortest decimal that is the same number.
/// The floats in lists are only widened, because vectors are long.
fn to_json(field: &Field) -> Value {
    match field {
        Field::Float(number) if number.fract() != 0.0 => {
            number.to_string().parse::<f64>().ok().into()
        }
        Field::Float16(number) if number.to_f32().fract() != 0.0 => shortest_half(*number).into(),
        Field::Group(row) => {
            row.get_column_iter().map(|(name, field)| (name.clone(), to_json(field))).collect()
        }
        Field::ListInternal(list) if matches!(list.elements(), [Field::Group(_), ..]) => {
            list.elements().iter().map(to_json).collect()
        }
        field => field.to_json_value(),
    }
}

fn shortest_half(number: f16) -> Option<f64> {
    let rounded = |digits| format!("{:.digits$e}", number.to_f32()).parse::<f64>().ok();
    // Five digits identify every float16.
    (0..5).filter_map(rounded).find(|decimal| f16::from_f64(*decimal) == number)
}

/// Whether a column contains dates in nanoseconds, which the library reads as numbers.
fn has_nanoseconds(field: &Type) -> bool {
    matches!(
        field.get_basic_info().logical_type_ref(),
        Some(LogicalType::Timestamp(date)) if date.unit == TimeUnit::NANOS
    )
}

/// Returns a date as the library writes dates in microseconds, with further digits if it has them.
fn date_text(nanoseconds: i64) -> String {
    let text = Field::TimestampMicros(nanoseconds.div_euclid(1_000)).to_string();
    match nanoseconds.rem_euclid(1_000) {
        0 => text,
        digits => text.replace(" +", &format!("{digits:03} +")),
    }
}

impl Columns<'_> {
    fn contain(self, field: &Type) -> bool {
        let is_list = || {
            let info = field.get_basic_info();
            info.has_repetition() && info.repetition() == Repetition::REPEATED
        };
        match self {
            Self::All => true,
            Self::Named(names) => names.contains(&field.name()),
            Self::Flat(names) => {
                names.contains(&field.name()) && field.is_primitive() && !is_list()
            }
        }
    }
}

/// Counts the rows in the headers of the pages, and checks that the file claims the same number. If all columns are
/// lists, the headers only say how many rows there can be.
pub(crate) fn count_rows(group: &dyn RowGroupReader, columns: Columns<'_>) -> Result<u64, Error> {
    let metadata = group.metadata();
    let one_per_row = |column: &ColumnChunkMetaData| column.column_descr().max_rep_level() == 0;
    let is_read = |column: &ColumnChunkMetaData| {
        one_per_row(column) && columns.contain(column.column_descr().self_type())
    };
    let mut all = metadata.columns().iter();
    // Columns that are read are preferred, because the pages of other columns may be large.
    let column = all.clone().position(is_read).or_else(|| all.position(one_per_row));
    let is_exact = column.is_some();
    if group.num_columns() == 0 {
        return Err("it has no columns".into());
    }
    let mut pages = group.get_column_page_reader(column.unwrap_or(0)).map_err(described)?;
    let mut rows = 0_u64;
    while let Some(page) = pages.peek_next_page().map_err(described)? {
        if !page.is_dict {
            rows += page.num_levels.or(page.num_rows).unwrap_or(0) as u64;
        }
        pages.skip_next_page().map_err(described)?;
    }
    let claimed = metadata.num_rows();
    match u64::try_from(claimed) {
        Ok(number) if number == rows || (!is_exact && number < rows) => Ok(number),
        _ => Err(format!("it claims {claimed} rows, but its pages have {rows}").into()),
    }
}

/// Returns the message of the library as one line of bounded length, because the message may quote the file.
pub(crate) fn described(error: ParquetError) -> Error {
    let text = match error {
        // The caller decides what an error of the storage or the system means.
        ParquetError::External(cause) if cause.is::<std::io::Error>() => return cause,
        ParquetError::General(text) | ParquetError::EOF(text) => text,
        other => other.to_string(),
    };
    let line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    line.take(MAX_ERROR_CHARS).collect::<String>().into()
}

/// Runs `read` and turns a panic into an error, because the library panics on some damaged pages.
pub(crate) fn catch_panic<T>(read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_decoder_panic(read).unwrap_or_else(|| Err("a damaged page".into()))
}
