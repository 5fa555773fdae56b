//! How much memory the search indexes take, and how often they are used again.

use std::sync::atomic::Ordering;

use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge},
    registry::{Registry, Unit},
};

use super::gauge::set;
use tessera_retrieval::CacheUsage;

#[derive(Default)]
pub struct CacheMetrics {
    indexes: Gauge,
    memory: Gauge,
    loads: Counter,
    hits: Counter,
    misses: Counter,
}

impl CacheMetrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register("indexes", "Search indexes in memory", self.indexes.clone());
        registry.register_with_unit(
            "index_memory",
            "What filters and rankings read of the media in search indexes",
            Unit::Bytes,
            self.memory.clone(),
        );
        for (name, help, counter) in [
            ("index_loads", "Search indexes that were loaded", &self.loads),
            ("ranking_hits", "Rankings that came from memory", &self.hits),
            ("ranking_misses", "Rankings that were computed", &self.misses),
        ] {
            registry.register(name, help, counter.clone());
        }
    }

    pub fn update(&self, usage: CacheUsage) {
        set(&self.indexes, usage.indexes);
        set(&self.memory, usage.bytes);
        for (counter, value) in
            [(&self.loads, usage.loads), (&self.hits, usage.hits), (&self.misses, usage.misses)]
        {
            counter.inner().store(value, Ordering::Relaxed);
        }
    }
}
