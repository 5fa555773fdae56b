//! Reads a list of a JSON object element by element, from a file that is not kept in memory. Values are divided at
//! their brackets and quotes, which takes a tenth of the time of a parser that reads from a file. The parser then reads
//! only the elements.

use std::io::{self, Read};

use serde_json::value::RawValue;

use super::sidecar_reader::NOT_UTF_8;
use crate::ingest::{documents, text_encoding};

/// Maximum size of a document, which is read in parts.
pub(super) const MAX_STREAMED_BYTES: u64 = 2 << 30;
/// Maximum size of an element and of a name.
const MAX_ELEMENT_BYTES: usize = 8 << 20;
const CHUNK_BYTES: usize = 64 << 10;
const TOO_LARGE: &str = "an item is larger than 8 MiB";
const INVALID: &str = "invalid JSON";

/// What a document turned out to be.
pub(super) struct ListEnd {
    /// Which of the names the object has. A name that occurs twice is in the list twice.
    pub found: Vec<String>,
    /// Why the document was not read to its end.
    pub end: Result<(), String>,
}

/// Returns how many lists of a name are before the last one, which counts.
pub(super) fn earlier_lists(found: &[String], name: &str) -> usize {
    found.iter().filter(|found| *found == name).count().saturating_sub(1)
}

/// Passes the elements of the list `wanted` in an object to `take`, and records which of `names` the object has. If the
/// object has several lists of this name, the first `earlier` ones are skipped. Reads the document to its end if
/// `is_whole` is true, and otherwise only to the end of the list.
pub(super) fn read_list(
    file: impl Read,
    names: &[&str],
    wanted: &str,
    mut earlier: usize,
    is_whole: bool,
    take: &mut dyn FnMut(&RawValue),
) -> ListEnd {
    let mut found = Vec::new();
    let chunk = vec![0; CHUNK_BYTES].into_boxed_slice();
    let mut values = Values { file, chunk, start: 0, end: 0, line: 1 };
    let end = values.object(|values, name| {
        if names.contains(&name.as_str()) {
            found.push(name.clone());
        }
        if name != wanted || earlier > 0 {
            earlier -= usize::from(name == wanted);
            values.value(None)?;
            return Ok(true);
        }
        values.list(&name, take)?;
        Ok(is_whole)
    });
    let end = end.map_err(|why| format!("line {}: {why}", values.line));
    ListEnd { found, end }
}

/// The values of a JSON text.
struct Values<R> {
    file: R,
    chunk: Box<[u8]>,
    /// The part of the chunk that was not read yet.
    start: usize,
    end: usize,
    line: usize,
}

impl<R: Read> Values<R> {
    /// Calls `each` at the value of each name of an object, until it returns `false`.
    fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, String) -> Result<bool, String>,
    ) -> Result<(), String> {
        self.expect(b'{')?;
        if self.token()? == b'}' {
            return Ok(());
        }
        loop {
            let mut name = Vec::new();
            self.value(Some(&mut name))?;
            let name =
                serde_json::from_slice(&text_encoding::to_utf8(name)).map_err(|_| INVALID)?;
            self.expect(b':')?;
            if !each(self, name)? || !self.has_more(b'}')? {
                return Ok(());
            }
        }
    }

    fn list(&mut self, name: &str, take: &mut dyn FnMut(&RawValue)) -> Result<(), String> {
        if self.token()? != b'[' {
            return Err(format!("its {name} are not a list"));
        }
        self.start += 1;
        if self.token()? == b']' {
            self.start += 1;
            return Ok(());
        }
        loop {
            let mut element = Vec::new();
            self.value(Some(&mut element))?;
            take_element(element, take)?;
            if !self.has_more(b']')? {
                return Ok(());
            }
        }
    }

    /// Reads a value, which is kept if a place for it is given.
    fn value(&mut self, mut kept: Option<&mut Vec<u8>>) -> Result<(), String> {
        self.token()?;
        let mut shape = Shape::default();
        let mut length = 0;
        loop {
            let chunk = &self.chunk[self.start..self.end];
            let (taken, lines) = shape.end_of_value(chunk);
            if let Some(kept) = &mut kept {
                if kept.len() + taken > MAX_ELEMENT_BYTES {
                    return Err(TOO_LARGE.to_owned());
                }
                kept.extend_from_slice(&chunk[..taken]);
            }
            (self.start, self.line, length) =
                (self.start + taken, self.line + lines, length + taken);
            if shape.has_ended {
                return if length > 0 { Ok(()) } else { Err(INVALID.to_owned()) };
            }
            if !self.fill()? {
                return Err(INVALID.to_owned());
            }
        }
    }

    /// Returns the next byte that is not blank, without reading it.
    fn token(&mut self) -> Result<u8, String> {
        loop {
            while self.start < self.end {
                match self.chunk[self.start] {
                    b'\n' => self.line += 1,
                    b' ' | b'\t' | b'\r' => {}
                    byte => return Ok(byte),
                }
                self.start += 1;
            }
            if !self.fill()? {
                return Err(INVALID.to_owned());
            }
        }
    }

    fn expect(&mut self, expected: u8) -> Result<(), String> {
        if self.token()? != expected {
            return Err(INVALID.to_owned());
        }
        self.start += 1;
        Ok(())
    }

    /// Reads what follows a value: a comma, or the given end.
    fn has_more(&mut self, end: u8) -> Result<bool, String> {
        let byte = self.token()?;
        self.start += 1;
        match byte {
            b',' => Ok(true),
            byte if byte == end => Ok(false),
            _ => Err(INVALID.to_owned()),
        }
    }

    /// Reads the next chunk. Returns `false` at the end of the file.
    fn fill(&mut self) -> Result<bool, String> {
        let read = loop {
            match self.file.read(&mut self.chunk) {
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        (self.start, self.end) = (0, read.map_err(|cause| cause.to_string())?);
        Ok(self.end > 0)
    }
}

/// Passes an element to `take`. An element decides for itself whether it is Windows-1252, because the document is not
/// kept. What Python writes although it is not JSON is replaced.
fn take_element(element: Vec<u8>, take: &mut dyn FnMut(&RawValue)) -> Result<(), String> {
    let text = String::from_utf8(text_encoding::to_utf8(element)).map_err(|_| NOT_UTF_8)?;
    let text = documents::repaired(text);
    take(serde_json::from_str(&text).map_err(|_| INVALID)?);
    Ok(())
}

/// How deep in a value a byte is.
#[derive(Default)]
struct Shape {
    depth: usize,
    is_string: bool,
    is_escaped: bool,
    has_ended: bool,
}

impl Shape {
    /// Returns how many bytes of a chunk belong to the value, and how many lines end in them.
    fn end_of_value(&mut self, chunk: &[u8]) -> (usize, usize) {
        let (mut at, mut lines) = (0, 0);
        while at < chunk.len() {
            let byte = chunk[at];
            at += 1;
            if self.is_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => {
                        self.is_string = false;
                        self.has_ended = self.depth == 0;
                    }
                    _ => {}
                }
            } else {
                match byte {
                    b'"' => self.is_string = true,
                    b'[' | b'{' => self.depth += 1,
                    b']' | b'}' if self.depth > 0 => {
                        self.depth -= 1;
                        self.has_ended = self.depth == 0;
                    }
                    // The end of a number or a word is what follows it.
                    b']' | b'}' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 => {
                        self.has_ended = true;
                        return (at - 1, lines);
                    }
                    b'\n' => lines += 1,
                    _ => {}
                }
            }
            if self.has_ended {
                break;
            }
        }
        (at, lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads in pieces of one byte, so that every value is cut.
    struct Bytewise<'a>(&'a [u8]);

    impl Read for Bytewise<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            (out[0], self.0) = (*first, rest);
            Ok(1)
        }
    }

    fn read(
        text: &str,
        wanted: &str,
        earlier: usize,
        is_whole: bool,
    ) -> (Vec<String>, Vec<String>, Result<(), String>) {
        let mut elements = Vec::new();
        let mut take = |element: &RawValue| elements.push(element.get().to_owned());
        let file = Bytewise(text.as_bytes());
        let names = ["a", "list"];
        let ListEnd { found, end } = read_list(file, &names, wanted, earlier, is_whole, &mut take);
        (found, elements, end)
    }

    #[test]
    fn the_elements_of_a_list_are_read_without_the_rest() {
        let text = " {\"a\": [[1, 2], \"]\\\"\"], \"b\": {\"a\": [9]},\n \"list\" : [ 4 ,\
                    {\"x\": [NaN, \"NaN\"]}, \"\\\\\", [] ], \"a\": tru";
        let (found, elements, end) = read(text, "list", 0, false);
        assert_eq!((found.len(), end), (2, Ok(())));
        assert_eq!(elements, ["4", "{\"x\": [null, \"NaN\"]}", "\"\\\\\"", "[]"]);
        let (found, _, end) = read(text, "list", 0, true);
        assert_eq!((found.len(), end), (3, Err("line 2: invalid JSON".to_owned())));
    }

    #[test]
    fn the_last_list_of_a_name_counts() {
        let text = "{\"list\": [1], \"a\": 2, \"list\": [3]}";
        let (found, elements, end) = read(text, "list", 0, true);
        assert_eq!((elements, end), (vec!["1".to_owned(), "3".to_owned()], Ok(())));
        let (_, elements, _) = read(text, "list", earlier_lists(&found, "list"), false);
        assert_eq!(elements, ["3"]);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in
            ["", "[1]", "7", "{", "{1: 2}", "{\"list\": [1 2]}", "{\"list\": [,]}", "{\"a\":}"]
        {
            assert!(read(text, "list", 0, true).2.is_err(), "{text}");
        }
        let (_, _, end) = read("{\"list\": 3}", "list", 0, true);
        assert_eq!(end, Err("line 1: its list are not a list".to_owned()));
        assert_eq!(read("{}", "list", 0, true).2, Ok(()));
        assert_eq!(
            read("{\"list\": []}", "list", 0, true),
            (vec!["list".to_owned()], vec![], Ok(()))
        );
    }
}
