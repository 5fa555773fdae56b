//! The class of one image in a file next to it, as in shards of `WebDataset`: a number or a name.

use super::{
    class_names::ClassNames,
    description::{MediaDescription, push_name},
    sidecar_reader::{MAX_PER_IMAGE_SIDECAR_BYTES, SidecarReader},
};

pub fn read(reader: &mut SidecarReader<'_>, names: &mut ClassNames) {
    for media in reader.files.media() {
        let Some(sidecar) = reader.files.sidecar_beside(media, "cls") else { continue };
        reader.mark_used(sidecar);
        let Some(text) = reader.read_text(sidecar, MAX_PER_IMAGE_SIDECAR_BYTES) else { continue };
        let label = match text.trim().parse::<u64>() {
            Ok(class) => {
                let name = names.for_sidecar(reader, sidecar).get(&class).cloned();
                name.unwrap_or_else(|| format!("class {class}"))
            }
            Err(_) if text.trim().is_empty() || text.trim().contains('\n') => {
                reader.report_problem(sidecar, "it is neither a number nor a name".to_owned());
                continue;
            }
            Err(_) => text,
        };
        let mut description = MediaDescription::default();
        push_name(&mut description.labels, &label);
        reader.add_description(media, description);
    }
}
