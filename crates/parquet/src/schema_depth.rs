//! How deep the schema of a file is nested, read before the library reads it: that calls itself for
//! each level, and a stack that overflows ends the program.

use crate::compact_protocol::{kind, read_byte, read_varint, skip_binary, unsigned};

/// Lists of structs of lists need about ten levels.
const MAX_SCHEMA_DEPTH: usize = 64;
/// Nesting of values that are skipped.
const MAX_SKIPPED_DEPTH: usize = 16;
/// Ends a struct.
const STOP: u8 = 0;
/// The field of the description that contains the schema, a list.
const SCHEMA_FIELD: u64 = 2;
/// The field of an element that contains the number of its children.
const CHILDREN_FIELD: u64 = 5;

/// Whether the description at the end of a file is in the usual form, with a schema of usual depth.
pub(crate) fn has_usual_depth(mut footer: &[u8]) -> bool {
    read_footer(&mut footer).is_some()
}

/// Reads all fields: the library would take the last of several schemas.
fn read_footer(bytes: &mut &[u8]) -> Option<()> {
    let mut field = 0;
    loop {
        let (number, kind) = read_field(bytes, field)?;
        match (number, kind) {
            (_, STOP) => return Some(()),
            (SCHEMA_FIELD, kind::LIST) => check_elements(bytes)?,
            (SCHEMA_FIELD, _) => return None,
            _ => skip(bytes, kind, MAX_SKIPPED_DEPTH)?,
        }
        field = number;
    }
}

/// Checks the elements of the schema, which are in depth-first order.
fn check_elements(bytes: &mut &[u8]) -> Option<()> {
    let (elements, kind) = read_list(bytes)?;
    if kind != kind::STRUCT {
        return None;
    }
    // For each open group, how many of its children follow.
    let mut open: Vec<u64> = Vec::new();
    for _ in 0..elements {
        while open.last() == Some(&0) {
            open.pop();
        }
        if let Some(missing) = open.last_mut() {
            *missing -= 1;
        }
        let children = read_children(bytes)?;
        if children > 0 {
            open.push(children);
        }
        if open.len() > MAX_SCHEMA_DEPTH {
            return None;
        }
    }
    Some(())
}

/// Reads an element, and returns the number of its children.
fn read_children(bytes: &mut &[u8]) -> Option<u64> {
    let (mut children, mut field) = (0, 0);
    loop {
        let (number, kind) = read_field(bytes, field)?;
        match (number, kind) {
            (_, STOP) => return Some(children),
            (CHILDREN_FIELD, kind::I32) => children = unsigned(read_varint(bytes)?)?,
            (CHILDREN_FIELD, _) => return None,
            _ => skip(bytes, kind, MAX_SKIPPED_DEPTH)?,
        }
        field = number;
    }
}

/// The number and type of the next field, in increasing order; the type is `STOP` at the end of a struct.
fn read_field(bytes: &mut &[u8], last: u64) -> Option<(u64, u8)> {
    let head = read_byte(bytes)?;
    let (step, kind) = (u64::from(head >> 4), head & 0x0f);
    match (step, kind) {
        (_, STOP) => Some((last, STOP)),
        (0, _) => {
            unsigned(read_varint(bytes)?).filter(|number| *number > last).map(|it| (it, kind))
        }
        _ => Some((last.checked_add(step)?, kind)),
    }
}

/// The number of elements of a list, and their type.
fn read_list(bytes: &mut &[u8]) -> Option<(u64, u8)> {
    let head = read_byte(bytes)?;
    let short = u64::from(head >> 4);
    let count = if short == 15 { read_varint(bytes)? } else { short };
    Some((count, head & 0x0f))
}

fn skip(bytes: &mut &[u8], kind: u8, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match kind {
        kind::TRUE | kind::FALSE => {}
        kind::BYTE => drop(read_byte(bytes)?),
        kind::I16 | kind::I32 | kind::I64 => drop(read_varint(bytes)?),
        kind::DOUBLE => *bytes = bytes.get(8..)?,
        kind::BINARY => skip_binary(bytes)?,
        kind::LIST => {
            let (count, kind) = read_list(bytes)?;
            // Booleans in lists have a byte of their own.
            let is_boolean = matches!(kind, kind::TRUE | kind::FALSE);
            let kind = if is_boolean { kind::BYTE } else { kind };
            for _ in 0..count {
                skip(bytes, kind, depth)?;
            }
        }
        kind::STRUCT => {
            let mut field = 0;
            loop {
                let (number, kind) = read_field(bytes, field)?;
                if kind == STOP {
                    break;
                }
                skip(bytes, kind, depth)?;
                field = number;
            }
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A description with a version and groups in groups.
    fn footer(depth: usize) -> Vec<u8> {
        let mut bytes = vec![0x15, 2, 0x19, 0xfc];
        let mut length = depth + 1;
        while length >= 128 {
            bytes.push(u8::try_from(length % 128).unwrap_or(0) | 128);
            length /= 128;
        }
        bytes.push(u8::try_from(length).unwrap_or(0));
        for _ in 0..depth {
            // A name of one letter, one child.
            bytes.extend([0x48, 1, b'a', 0x15, 2, 0]);
        }
        // A column of a type and a name.
        bytes.extend([0x15, 12, 0x38, 1, b'b', 0, 0]);
        bytes
    }

    #[test]
    fn only_schemas_of_usual_depth_are_read() {
        assert!(has_usual_depth(&footer(1)) && has_usual_depth(&footer(64)));
        assert!(!has_usual_depth(&footer(65)) && !has_usual_depth(&footer(500_000)));
        for cut in 0..footer(2).len() {
            assert!(!has_usual_depth(&footer(2)[..cut]), "{cut}");
        }
        assert!(!has_usual_depth(&[0x19; 4_000]));
    }
}
