//! Writes the search tables of a large dataset before the indexing task ends, so that the last transaction of the task
//! only makes them visible. Building the index of vectors takes longer than other writers could wait.

use half::f16;

use super::super::{
    TaskContext, cluster_step::ClusterUpdate, member_features::Scope, text_step::TextVectorUpdate,
};
use crate::task_error::TaskError;
use tessera_model::{DatasetId, EntityType, vql::IssueKind};
use tessera_retrieval::issues::confidence;
use tessera_store::{
    QueryError, StoreError, Transaction,
    assignment::ClusterAssignment,
    dataset,
    media::{self, MediaFeatures},
    search_table::{
        self, Dimensions, IndexedMember, SearchTable, TableWriter, VectorSupport, WriteTarget,
    },
    tag_ids::name_id,
    vectors,
};

pub struct SearchTableUpdate(Vec<WriteTarget>);

impl SearchTableUpdate {
    /// Writes the tables. Nothing is written for a dataset that is searched with index files.
    pub fn prepare(
        context: &TaskContext,
        dataset: DatasetId,
        scope: Scope,
        clusters: &ClusterUpdate,
        text_vectors: &TextVectorUpdate,
    ) -> Result<Self, TaskError> {
        let mut written = Vec::new();
        if !context.store.is_on_server() {
            return Ok(Self(written));
        }
        // The lease ensures that no other worker is writing the tables.
        let unused = context.write(|tx| search_table::unused(tx, dataset))?;
        drop_tables(context, &unused)?;
        let record =
            context.store.read(|c| dataset::find(c, dataset))?.ok_or(TaskError::Stopped)?;
        let support = context.store.read(search_table::support)?;
        let VectorSupport::Installed { schema, .. } = support else { return Ok(Self(written)) };
        for (entity, media) in [
            (EntityType::Images, record.n_images + record.n_frames),
            (EntityType::Objects, record.n_objects),
        ] {
            if media < context.settings.search_tables.min_media {
                continue;
            }
            let text_vector = match text_vectors.dimension() {
                Some(dimension) => dimension,
                None if text_vectors.replaces_all() => 0,
                None => context.store.read(|c| vectors::TEXT_VECTORS.dimension(c, dataset))?,
            };
            let model = context.store.read(|c| vectors::MODEL_VECTORS.dimension(c, dataset))?;
            let dimensions = Dimensions { text_vector, model };
            let existing = context.store.read(|c| search_table::find(c, dataset, entity))?;
            let existing = existing.filter(|table| table.dimensions == dimensions);
            let rows = MemberRows { context, dataset, scope, entity, clusters, text_vectors };
            written.push(match existing.zip(scope.source_row()) {
                Some((table, source)) => rows.append_to(&table, source)?,
                None => rows.write_new(dimensions, &schema)?,
            });
        }
        Ok(Self(written))
    }

    /// Makes the tables visible to searches of the generation that the transaction has begun.
    pub fn publish(&self, transaction: &Transaction) -> tessera_store::Result<()> {
        self.0.iter().try_for_each(|written| search_table::publish(transaction, written))
    }
}

/// Removes the tables of earlier generations.
pub fn drop_former_tables(context: &TaskContext, dataset: DatasetId) -> Result<(), StoreError> {
    if !context.store.is_on_server() {
        return Ok(());
    }
    let former = context.store.read(|c| search_table::former(c, dataset))?;
    drop_tables(context, &former)
}

fn drop_tables(context: &TaskContext, numbers: &[i64]) -> Result<(), StoreError> {
    let drop = |number: &i64| context.store.write_rows(|tx| search_table::drop_table(tx, *number));
    numbers.iter().try_for_each(drop)
}

/// The members of one entity type, as they will be when the indexing task ends.
#[derive(Clone, Copy)]
struct MemberRows<'a> {
    context: &'a TaskContext,
    dataset: DatasetId,
    scope: Scope,
    entity: EntityType,
    clusters: &'a ClusterUpdate,
    text_vectors: &'a TextVectorUpdate,
}

impl MemberRows<'_> {
    fn write_new(self, dimensions: Dimensions, schema: &str) -> Result<WriteTarget, StoreError> {
        let store = &self.context.store;
        let written = store.write_rows(|tx| {
            let target = WriteTarget::create(tx, self.dataset, self.entity, dimensions, schema)?;
            self.write(tx, target)
        })?;
        store.execute_until(&written.create_indexes(), self.context.stop_flag())?;
        Ok(written)
    }

    fn append_to(self, table: &SearchTable, source: i64) -> Result<WriteTarget, StoreError> {
        self.context.store.write_rows(|tx| {
            let target =
                WriteTarget::append(tx, table, source, |tx| self.context.require_held(tx))?;
            self.write(tx, target)
        })
    }

    /// Writes the members of one source, or of all sources.
    fn write(
        self,
        transaction: &Transaction,
        mut target: WriteTarget,
    ) -> tessera_store::Result<WriteTarget> {
        let mut writer = TableWriter::new(transaction, &target);
        let mut assignments: Vec<_> = self.clusters.assignments(self.entity).iter().collect();
        assignments.sort_unstable_by_key(|assignment| assignment.media);
        let mut assignments = assignments.into_iter().peekable();
        let each = |features: MediaFeatures| {
            let new = assignments.next_if(|assignment| assignment.media == features.media.row);
            self.add(&mut writer, &features, new)
        };
        let source = target.source;
        media::for_each_with_features(transaction, self.dataset, self.entity, source, each)?;
        target.members = writer.finish()?;
        Ok(target)
    }

    fn add(
        self,
        writer: &mut TableWriter,
        features: &MediaFeatures,
        new: Option<&ClusterAssignment>,
    ) -> tessera_store::Result<()> {
        self.context.check_cancelled().map_err(|_| QueryError::Stopped)?;
        let kept = features.assignment.as_ref().filter(|_| self.scope != Scope::Everything);
        // A media item without an assignment is not searched.
        let Some(assignment) = new.or(kept) else { return Ok(()) };
        let media = &features.media;
        let kept = features.text_vector.as_deref().filter(|_| !self.text_vectors.replaces_all());
        let text_vector: Option<&[f16]> = self.text_vectors.of(media.row).or(kept);
        let issue = |kind| confidence(kind, media.sharpness, media.brightness, assignment);
        writer.add(&IndexedMember {
            language: self.text_vectors.language,
            media,
            assignment,
            issues: IssueKind::ALL.map(issue),
            tags: media.tags.iter().map(|tag| name_id(self.dataset, tag)).collect(),
            descriptor: &features.descriptor,
            text_vector,
            model_vector: features.model_vector.as_deref(),
        })
    }
}
