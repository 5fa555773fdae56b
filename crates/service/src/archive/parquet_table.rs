//! Writes a Parquet file whose columns may be lists and structs. The Parquet library takes flat columns with levels,
//! which say where lists begin and what is absent. This file derives the flat columns and their levels from whole rows.
//! `parquet_columns` defines the columns of an export.

use std::{io::Write, mem, sync::Arc};

use parquet::{
    basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType},
    data_type::{
        BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
    },
    errors::ParquetError,
    file::{
        metadata::KeyValue,
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::types::{Type, TypePtr},
};

const ROWS_PER_GROUP: usize = 8_192;

/// A column, or a part of a struct.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    pub name: &'a str,
    /// Whether the value may be absent.
    pub optional: bool,
    pub kind: FieldKind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum FieldKind {
    Text,
    Bytes,
    Bool,
    Float,
    Double,
    Int32,
    Int64,
    /// Microseconds since 1970, in UTC.
    Timestamp,
    /// A list, which may be empty but not absent. Its elements are not absent, either.
    List(&'static FieldKind),
    Struct(&'static [Field<'static>]),
}

/// The value of a field in one row.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Absent,
    Text(String),
    Bytes(Vec<u8>),
    Bool(bool),
    Float(f32),
    Double(f64),
    Int(i64),
    List(Vec<Cell>),
    Struct(Vec<Cell>),
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns a number. A number that is not finite counts as absent, because readers treat NaN in different ways.
    pub(super) fn double(number: Option<f64>) -> Self {
        number.filter(|number| number.is_finite()).map_or(Self::Absent, Self::Double)
    }

    pub(super) fn optional_text(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::Absent, Self::text)
    }
}

impl<'a> Field<'a> {
    pub(super) const fn required(name: &'a str, kind: FieldKind) -> Self {
        Self { name, optional: false, kind }
    }

    pub(super) const fn optional(name: &'a str, kind: FieldKind) -> Self {
        Self { name, optional: true, kind }
    }

    /// Returns the type of the field. The schema language of the library cannot write every name.
    fn schema(&self) -> Result<TypePtr, ParquetError> {
        let repetition = if self.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let primitive = |physical, logical| {
            let builder = Type::primitive_type_builder(self.name, physical);
            builder.with_repetition(repetition).with_logical_type(logical).build()
        };
        let group = |fields, logical| {
            let builder = Type::group_type_builder(self.name).with_repetition(repetition);
            builder.with_logical_type(logical).with_fields(fields).build()
        };
        let schema = match self.kind {
            FieldKind::Text => primitive(PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            FieldKind::Bytes => primitive(PhysicalType::BYTE_ARRAY, None),
            FieldKind::Bool => primitive(PhysicalType::BOOLEAN, None),
            FieldKind::Float => primitive(PhysicalType::FLOAT, None),
            FieldKind::Double => primitive(PhysicalType::DOUBLE, None),
            FieldKind::Int32 => primitive(PhysicalType::INT32, None),
            FieldKind::Int64 => primitive(PhysicalType::INT64, None),
            FieldKind::Timestamp => {
                let logical = LogicalType::timestamp(true, TimeUnit::MICROS);
                primitive(PhysicalType::INT64, Some(logical))
            }
            FieldKind::List(element) => {
                let element = Field::required("element", *element).schema()?;
                let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
                let list = list.with_fields(vec![element]).build()?;
                group(vec![Arc::new(list)], Some(LogicalType::List))
            }
            FieldKind::Struct(fields) => {
                group(fields.iter().map(Field::schema).collect::<Result<_, _>>()?, None)
            }
        };
        schema.map(Arc::new)
    }
}

impl FieldKind {
    /// Calls `each` with the kind of each flat column, in the order of the file.
    fn for_each_flat_kind(self, each: &mut impl FnMut(Self)) {
        match self {
            Self::List(element) => element.for_each_flat_kind(each),
            Self::Struct(fields) => {
                for field in fields {
                    field.kind.for_each_flat_kind(each);
                }
            }
            flat => each(flat),
        }
    }

    fn count_flat(self) -> usize {
        let mut count = 0;
        self.for_each_flat_kind(&mut |_| count += 1);
        count
    }
}

/// The values of a flat column, with the levels of each value and of each absent value.
#[derive(Debug)]
struct FlatColumn {
    values: FlatValues,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

#[derive(Debug)]
enum FlatValues {
    Bytes(Vec<ByteArray>),
    Bool(Vec<bool>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
}

/// Where a value is in its row.
#[derive(Clone, Copy, Debug, Default)]
struct Levels {
    /// How many of the optional fields and lists around the value have content.
    definition: i16,
    /// The innermost list that continues with this value. Lists are counted from the outside, and 0 begins a row.
    repetition: i16,
    /// The number of lists around the value.
    depth: i16,
}

impl FlatColumn {
    fn new(kind: FieldKind) -> Self {
        let values = match kind {
            FieldKind::Float => FlatValues::Float(Vec::new()),
            FieldKind::Double => FlatValues::Double(Vec::new()),
            FieldKind::Int32 => FlatValues::Int32(Vec::new()),
            FieldKind::Int64 | FieldKind::Timestamp => FlatValues::Int64(Vec::new()),
            FieldKind::Bool => FlatValues::Bool(Vec::new()),
            _ => FlatValues::Bytes(Vec::new()),
        };
        Self { values, definitions: Vec::new(), repetitions: Vec::new() }
    }

    fn push_levels(&mut self, levels: Levels) {
        self.definitions.push(levels.definition);
        self.repetitions.push(levels.repetition);
    }

    fn push(&mut self, cell: Cell, levels: Levels) -> Result<(), ParquetError> {
        self.push_levels(levels);
        match (&mut self.values, cell) {
            (FlatValues::Bytes(values), Cell::Text(text)) => values.push(text.into_bytes().into()),
            (FlatValues::Bytes(values), Cell::Bytes(bytes)) => values.push(bytes.into()),
            (FlatValues::Bool(values), Cell::Bool(value)) => values.push(value),
            (FlatValues::Float(values), Cell::Float(number)) => values.push(number),
            (FlatValues::Double(values), Cell::Double(number)) => values.push(number),
            (FlatValues::Int64(values), Cell::Int(number)) => values.push(number),
            (FlatValues::Int32(values), Cell::Int(number)) => values.push(i32::try_from(number)?),
            _ => return Err(wrong_kind()),
        }
        Ok(())
    }

    /// Writes and removes the values.
    fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        let levels = [&*self.definitions, &self.repetitions];
        match &mut self.values {
            FlatValues::Bytes(values) => write_flat::<ByteArrayType, _>(group, values, levels),
            FlatValues::Bool(values) => write_flat::<BoolType, _>(group, values, levels),
            FlatValues::Float(values) => write_flat::<FloatType, _>(group, values, levels),
            FlatValues::Double(values) => write_flat::<DoubleType, _>(group, values, levels),
            FlatValues::Int32(values) => write_flat::<Int32Type, _>(group, values, levels),
            FlatValues::Int64(values) => write_flat::<Int64Type, _>(group, values, levels),
        }?;
        self.definitions.clear();
        self.repetitions.clear();
        Ok(())
    }
}

fn write_flat<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<T::T>,
    [definitions, repetitions]: [&[i16]; 2],
) -> Result<(), ParquetError> {
    if let Some(mut column) = group.next_column()? {
        let values = mem::take(values);
        column.typed::<T>().write_batch(&values, Some(definitions), Some(repetitions))?;
        column.close()?;
    }
    Ok(())
}

fn wrong_kind() -> ParquetError {
    ParquetError::General("a value does not have the type of its column".to_owned())
}

/// Records that all columns of a field lack a value.
fn push_absent(columns: &mut [FlatColumn], levels: Levels) {
    for column in columns {
        column.push_levels(levels);
    }
}

/// Appends the cells of a row, or of a struct, to the flat columns of its fields.
fn append_fields(
    fields: &[Field<'_>],
    cells: impl IntoIterator<Item = Cell>,
    levels: Levels,
    mut columns: &mut [FlatColumn],
) -> Result<(), ParquetError> {
    for (field, cell) in fields.iter().zip(cells) {
        let (field_columns, rest) = mem::take(&mut columns).split_at_mut(field.kind.count_flat());
        columns = rest;
        if matches!(cell, Cell::Absent) {
            push_absent(field_columns, levels);
            continue;
        }
        let definition = levels.definition + i16::from(field.optional);
        append(field.kind, cell, Levels { definition, ..levels }, field_columns)?;
    }
    Ok(())
}

/// Appends a value to the flat columns of its field.
fn append(
    kind: FieldKind,
    cell: Cell,
    levels: Levels,
    columns: &mut [FlatColumn],
) -> Result<(), ParquetError> {
    match (kind, cell) {
        (FieldKind::List(_), Cell::List(items)) if items.is_empty() => {
            push_absent(columns, levels);
            Ok(())
        }
        (FieldKind::List(element), Cell::List(items)) => {
            let (definition, depth) = (levels.definition + 1, levels.depth + 1);
            for (position, item) in items.into_iter().enumerate() {
                let repetition = if position == 0 { levels.repetition } else { depth };
                append(*element, item, Levels { definition, repetition, depth }, columns)?;
            }
            Ok(())
        }
        (FieldKind::Struct(fields), Cell::Struct(cells)) => {
            append_fields(fields, cells, levels, columns)
        }
        (_, cell) => match columns {
            [column] => column.push(cell, levels),
            _ => Err(wrong_kind()),
        },
    }
}

/// Writes rows in groups of bounded size.
pub(super) struct TableWriter<'a, W: Write + Send> {
    file: SerializedFileWriter<W>,
    fields: Vec<Field<'a>>,
    columns: Vec<FlatColumn>,
    /// The number of rows in `columns`.
    rows: usize,
}

impl<'a, W: Write + Send> TableWriter<'a, W> {
    /// `metadata` is a key of the file with its value.
    pub(super) fn new(
        out: W,
        fields: Vec<Field<'a>>,
        metadata: Option<(String, String)>,
    ) -> Result<Self, ParquetError> {
        let types = fields.iter().map(Field::schema).collect::<Result<_, _>>()?;
        let schema = Arc::new(Type::group_type_builder("metadata").with_fields(types).build()?);
        let metadata = metadata.map(|(key, value)| vec![KeyValue::new(key, value)]);
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let properties = properties.set_key_value_metadata(metadata).build();
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
        let mut columns = Vec::new();
        for field in &fields {
            field.kind.for_each_flat_kind(&mut |kind| columns.push(FlatColumn::new(kind)));
        }
        Ok(Self { file, fields, columns, rows: 0 })
    }

    /// Appends a row, which has a cell for each field.
    pub(super) fn push(
        &mut self,
        cells: impl IntoIterator<Item = Cell>,
    ) -> Result<(), ParquetError> {
        append_fields(&self.fields, cells, Levels::default(), &mut self.columns)?;
        self.rows += 1;
        if self.rows == ROWS_PER_GROUP { self.write_group() } else { Ok(()) }
    }

    /// Ends the row group, which is in memory until then.
    pub(super) fn write_group(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            column.write(&mut group)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    /// Ends the file, and returns what it was written to.
    pub(super) fn finish(mut self) -> Result<W, ParquetError> {
        self.write_group()?;
        self.file.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tessera_parquet::{Columns, ParquetFile};

    use super::{FieldKind::*, *};

    const PART: &[Field<'static>] =
        &[Field::required("sides", List(&Double)), Field::optional("group", Text)];

    fn fields() -> Vec<Field<'static>> {
        vec![
            Field::required("number", Int32),
            Field::optional("name", Text),
            Field::required("names", List(&Text)),
            Field::required("parts", List(&Struct(PART))),
            Field::optional("part", Struct(PART)),
        ]
    }

    /// A row whose lists have 0 to 3 values, with the row that a reader finds.
    fn row(number: i32) -> (Vec<Cell>, Value) {
        let count = usize::try_from(number % 4).unwrap();
        let name = (number % 3 > 0).then(|| number.to_string());
        let names = vec![format!("n{number}"); count];
        let part = || {
            let sides = vec![Cell::Double(f64::from(number)); count];
            Cell::Struct(vec![Cell::List(sides), Cell::optional_text(name.clone())])
        };
        let part_value = json!({"sides": vec![f64::from(number); count], "group": name});
        let cells = vec![
            Cell::Int(number.into()),
            Cell::optional_text(name.clone()),
            Cell::List(names.iter().map(Cell::text).collect()),
            Cell::List((0..count).map(|_| part()).collect()),
            if count == 2 { Cell::Absent } else { part() },
        ];
        let whole = if count == 2 { Value::Null } else { part_value.clone() };
        let value = json!({"number": number, "name": name, "names": names,
                           "parts": vec![part_value; count], "part": whole});
        (cells, value)
    }

    #[test]
    fn rows_of_several_groups_are_read_as_written() {
        let rows: Vec<_> = (0..20_000).map(row).collect();
        let mut bytes = Vec::new();
        let mut table = TableWriter::new(&mut bytes, fields(), None).unwrap();
        for (cells, _) in rows.clone() {
            table.push(cells).unwrap();
        }
        table.finish().unwrap();
        let mut expected = rows.into_iter().map(|(_, value)| value);
        let file = ParquetFile::open(bytes).unwrap();
        let read = file.for_each_row(Columns::All, &mut |row| {
            assert_eq!(Some(row), expected.next());
            Ok(())
        });
        read.unwrap();
        assert_eq!(expected.next(), None);
    }

    #[test]
    fn numbers_that_are_not_finite_are_absent() {
        for number in [Some(f64::NAN), Some(f64::INFINITY), None] {
            assert!(matches!(Cell::double(number), Cell::Absent), "{number:?}");
        }
    }

    #[test]
    fn a_value_of_another_type_is_refused() {
        let mut bytes = Vec::new();
        let mut table = TableWriter::new(&mut bytes, fields(), None).unwrap();
        assert!(table.push([Cell::text("no number")]).is_err());
        assert!(table.push([Cell::Int(i64::MAX)]).is_err());
    }
}
