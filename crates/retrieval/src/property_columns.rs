//! What the files of members are: path, size, format, date and the columns of the user's own, for filters. Paths are a
//! folder and a name, because many files share a folder, and texts are numbers of a table.

use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Read, Write},
};

use tessera_model::{
    text::composed,
    vql::{ColumnValue, ItemValue, Period},
};
use tessera_store::media::MediaRecord;

use crate::columns::{Column, Lists, read_column};

/// The date of a member whose source knows no date.
const NO_DATE: i64 = i64::MIN;

#[derive(Debug, Default)]
pub struct PropertyColumns {
    /// The path of each folder in NFC, which ends with a slash unless the folder is that of the dataset.
    pub folders: TextTable,
    pub folder_of: Vec<u32>,
    /// In NFC.
    pub names: Lists<u8>,
    pub sizes: Vec<u64>,
    pub widths: Vec<u32>,
    pub heights: Vec<u32>,
    /// In milliseconds since 1970.
    dates: Vec<i64>,
    /// The number of each format in `texts`.
    pub formats: Vec<u32>,
    pub texts: TextTable,
    /// The columns of the user's own, by name. A column may be shorter than the list of members.
    pub extra: BTreeMap<String, ExtraColumn>,
}

impl PropertyColumns {
    pub fn push(&mut self, media: &MediaRecord) {
        let path = composed(&media.file_path()).into_owned();
        let (width, height) = media.cropped_size();
        let date = media.date().unwrap_or(NO_DATE);
        self.push_file(&path, media.size, [width, height], date);
        self.formats.push(self.texts.number(&media.format()));
        for (name, value) in &media.extra_columns {
            self.push_extra(name, value);
        }
    }

    fn push_file(&mut self, path: &str, size: u64, [width, height]: [u32; 2], date: i64) {
        let (folder, name) = path.split_at(path.rfind('/').map_or(0, |slash| slash + 1));
        self.folder_of.push(self.folders.number(folder));
        self.names.push(name.bytes());
        self.sizes.push(size);
        self.widths.push(width);
        self.heights.push(height);
        self.dates.push(date);
    }

    /// Sets a value of the member that was added last.
    fn push_extra(&mut self, name: &str, value: &ColumnValue) {
        let (kind, number) = match value {
            ColumnValue::Flag(flag) => (ExtraKind::Flag, f64::from(u8::from(*flag))),
            ColumnValue::Number(number) => (ExtraKind::Number, *number),
            ColumnValue::Text(text) => {
                let number = f64::from(self.texts.number(text));
                (
                    if Period::parse_exact(text).is_some() {
                        ExtraKind::Date
                    } else {
                        ExtraKind::Text
                    },
                    number,
                )
            }
        };
        let members = self.sizes.len();
        if !self.extra.contains_key(name) {
            self.extra.insert(name.to_owned(), ExtraColumn::default());
        }
        if let Some(column) = self.extra.get_mut(name) {
            column.kinds.resize(members, ExtraKind::Absent as u8);
            column.values.resize(members, 0.0);
            column.kinds[members - 1] = kind as u8;
            column.values[members - 1] = number;
        }
    }

    /// Returns the columns of the members in `order`. Equal datasets get equal numbers of texts.
    pub fn reordered(&self, order: &[u32]) -> Self {
        let mut new = Self::default();
        let mut path = String::new();
        for member in order.iter().map(|&member| member as usize) {
            self.path(member, &mut path);
            let sides = [self.widths[member], self.heights[member]];
            new.push_file(&path, self.sizes[member], sides, self.dates[member]);
            new.formats.push(new.texts.number(self.texts.get(self.formats[member])));
            for (name, column) in &self.extra {
                if let Some(value) = column.value(member, &self.texts) {
                    new.push_extra(name, &value);
                }
            }
        }
        new.folders.numbers = HashMap::new();
        new.texts.numbers = HashMap::new();
        new
    }

    /// Writes the path of a member into `path`.
    pub fn path(&self, member: usize, path: &mut String) {
        path.clear();
        path.push_str(self.folders.get(self.folder_of[member]));
        path.push_str(self.name(member));
    }

    pub fn name(&self, member: usize) -> &str {
        str::from_utf8(self.names.get(member)).unwrap_or_default()
    }

    pub fn date(&self, member: usize) -> Option<ItemValue<'static>> {
        let date = self.dates[member];
        (date != NO_DATE).then_some(ItemValue::Date(date))
    }

    /// Returns the columns in the order in which a file contains them. The columns of the user's own follow.
    fn columns_mut(&mut self) -> [&mut dyn Column; 9] {
        [
            &mut self.folders.texts,
            &mut self.folder_of,
            &mut self.names,
            &mut self.sizes,
            &mut self.widths,
            &mut self.heights,
            &mut self.dates,
            &mut self.formats,
            &mut self.texts.texts,
        ]
    }

    pub fn memory_bytes(&mut self) -> usize {
        let columns: usize = self.columns_mut().iter().map(|column| column.memory_bytes()).sum();
        let extra = self.extra.values();
        let extra = extra.map(|column| column.kinds.memory_bytes() + column.values.memory_bytes());
        columns + extra.sum::<usize>()
    }

    pub fn write(&mut self, to: &mut dyn Write) -> io::Result<()> {
        self.columns_mut().into_iter().try_for_each(|column| column.write(to))?;
        let names: Vec<&String> = self.extra.keys().collect();
        serde_json::to_vec(&names)?.write(to)?;
        self.extra.values().try_for_each(|column| {
            column.kinds.write(to)?;
            column.values.write(to)
        })
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(from: &mut dyn Read) -> io::Result<Self> {
        let mut columns = Self::default();
        columns.columns_mut().into_iter().try_for_each(|column| column.read(from))?;
        let names: Vec<String> = serde_json::from_slice(&read_column::<Vec<u8>>(from)?)?;
        for name in names {
            let column = ExtraColumn { kinds: read_column(from)?, values: read_column(from)? };
            columns.extra.insert(name, column);
        }
        Ok(columns)
    }
}

/// A column of the user's own: the kind of each value, and the value as a number.
#[derive(Debug, Default)]
pub struct ExtraColumn {
    kinds: Vec<u8>,
    /// A number, a flag as 0 or 1, or the number of a text or date in the table of texts.
    values: Vec<f64>,
}

#[derive(Clone, Copy)]
enum ExtraKind {
    Absent,
    Flag,
    Number,
    Text,
    Date,
}

impl ExtraColumn {
    fn value(&self, member: usize, texts: &TextTable) -> Option<ColumnValue> {
        let (&kind, &value) = self.kinds.get(member).zip(self.values.get(member))?;
        match kind {
            kind if kind == ExtraKind::Flag as u8 => Some(ColumnValue::Flag(value > 0.0)),
            kind if kind == ExtraKind::Number as u8 => Some(ColumnValue::Number(value)),
            kind if kind == ExtraKind::Absent as u8 => None,
            _ => Some(ColumnValue::Text(texts.get(text_number(value)).to_owned())),
        }
    }

    /// Returns for each member whether its value fulfills a condition. Each text is compared once.
    pub fn test<'a>(
        &'a self,
        texts: &TextTable,
        matches: impl Fn(Option<ItemValue<'_>>) -> bool + Send + Sync + 'a,
    ) -> impl Fn(usize) -> bool + Send + Sync + 'a {
        let by_text: Vec<bool> = texts
            .iter()
            .map(|text| matches(Some(ColumnValue::Text(text.to_owned()).item())))
            .collect();
        move |member| {
            let kind = self.kinds.get(member).copied().unwrap_or(ExtraKind::Absent as u8);
            let value = self.values.get(member).copied().unwrap_or_default();
            match kind {
                kind if kind == ExtraKind::Absent as u8 => matches(None),
                kind if kind == ExtraKind::Number as u8 => matches(Some(ItemValue::Number(value))),
                kind if kind == ExtraKind::Flag as u8 => {
                    matches(Some(ItemValue::Flag(value > 0.0)))
                }
                _ => by_text.get(text_number(value) as usize).copied().unwrap_or_default(),
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was a u32")]
fn text_number(value: f64) -> u32 {
    value as u32
}

/// Texts with numbers, in the order of their first use.
#[derive(Debug, Default)]
pub struct TextTable {
    /// The number of each text while the table grows.
    numbers: HashMap<String, u32>,
    texts: Lists<u8>,
}

impl TextTable {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.texts.push(text.bytes());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    pub fn get(&self, number: u32) -> &str {
        str::from_utf8(self.texts.get(number as usize)).unwrap_or_default()
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.texts.len()).map(|at| str::from_utf8(self.texts.get(at)).unwrap_or_default())
    }
}
