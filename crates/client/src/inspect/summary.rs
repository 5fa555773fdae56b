//! Counts rows and pictures, and finds those without a counterpart.

use std::{collections::HashSet, fs::File, path::Path};

use tessera_model::{
    Failure, FailureKind, Inspection, PictureSource, SafeText, inspection::NameSample,
};

use super::listing::{ArchiveListing, RowVisitor};
use crate::archive::IMAGES_PREFIX;

/// Inspects an archive. Blocks on the disk.
///
/// # Errors
/// The archive cannot be read, or does not contain exactly one metadata file.
pub fn inspect_archive(path: &Path) -> Result<Inspection, Failure> {
    let to_failure = |reason: String| {
        Failure::new(FailureKind::Local, format!("{}: {reason}", path.display()))
            .with_remedy("Check that it is an export archive")
    };
    let archive = File::open(path).map_err(|error| to_failure(error.to_string()))?;
    let entries = ArchiveListing::read(archive).map_err(to_failure)?;
    let mut count = InspectionBuilder::new(path, &entries);
    entries.metadata.visit_rows(&mut count).map_err(to_failure)?;
    Ok(count.finish())
}

/// Collects the result while rows are read.
struct InspectionBuilder {
    inspection: Inspection,
    images: HashSet<String>,
    referenced_images: HashSet<String>,
}

impl InspectionBuilder {
    fn new(path: &Path, entries: &ArchiveListing) -> Self {
        let source =
            |name: &String| PictureSource::Entry(path.into(), format!("{IMAGES_PREFIX}{name}"));
        Self {
            inspection: Inspection {
                path: path.to_owned(),
                bytes: path.metadata().map_or(0, |metadata| metadata.len()),
                metadata_file: SafeText::file_name(&entries.metadata.name),
                rows: 0,
                columns: Vec::new(),
                uniqueness: [0; Inspection::BINS],
                unscored: 0,
                images: entries.images.len() as u64,
                first_images: entries
                    .images
                    .iter()
                    .take(Inspection::MAX_NAMED)
                    .map(source)
                    .collect(),
                rows_without_file: NameSample::default(),
                files_without_row: NameSample::default(),
                unsafe_entries: entries.refused.clone(),
            },
            images: entries.images.iter().cloned().collect(),
            referenced_images: HashSet::new(),
        }
    }

    fn finish(mut self) -> Inspection {
        let mut unclaimed: Vec<&String> = self.images.difference(&self.referenced_images).collect();
        unclaimed.sort();
        for name in unclaimed {
            self.inspection.files_without_row.add(name);
        }
        self.inspection
    }
}

impl RowVisitor for InspectionBuilder {
    fn visit_columns(&mut self, names: Vec<String>) {
        self.inspection.columns = names.iter().map(|name| SafeText::name(name)).collect();
    }

    fn visit_row(&mut self, score: Option<f64>, file: Option<&str>) {
        self.inspection.rows += 1;
        match score.filter(|score| (0.0..=1.0).contains(score)) {
            Some(score) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "from 0.0 to 10.0"
                )]
                let bin = (score * 10.0) as usize;
                self.inspection.uniqueness[bin.min(Inspection::BINS - 1)] += 1;
            }
            None => self.inspection.unscored += 1,
        }
        let Some(file) = file else { return };
        if self.images.contains(file) {
            self.referenced_images.insert(file.to_owned());
        } else {
            self.inspection.rows_without_file.add(file);
        }
    }
}
