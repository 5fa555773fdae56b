//! The items of a file (ISO/IEC 14496-12, section 8.11): their types, where their bytes are, and what they refer to.

use crate::iso_boxes::{boxes, find_box, number};

/// More items are not read. A photograph in tiles has about a hundred.
const MAX_ITEMS: usize = 2000;
/// Items in more parts are refused.
const MAX_EXTENTS: u64 = 64;

#[derive(Clone, Copy)]
pub struct ItemTable<'a> {
    file: &'a [u8],
    meta: &'a [u8],
    pub primary: u64,
}

/// Reads numbers one after the other.
struct Numbers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Numbers<'_> {
    /// A number of `size` bytes: 0, 1, 2, 4 or 8.
    fn next(&mut self, size: usize) -> Option<u64> {
        let number = match size {
            0 => 0,
            1 => u64::from(*self.bytes.get(self.at)?),
            2 => number::<2>(self.bytes, self.at)?,
            4 => number::<4>(self.bytes, self.at)?,
            8 => number::<8>(self.bytes, self.at)?,
            _ => return None,
        };
        self.at += size;
        Some(number)
    }
}

impl<'a> ItemTable<'a> {
    pub fn open(file: &'a [u8]) -> Option<Self> {
        // After version and flags.
        let meta = find_box(file, *b"meta")?.get(4..)?;
        let primary = find_box(meta, *b"pitm")?;
        let mut numbers = Numbers { bytes: primary, at: 4 };
        let primary = numbers.next(if primary.first()? == &0 { 2 } else { 4 })?;
        Some(Self { file, meta, primary })
    }

    /// The boxes of properties, and those that say which items have them.
    pub fn properties(&self) -> Option<&'a [u8]> {
        find_box(self.meta, *b"iprp")
    }

    /// The type of an item.
    pub fn kind(&self, item: u64) -> Option<[u8; 4]> {
        let infos = find_box(self.meta, *b"iinf")?;
        let start = if infos.first()? == &0 { 6 } else { 8 };
        boxes(infos.get(start..)?).take(MAX_ITEMS).find_map(|(_, info)| {
            let id_size = match info.first()? {
                2 => 2,
                3 => 4,
                _ => return None,
            };
            let mut numbers = Numbers { bytes: info, at: 4 };
            let is_item = numbers.next(id_size)? == item;
            // After the index of protection.
            is_item.then(|| info.get(numbers.at + 2..)?.first_chunk().copied()).flatten()
        })
    }

    /// The items that an item is put together from.
    pub fn tiles(&self, item: u64) -> Option<Vec<u64>> {
        let mut derived = self.references(*b"dimg")?;
        derived.find_map(|(from, to)| (from == item).then_some(to))
    }

    /// The items that add something to an item, as its alpha.
    pub fn auxiliaries(&self, item: u64) -> Vec<u64> {
        let references = self.references(*b"auxl").into_iter().flatten();
        references.filter(|(_, to)| to.contains(&item)).map(|(from, _)| from).collect()
    }

    /// The references of a kind: the items that have them, and those that they refer to.
    fn references(&self, kind: [u8; 4]) -> Option<impl Iterator<Item = (u64, Vec<u64>)>> {
        let references = find_box(self.meta, *b"iref")?;
        let id_size = if references.first()? == &0 { 2 } else { 4 };
        let of_kind = boxes(references.get(4..)?).filter(move |(found, _)| *found == kind);
        Some(of_kind.filter_map(move |(_, body)| {
            let mut numbers = Numbers { bytes: body, at: 0 };
            let from = numbers.next(id_size)?;
            let count = numbers.next(2)?;
            let to: Option<Vec<_>> = (0..count).map(|_| numbers.next(id_size)).collect();
            Some((from, to?))
        }))
    }

    /// The bytes of items, in their order.
    pub fn contents(&self, items: &[u64]) -> Option<Vec<Vec<&'a [u8]>>> {
        let locations = find_box(self.meta, *b"iloc")?;
        let version = *locations.first()?;
        let [offset_size, length_size, base_size, index_size] = [(4, 4), (4, 0), (5, 4), (5, 0)]
            .map(|(at, shift)| locations.get(at).map(|byte| usize::from(byte >> shift & 15)));
        let index_size = if version == 0 { 0 } else { index_size? };
        let id_size = if version < 2 { 2 } else { 4 };
        let mut numbers = Numbers { bytes: locations, at: 6 };
        let mut contents = vec![None; items.len()];
        for _ in 0..numbers.next(id_size)?.min(MAX_ITEMS as u64) {
            let item = numbers.next(id_size)?;
            let is_inside = version > 0 && numbers.next(2)? & 15 == 1;
            let source = if is_inside { find_box(self.meta, *b"idat")? } else { self.file };
            numbers.next(2)?;
            let base = numbers.next(base_size?)?;
            let mut parts = Vec::new();
            let extents = numbers.next(2)?;
            (extents <= MAX_EXTENTS).then_some(())?;
            for _ in 0..extents {
                numbers.next(index_size)?;
                let start = base.checked_add(numbers.next(offset_size?)?)?;
                let length = numbers.next(length_size?)?;
                let [start, length] = [start, length].map(|number| usize::try_from(number).ok());
                parts.push(source.get(start?..)?.get(..length?)?);
            }
            if let Some(at) = items.iter().position(|&wanted| wanted == item) {
                contents[at] = Some(parts);
            }
        }
        contents.into_iter().collect()
    }
}
