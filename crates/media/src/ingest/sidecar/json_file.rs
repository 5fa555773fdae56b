//! JSON of one image, next to it: `LabelMe`, or the columns of a metadata table, as in shards of
//! `WebDataset`.

use super::{
    diagnostics::SidecarDiagnostics,
    json, labelme,
    sidecar_reader::SidecarReader,
    sidecar_row::{SidecarRow, describe},
};

/// A file of `LabelMe` usually contains the picture, too.
const MAX_BYTES: u64 = 32 << 20;

/// Other JSON is ignored.
pub fn read(reader: &mut SidecarReader<'_>) {
    for media in reader.files.media() {
        let Some(sidecar) = reader.files.sidecar_beside(media, "json") else { continue };
        let Some(text) = reader.read_text(sidecar, MAX_BYTES) else { continue };
        let described = labelme::parse(&text).or_else(|| {
            let row = json::parse_object::<SidecarRow<'_>>(&text).filter(SidecarRow::describes)?;
            let mut diagnostics = SidecarDiagnostics::new("object", "objects");
            diagnostics.next_position();
            let description = describe(&row, &mut diagnostics);
            Some((description, diagnostics))
        });
        let Some((description, diagnostics)) = described else { continue };
        reader.mark_used(sidecar);
        reader.add_description(media, description);
        reader.report_problems(sidecar, diagnostics);
    }
}
