//! The threads a simulation steps with.

use anyhow::Context;
use muslin::{Par, Sim};

/// One thread, or a pool.
pub struct Threads {
    pool: Option<rayon::ThreadPool>,
}

impl Threads {
    /// `count` threads to step with.
    pub fn new(count: u32) -> anyhow::Result<Self> {
        let pool = match count {
            0 | 1 => None,
            _ => Some(
                rayon::ThreadPoolBuilder::new()
                    .num_threads(count as usize)
                    .build()
                    .with_context(|| format!("cannot start {count} threads"))?,
            ),
        };
        Ok(Self { pool })
    }

    /// Does `work` on a simulation with these threads.
    pub fn with<R: Send>(&self, sim: &mut Sim, work: impl FnOnce(&mut Sim) -> R + Send) -> R {
        match &self.pool {
            None => {
                sim.par = Par::Serial;
                work(sim)
            }
            Some(pool) => {
                sim.par = Par::Rayon;
                pool.install(|| work(sim))
            }
        }
    }
}
