//! Unpacks and checks the pages of a file before the library reads values from them. Limits the values in a single row.

use std::sync::Arc;

use parquet::{
    basic::{Encoding, Type as PhysicalType},
    bloom_filter::Sbbf,
    column::page::{Page, PageMetadata, PageReader},
    errors::{ParquetError, Result},
    file::{
        metadata::RowGroupMetaData, reader::RowGroupReader, serialized_reader::SerializedPageReader,
    },
    record::reader::RowIter,
    schema::types::Type,
};

use crate::{
    compact_protocol::{read_byte, read_varint},
    page_codec::{DAMAGED, PageCodec},
    source::BoundedFile,
};

/// The number of records that are read at a time.
pub(crate) const BATCH_RECORDS: usize = 16;
/// The memory limit for a batch of texts with common beginnings, because the library copies each text in full.
const MAX_SHARED_TEXT_BYTES: u64 = 256 << 20;

pub(crate) struct BoundedRowGroup<'a> {
    pub(crate) file: &'a Arc<BoundedFile>,
    pub(crate) metadata: &'a RowGroupMetaData,
    /// The maximum number of values that lists in one row may have.
    pub(crate) max_row_values: u64,
}

impl RowGroupReader for BoundedRowGroup<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.metadata
    }

    fn num_columns(&self) -> usize {
        self.metadata.num_columns()
    }

    fn get_column_page_reader(&self, index: usize) -> Result<Box<dyn PageReader>> {
        let column = self.metadata.column(index);
        let codec = PageCodec::of(column.compression()).map_err(ParquetError::General)?;
        let mut packed = column.clone();
        if codec.is_some() {
            // The pages are declared as uncompressed, so that the library leaves them as they are.
            let uncompressed = parquet::basic::Compression::UNCOMPRESSED;
            packed = packed.into_builder().set_compression(uncompressed).build()?;
        }
        let rows = usize::try_from(self.metadata.num_rows())?;
        let pages = SerializedPageReader::new(Arc::clone(self.file), &packed, rows, None)?;
        let max_level = column.column_descr().max_rep_level();
        Ok(Box::new(BoundedPages {
            pages,
            codec,
            max_bytes: self.file.max_page_bytes(),
            limits: (max_level > 0).then(|| RowLimits::new(max_level, self.max_row_values)),
            max_row_values: if max_level > 0 { self.max_row_values } else { 1 },
            is_text: column.column_type() == PhysicalType::BYTE_ARRAY,
        }))
    }

    fn get_column_bloom_filter(&self, _: usize) -> Option<&Sbbf> {
        None
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_row_group(projection, self)
    }
}

struct BoundedPages {
    pages: SerializedPageReader<BoundedFile>,
    /// `None` if the library unpacks the pages.
    codec: Option<PageCodec>,
    max_bytes: u64,
    /// The limits of a row. Only a column of lists has them.
    limits: Option<RowLimits>,
    max_row_values: u64,
    is_text: bool,
}

impl BoundedPages {
    fn unpack(&self, page: Page) -> Result<Page> {
        let Some(codec) = self.codec else { return Ok(page) };
        let levels = match &page {
            Page::DataPageV2 { is_compressed: false, .. } => return Ok(page),
            Page::DataPageV2 { rep_levels_byte_len, def_levels_byte_len, .. } => {
                // The levels of this type of page are not compressed.
                (*rep_levels_byte_len as usize).saturating_add(*def_levels_byte_len as usize)
            }
            _ => 0,
        };
        let damaged = || ParquetError::General("a damaged page".to_owned());
        let (levels, packed) = page.buffer().split_at_checked(levels).ok_or_else(damaged)?;
        let max_bytes = self.max_bytes.saturating_sub(levels.len() as u64);
        let values = codec.unpack(packed, max_bytes).map_err(ParquetError::General)?;
        let unpacked = if levels.is_empty() { values } else { [levels, &values].concat() };
        Ok(with_buffer(page, unpacked))
    }

    fn check(&mut self, page: &Page) -> Result<()> {
        if let Some(limits) = &mut self.limits {
            limits
                .check(page, self.is_text)
                .map_err(|why| ParquetError::General(why.to_owned()))?;
        }
        let batch = (BATCH_RECORDS as u64).saturating_mul(self.max_row_values);
        let values = batch.min(u64::from(page.num_values()));
        let bytes = values.saturating_mul(page.buffer().len() as u64);
        if page.encoding() == Encoding::DELTA_BYTE_ARRAY && bytes > MAX_SHARED_TEXT_BYTES {
            return Err(ParquetError::General("a page has too many long texts".to_owned()));
        }
        Ok(())
    }
}

/// Returns the page with other content, which is not compressed.
fn with_buffer(mut page: Page, unpacked: Vec<u8>) -> Page {
    match &mut page {
        Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => *buf = unpacked.into(),
        Page::DataPageV2 { buf, is_compressed, .. } => {
            *buf = unpacked.into();
            *is_compressed = false;
        }
    }
    page
}

impl PageReader for BoundedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(page) = self.pages.get_next_page()? else { return Ok(None) };
        let page = self.unpack(page)?;
        self.check(&page)?;
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

impl Iterator for BoundedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// The maximum number of bytes of the list values in one row. Each value counts as much as the longest one in the
/// dictionary.
const MAX_LIST_BYTES: u64 = 64 << 20;
/// The maximum number of pages that one row of a list may span. Writers begin each page with a new row.
const MAX_ROW_PAGES: u32 = 8;
/// The number of levels in a bit-packed group.
const GROUP_LEVELS: u64 = 8;
/// The bytes of the length that precedes the levels of a page, and of the length that precedes a text.
const LENGTH_BYTES: usize = 4;

const TOO_LONG: &str = "a row has too many values";

/// Counts the values per row in a column of lists. A row may continue on the next page.
pub(crate) struct RowLimits {
    max_values: u64,
    max_level: u8,
    longest_text: u64,
    /// The number of values of the current row.
    values: u64,
    /// The number of pages since the last page that began a row.
    pages: u32,
}

impl RowLimits {
    pub(crate) fn new(max_level: i16, max_values: u64) -> Self {
        let max_level = u8::try_from(max_level).unwrap_or(u8::MAX);
        Self { max_values, max_level, longest_text: 0, values: 0, pages: 0 }
    }

    /// Checks an unpacked page.
    pub(crate) fn check(&mut self, page: &Page, is_text: bool) -> Result<(), &'static str> {
        match page {
            Page::DictionaryPage { buf, .. } if is_text => self.measure_texts(buf).ok_or(DAMAGED),
            Page::DictionaryPage { .. } | Page::DataPage { num_values: 0, .. } => Ok(()),
            Page::DataPage { rep_level_encoding, .. } if *rep_level_encoding != Encoding::RLE => {
                Err(DAMAGED)
            }
            Page::DataPage { buf, num_values, .. } => {
                let (length, levels) = buf.split_first_chunk().ok_or(DAMAGED)?;
                let length = u32::from_le_bytes(*length) as usize;
                self.count(levels.get(..length).ok_or(DAMAGED)?, u64::from(*num_values))
            }
            Page::DataPageV2 { buf, num_values, rep_levels_byte_len, .. } => {
                let levels = buf.get(..*rep_levels_byte_len as usize).ok_or(DAMAGED)?;
                self.count(levels, u64::from(*num_values))
            }
        }
    }

    fn measure_texts(&mut self, mut texts: &[u8]) -> Option<()> {
        while let Some((length, rest)) = texts.split_first_chunk::<LENGTH_BYTES>() {
            let length = u32::from_le_bytes(*length);
            self.longest_text = self.longest_text.max(length.into());
            texts = rest.get(length as usize..)?;
        }
        Some(())
    }

    /// Counts the values of each row in repetition levels, which are runs of one level or bit-packed groups.
    fn count(&mut self, mut levels: &[u8], mut left: u64) -> Result<(), &'static str> {
        let width = u8::BITS - self.max_level.leading_zeros();
        self.pages += 1;
        while left > 0 {
            let head = read_varint(&mut levels).ok_or(DAMAGED)?;
            if head % 2 == 0 {
                let length = (head / 2).min(left);
                let level = read_byte(&mut levels).ok_or(DAMAGED)?;
                self.add(level, length)?;
                left -= length;
                if length == 0 {
                    return Err(DAMAGED);
                }
                continue;
            }
            for _ in 0..head / 2 {
                let group = levels.split_at_checked(width as usize).ok_or(DAMAGED)?;
                levels = group.1;
                let packed =
                    group.0.iter().rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
                for at in 0..GROUP_LEVELS.min(left) {
                    let level = packed >> (at * u64::from(width)) & ((1 << width) - 1);
                    self.add(u8::from(level > 0), 1)?;
                }
                left = left.saturating_sub(GROUP_LEVELS);
                if left == 0 {
                    break;
                }
            }
        }
        if self.pages > MAX_ROW_PAGES { Err(TOO_LONG) } else { Ok(()) }
    }

    /// Adds values of one level. A value of level 0 begins a row.
    fn add(&mut self, level: u8, length: u64) -> Result<(), &'static str> {
        if level == 0 {
            (self.values, self.pages) = (1, 0);
            return Ok(());
        }
        self.values += length;
        let bytes = self.values.saturating_mul(self.longest_text);
        let is_long = self.values > self.max_values || bytes > MAX_LIST_BYTES;
        if is_long { Err(TOO_LONG) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(levels: &[u8], num_values: u32) -> Page {
        let length = u32::try_from(levels.len()).unwrap_or(0).to_le_bytes();
        Page::DataPage {
            buf: [&length[..], levels].concat().into(),
            num_values,
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        }
    }

    #[test]
    fn values_of_a_row_are_counted_over_runs_groups_and_pages() {
        // A row of nine values: a run of one 0 and a run of eight 1s. Then a group: 0 1 1 0 1 1 1 1.
        let (run, group) = ([2, 0, 16, 1], [3, 0b1111_0110]);
        for (most, passes) in [(9, true), (8, false)] {
            assert_eq!(RowLimits::new(1, most).check(&page(&run, 9), false).is_ok(), passes);
        }
        for (most, passes) in [(5, true), (4, false)] {
            assert_eq!(RowLimits::new(1, most).check(&page(&group, 8), false).is_ok(), passes);
        }
        // The last row of the group continues on the next page.
        let mut limits = RowLimits::new(1, 12);
        assert_eq!(limits.check(&page(&group, 8), false), Ok(()));
        assert_eq!(limits.check(&page(&[14, 1], 7), false), Ok(()));
        assert_eq!(limits.check(&page(&[2, 1], 1), false), Err(TOO_LONG));
    }

    #[test]
    fn a_row_may_extend_over_few_pages_and_repeat_short_texts() {
        let mut limits = RowLimits::new(1, 100);
        assert_eq!(limits.check(&page(&[2, 0], 1), false), Ok(()));
        for _ in 0..MAX_ROW_PAGES {
            assert_eq!(limits.check(&page(&[2, 1], 1), false), Ok(()));
        }
        assert_eq!(limits.check(&page(&[2, 1], 1), false), Err(TOO_LONG));

        let text = [&(1_u32 << 20).to_le_bytes()[..], &vec![b'a'; 1 << 20]].concat();
        let dictionary = Page::DictionaryPage {
            buf: text.into(),
            num_values: 1,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let mut limits = RowLimits::new(1, 100);
        assert_eq!(limits.check(&dictionary, true), Ok(()));
        assert_eq!(limits.check(&page(&[2, 0, 126, 1], 64), true), Ok(()));
        assert_eq!(limits.check(&page(&[2, 1], 1), true), Err(TOO_LONG));
    }

    #[test]
    fn damaged_levels_are_refused() {
        for (levels, values) in [(&[][..], 1), (&[2], 1), (&[3], 8), (&[0, 1], 1), (&[2, 0], 2)] {
            assert_eq!(RowLimits::new(1, 9).check(&page(levels, values), false), Err(DAMAGED));
        }
        let short = Page::DataPage {
            buf: vec![9, 0, 0, 0, 1].into(),
            num_values: 1,
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        assert_eq!(RowLimits::new(1, 9).check(&short, false), Err(DAMAGED));
    }
}
