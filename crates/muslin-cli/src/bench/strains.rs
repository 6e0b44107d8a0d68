//! Strains of structural springs.

use muslin::Sim;

/// Of every structural spring, 0 where it is not stretched.
pub fn of(sim: &Sim) -> Vec<f32> {
    let (springs, x) = (&sim.model().springs, &sim.state().x);
    let ends = sim.model().topology.links.ends().iter().enumerate();
    let structural = ends.filter(|(s, _)| springs.structural[*s]);
    let strain = |(s, &[a, b]): (usize, &[u32; 2])| {
        (x[a as usize].distance(x[b as usize]) / springs.rest_length[s] - 1.0).max(0.0)
    };
    structural.map(strain).collect()
}

/// The value that so many percent are not above; 0 of none.
pub fn percentile(mut values: Vec<f32>, percent: usize) -> f32 {
    values.sort_by(f32::total_cmp);
    let last = values.len().saturating_sub(1);
    values.get(last * percent / 100).copied().unwrap_or(0.0)
}
