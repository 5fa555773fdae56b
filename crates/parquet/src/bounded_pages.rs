//! The pages of a file, unpacked and checked before the library reads values from them.

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

use crate::{bounded_file::BoundedFile, page_codec::PageCodec, row_limits::RowLimits};

/// Records that are read at a time.
pub(crate) const BATCH_RECORDS: usize = 16;
/// Memory of a batch of texts that share their beginnings, of which the library copies each.
const MAX_SHARED_TEXT_BYTES: u64 = 256 << 20;

pub(crate) struct BoundedRowGroup<'a> {
    pub(crate) file: &'a Arc<BoundedFile>,
    pub(crate) metadata: &'a RowGroupMetaData,
    /// Values of a list in one row.
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
            // So that the library leaves the pages as they are.
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
    /// Of a column of lists.
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
                // These are not compressed.
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

/// The page with other content, which is not compressed.
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
