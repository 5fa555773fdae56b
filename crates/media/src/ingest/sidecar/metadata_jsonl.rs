//! `metadata.jsonl`, as in image folder datasets: one row per line, a JSON object.

use std::path::Path;

use super::{
    candidates::METADATA_JSONL,
    diagnostics::SidecarDiagnostics,
    json,
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, SidecarReader},
    sidecar_row::{SidecarRow, read_row},
};

pub fn read(reader: &mut SidecarReader<'_>) {
    for sidecar in reader.files.with_name(METADATA_JSONL) {
        reader.mark_used(sidecar);
        if let Some(bytes) = reader.read_bytes(sidecar, MAX_SHARED_SIDECAR_BYTES) {
            read_lines(reader, sidecar, &bytes);
        }
    }
}

fn read_lines(reader: &mut SidecarReader<'_>, sidecar: &Path, bytes: &[u8]) {
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    for line in bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii) {
        diagnostics.next_position();
        match str::from_utf8(line).map(json::parse_object::<SidecarRow<'_>>) {
            Err(_) => diagnostics.report("it is not UTF-8"),
            Ok(Some(row)) => {
                let end = read_row(reader, sidecar, &row, &mut diagnostics);
                diagnostics.check(end);
            }
            Ok(None) if line.is_empty() => {}
            Ok(None) => diagnostics.report("it is not a JSON object"),
        }
    }
    reader.report_problems(sidecar, diagnostics);
}
