//! Reads JSON within a memory limit. The limit is needed because a small text can become huge when it is parsed: `0,`
//! takes 2 bytes as text, and 72 bytes as a [`Value`].

use std::{cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The memory that a text takes beyond its length.
const TEXT_OVERHEAD: usize = 24;
/// Bytes of each slot of a map: hash, key, value and index.
const MAP_SLOT: usize = 8 + size_of::<String>() + size_of::<Value>() + size_of::<usize>() + 1;

/// Parses `json` into a value that takes at most `limit` bytes. An error of category `Data` means that the value would
/// take more.
pub fn parse(json: &[u8], limit: usize) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = BoundedValue { left: &Cell::new(limit) }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Deserializes any value, as long as bytes are left.
#[derive(Clone, Copy)]
pub struct BoundedValue<'a> {
    pub left: &'a Cell<usize>,
}

impl BoundedValue<'_> {
    fn charge<E: Error>(self, bytes: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(bytes);
        self.left.set(left.ok_or_else(|| E::custom("too many values"))?);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for BoundedValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for BoundedValue<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.charge(value.len() + TEXT_OVERHEAD)?;
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let (mut list, mut slots) = (Vec::new(), 0);
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
            self.charge((list.capacity() - slots) * size_of::<Value>())?;
            slots = list.capacity();
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let (mut map, mut slots) = (Map::new(), 0);
        while let Some(Value::String(key)) = entries.next_key_seed(self)? {
            map.insert(key, entries.next_value_seed(self)?);
            // A hash table grows to a power of two, and uses at most 7 of 8 slots.
            let needed = (map.len() * 8).div_ceil(7).next_power_of_two().max(4);
            self.charge((needed - slots) * MAP_SLOT)?;
            slots = needed;
        }
        Ok(map.into())
    }
}
