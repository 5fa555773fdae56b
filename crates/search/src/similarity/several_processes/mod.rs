//! Computes the neighbor graph and the near-duplicates of one dataset in several processes, with the results of one
//! process. A deployment of one process needs nothing from here.

mod range_step;
mod shared_search;
mod step_worker;

pub use range_step::{RangeExecutor, RangeResult, RangeStep, StepInput};
pub use shared_search::{shared_near_duplicates, shared_neighbor_graph};
pub use step_worker::StepWorker;

pub use super::approximate_graph::LINK_ROUNDS;
