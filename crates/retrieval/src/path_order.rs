//! The order of the members of an index, by path and then by row: sorted here, because databases sort whole rows with
//! their vectors, on disk.

use tessera_model::{DatasetId, EntityType};
use tessera_store::{Connection, media};

#[derive(Default)]
pub struct PathOrder {
    /// In increasing order.
    rows: Vec<i64>,
    /// The position of each of them.
    positions: Vec<u32>,
}

/// Paths of media items, in order of row.
#[derive(Default)]
pub struct MemberPaths {
    rows: Vec<i64>,
    /// All paths, one after the other, and where each ends: a million allocations would take as much memory again.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl PathOrder {
    /// A media item without an assignment was added after the last clustering, and is not a member.
    pub fn read(
        connection: &Connection,
        dataset: DatasetId,
        entity: EntityType,
    ) -> tessera_store::Result<Self> {
        let mut paths = MemberPaths::default();
        media::for_each_clustered_path(connection, dataset, entity, |row, path| {
            paths.push(row, path);
        })?;
        Ok(paths.into_order())
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The position of a member by its row.
    pub fn position(&self, row: i64) -> Option<u32> {
        self.rows.binary_search(&row).ok().map(|found| self.positions[found])
    }
}

impl MemberPaths {
    /// Rows arrive in increasing order.
    pub fn push(&mut self, row: i64, path: &[u8]) {
        self.rows.push(row);
        self.bytes.extend_from_slice(path);
        self.ends.push(self.bytes.len());
    }

    fn path(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |previous| self.ends[previous]);
        &self.bytes[start..self.ends[at]]
    }

    pub fn into_order(self) -> PathOrder {
        let mut order: Vec<u32> = (0..).take(self.rows.len()).collect();
        // Equal paths keep the order of their rows.
        order.sort_by(|one, other| self.path(*one as usize).cmp(self.path(*other as usize)));
        let mut positions = vec![0; order.len()];
        for (position, at) in (0..).zip(order) {
            positions[at as usize] = position;
        }
        PathOrder { rows: self.rows, positions }
    }
}
