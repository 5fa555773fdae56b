//! Reads JSON that other programs write although it is not JSON: numbers such as `NaN`, lone surrogates, line breaks in
//! texts, a byte-order mark, or another encoding than UTF-8. Only what cannot be read becomes unknown: a number or a value
//! that is nested too deeply becomes null, and a character becomes U+FFFD. JSON without such values takes the fast path.

use std::{
    cell::Cell,
    fmt,
    io::{self, Read},
    mem,
};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::text_encoding::TextDecoder;
use tessera_model::SafeText;

/// What was changed so that JSON could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Numbers that JSON cannot express.
    pub numbers: usize,
    /// Characters that are not Unicode.
    pub characters: usize,
    /// Lists and objects inside too many others.
    pub nested: usize,
}

impl fmt::Display for Repairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let repairs = [
            (self.numbers, "numbers that are not JSON, such as NaN, which count as unknown"),
            (self.characters, "characters that are not Unicode, which are shown as U+FFFD"),
            (self.nested, "values that are nested too deeply, which count as unknown"),
        ];
        let made = repairs.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text);
        f.write_str(&made.collect::<Vec<_>>().join(", and "))
    }
}

/// Parses `json` into a value that takes at most `limit` bytes. `charset` is the encoding that the sender declares. An
/// error of category `Data` means that the value would take more.
pub fn parse(
    json: &[u8],
    charset: Option<&str>,
    limit: usize,
) -> Result<(Value, Repairs), serde_json::Error> {
    let refused = match parse_strict(json, limit) {
        Ok(value) => return Ok((value, Repairs::default())),
        Err(error) if error.is_data() => return Err(error),
        Err(error) => error,
    };
    let mut repaired = JsonReader::new(json, charset);
    let mut deserializer = serde_json::Deserializer::from_reader(&mut repaired);
    let seed = BoundedValue { left: &Cell::new(limit), has_unique_keys: false };
    let value = seed.deserialize(&mut deserializer);
    match value.and_then(|value| deserializer.end().map(|()| value)) {
        Ok(value) => Ok((value, repaired.repairs())),
        Err(error) if error.is_data() => Err(error),
        // The first error has the position in the text of the sender.
        Err(_) => Err(refused),
    }
}

/// Reads tolerated JSON as strict JSON in UTF-8, in bounded memory.
pub struct JsonReader<R> {
    input: TextDecoder<R>,
    text: String,
    filter: Filter,
    ready: Vec<u8>,
    position: usize,
    has_ended: bool,
}

impl<R: Read> JsonReader<R> {
    /// `charset` is the encoding that the sender declares.
    pub fn new(input: R, charset: Option<&str>) -> Self {
        Self {
            input: TextDecoder::new(input, charset),
            text: String::new(),
            filter: Filter::default(),
            ready: Vec::new(),
            position: 0,
            has_ended: false,
        }
    }

    /// Returns what was changed so far.
    pub fn repairs(&self) -> Repairs {
        let mut repairs = self.filter.repairs;
        repairs.characters += usize::from(self.input.is_malformed());
        repairs
    }
}

impl<R: Read> Read for JsonReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.position == self.ready.len() && !self.has_ended {
            self.ready.clear();
            self.position = 0;
            self.text.clear();
            self.has_ended = !self.input.read_text(&mut self.text)?;
            self.filter.push(self.text.as_bytes(), &mut self.ready);
            if self.has_ended {
                self.filter.end(&mut self.ready);
            }
        }
        let rest = &self.ready[self.position..];
        let length = rest.len().min(out.len());
        out[..length].copy_from_slice(&rest[..length]);
        self.position += length;
        Ok(length)
    }
}

#[derive(Default)]
enum Place {
    #[default]
    BetweenTexts,
    InText,
    InEscape,
}

/// Longer words are passed on without a change, because no number that is replaced is longer.
const MAX_WORD: usize = 1 << 10;
/// The number of lists and objects around a value that the parser accepts, which uses the stack for each.
const MAX_DEPTH: usize = 127;
const REPLACEMENT: &[u8] = b"\\ufffd";
const UNICODE_ESCAPE: usize = b"\\uXXXX".len();

/// Turns tolerated JSON into strict JSON, piece by piece.
#[derive(Default)]
struct Filter {
    place: Place,
    /// An incomplete word or escape.
    pending: Vec<u8>,
    /// The escape of a leading surrogate whose other half has not arrived.
    leading: Option<Vec<u8>>,
    /// The number of open lists and objects. Those beyond [`MAX_DEPTH`] are not passed on.
    depth: usize,
    repairs: Repairs,
}

impl Filter {
    fn push(&mut self, mut text: &[u8], out: &mut Vec<u8>) {
        while !text.is_empty() {
            let (length, is_skipped) = (out.len(), self.depth > MAX_DEPTH);
            let read = match self.place {
                Place::BetweenTexts => self.push_between(text, out),
                Place::InText => self.push_text(text, out),
                Place::InEscape => self.push_escape(text[0], out),
            };
            if is_skipped {
                out.truncate(length);
            }
            text = &text[read..];
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.end_word(out);
        self.end_surrogate(out);
    }

    fn push_between(&mut self, text: &[u8], out: &mut Vec<u8>) -> usize {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.#()".contains(byte);
        let word = text.iter().position(|byte| !is_word(byte)).unwrap_or(text.len());
        self.pending.extend_from_slice(&text[..word]);
        if self.pending.len() > MAX_WORD {
            out.append(&mut self.pending);
        }
        let Some(&byte) = text.get(word) else { return word };
        self.end_word(out);
        match byte {
            b'"' => self.place = Place::InText,
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if self.depth == MAX_DEPTH + 1 && matches!(byte, b'[' | b'{') {
            self.repairs.nested += 1;
            out.extend_from_slice(b"null");
        } else {
            out.push(byte);
        }
        word + 1
    }

    fn end_word(&mut self, out: &mut Vec<u8>) {
        if is_unknown_number(&self.pending) {
            self.repairs.numbers += 1;
            self.pending.clear();
            out.extend_from_slice(b"null");
        } else {
            out.append(&mut self.pending);
        }
    }

    fn push_text(&mut self, text: &[u8], out: &mut Vec<u8>) -> usize {
        let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..b' ');
        let plain = text.iter().position(is_special).unwrap_or(text.len());
        if plain > 0 {
            self.end_surrogate(out);
            out.extend_from_slice(&text[..plain]);
            return plain;
        }
        match text[0] {
            b'\\' => {
                self.pending.push(b'\\');
                self.place = Place::InEscape;
            }
            b'"' => {
                self.end_surrogate(out);
                out.push(b'"');
                self.place = Place::BetweenTexts;
            }
            control => {
                self.end_surrogate(out);
                out.extend_from_slice(format!("\\u{control:04x}").as_bytes());
            }
        }
        1
    }

    /// Reads the next byte of an escape. Returns zero if it does not belong to the escape.
    fn push_escape(&mut self, byte: u8, out: &mut Vec<u8>) -> usize {
        let belongs = match self.pending.len() {
            1 => b"\"\\/bfnrtu".contains(&byte),
            _ => byte.is_ascii_hexdigit(),
        };
        if !belongs {
            // A backslash that begins no escape is meant as one.
            self.end_surrogate(out);
            out.push(b'\\');
            out.append(&mut self.pending);
            self.place = Place::InText;
            return 0;
        }
        self.pending.push(byte);
        let length = if self.pending[1] == b'u' { UNICODE_ESCAPE } else { 2 };
        if self.pending.len() == length {
            self.place = Place::InText;
            let escape = mem::take(&mut self.pending);
            self.end_escape(escape, out);
        }
        1
    }

    fn end_escape(&mut self, escape: Vec<u8>, out: &mut Vec<u8>) {
        let digits = escape.get(2..).and_then(|digits| str::from_utf8(digits).ok());
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        match (unit, self.leading.take()) {
            (Some(0xdc00..=0xdfff), Some(leading)) => {
                out.extend_from_slice(&leading);
                out.extend_from_slice(&escape);
            }
            (unit, leading) => {
                self.leading = leading;
                self.end_surrogate(out);
                match unit {
                    Some(0xd800..=0xdbff) => self.leading = Some(escape),
                    Some(0xdc00..=0xdfff) => self.replace_character(out),
                    _ => out.extend_from_slice(&escape),
                }
            }
        }
    }

    /// Replaces a leading surrogate that has no other half.
    fn end_surrogate(&mut self, out: &mut Vec<u8>) {
        if self.leading.take().is_some() {
            self.replace_character(out);
        }
    }

    fn replace_character(&mut self, out: &mut Vec<u8>) {
        self.repairs.characters += 1;
        out.extend_from_slice(REPLACEMENT);
    }
}

/// Whether a word is a number that JSON cannot express, as Python, JavaScript and C write it.
fn is_unknown_number(word: &[u8]) -> bool {
    let Ok(word) = str::from_utf8(word) else { return false };
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word).to_ascii_lowercase();
    let is_name =
        ["nan", "inf", "infinity", "nan(ind)", "nan(snan)", "1.#qnan", "1.#ind", "1.#inf"]
            .contains(&unsigned.as_str());
    let is_huge = || {
        unsigned.starts_with(|first: char| first.is_ascii_digit())
            && unsigned.parse::<f64>().is_ok_and(f64::is_infinite)
    };
    is_name || is_huge()
}

// Reads JSON within a memory limit. The limit is needed because a small text can become huge when it is parsed: `0,`
// takes 2 bytes as text, and 72 bytes as a [`Value`].

/// The memory that a text takes beyond its length.
const TEXT_OVERHEAD: usize = 24;
/// Bytes of each slot of a map: hash, key, value and index.
const MAP_SLOT: usize = 8 + size_of::<String>() + size_of::<Value>() + size_of::<usize>() + 1;

/// Parses `json` into a value that takes at most `limit` bytes. An error of category `Data` means that the value would
/// take more.
pub fn parse_strict(json: &[u8], limit: usize) -> Result<Value, serde_json::Error> {
    parse_with(BoundedValue { left: &Cell::new(limit), has_unique_keys: false }, json)
}

/// Parses `json`, and refuses an object that has a key twice, because only one of its values would be kept.
pub fn parse_unique(json: &str) -> Result<Value, serde_json::Error> {
    let seed = BoundedValue { left: &Cell::new(usize::MAX), has_unique_keys: true };
    parse_with(seed, json.as_bytes())
}

fn parse_with(seed: BoundedValue<'_>, json: &[u8]) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = seed.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Deserializes any value, as long as bytes are left.
#[derive(Clone, Copy)]
pub struct BoundedValue<'a> {
    pub left: &'a Cell<usize>,
    /// Whether an object with a repeated key is refused. Otherwise, the last value of the key is kept.
    pub has_unique_keys: bool,
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
            if self.has_unique_keys && map.contains_key(&key) {
                let key = SafeText::name(&key);
                return Err(A::Error::custom(format!("the key \"{key}\" occurs twice")));
            }
            map.insert(key, entries.next_value_seed(self)?);
            // A hash table grows to a power of two, and uses at most 7 of 8 slots.
            let needed = (map.len() * 8).div_ceil(7).next_power_of_two().max(4);
            self.charge((needed - slots) * MAP_SLOT)?;
            slots = needed;
        }
        Ok(map.into())
    }
}
