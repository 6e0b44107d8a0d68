//! Strains of structural springs.

use muslin::Sim;
use muslin::mesh::triangles;
use std::collections::HashMap;

/// Of every structural spring, 0 where it is not stretched.
pub fn of(sim: &Sim) -> Vec<f32> {
    structural(sim).map(|(_, strain)| strain).collect()
}

/// The same, each with the rest area of the triangles beside it: a spring of the border stands for half
/// as much cloth as one inside, and a finer grid has fewer of them. [m²]
pub fn with_areas(sim: &Sim) -> Vec<(f32, f64)> {
    let model = sim.model();
    let area = |t: u32| {
        let [a, b, c] = model.triangles[t as usize].map(|i| model.rest_x[i as usize].as_dvec3());
        0.5 * (b - a).cross(c - a).length()
    };
    let beside: HashMap<[u32; 2], f64> = triangles::edges(&model.triangles)
        .into_iter()
        .map(|edge| (edge.ends, edge.sides.iter().map(|&(_, t)| area(t)).sum()))
        .collect();
    let area = |[a, b]: [u32; 2]| beside.get(&[a.min(b), a.max(b)]).copied().unwrap_or(0.0);
    structural(sim).map(|(ends, strain)| (strain, area(ends))).collect()
}

fn structural(sim: &Sim) -> impl Iterator<Item = ([u32; 2], f32)> {
    let (springs, x) = (&sim.model().springs, &sim.state().x);
    let ends = sim.model().topology.links.ends().iter().enumerate();
    let structural = ends.filter(|(s, _)| springs.structural[*s]);
    structural.map(|(s, &[a, b])| {
        let strain = x[a as usize].distance(x[b as usize]) / springs.rest_length[s] - 1.0;
        ([a, b], strain.max(0.0))
    })
}

/// The value that so many percent are not above; 0 of none.
pub fn percentile(mut values: Vec<f32>, percent: usize) -> f32 {
    values.sort_by(f32::total_cmp);
    let last = values.len().saturating_sub(1);
    values.get(last * percent / 100).copied().unwrap_or(0.0)
}

/// The strain that so many percent of the area are not above; 0 of none. Each value stands in the middle
/// of its area, with straight lines between: at 40² fifteen pairs of springs are above the 99th.
pub fn percentile_by_area(mut values: Vec<(f32, f64)>, percent: usize) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let sought = values.iter().map(|(_, area)| area).sum::<f64>() * percent as f64 / 100.0;
    let (mut below, mut last) = (0.0, None);
    for (value, area) in values.into_iter().filter(|(_, area)| *area > 0.0) {
        let (value, middle) = (f64::from(value), below + 0.5 * area);
        match last {
            None if middle >= sought => return value,
            Some((before, at)) if middle >= sought => {
                return before + (value - before) * (sought - at) / (middle - at);
            }
            _ => last = Some((value, middle)),
        }
        below += area;
    }
    last.map_or(0.0, |(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use muslin::{Method, scenes};

    #[test]
    fn border_springs_stand_for_half() {
        let mut scene = scenes::named("hang").unwrap();
        (scene.cloth[0].columns, scene.cloth[0].rows) = (5, 5);
        let sim = Sim::new(scene.compile().unwrap(), Method::preset("muslin").unwrap()).unwrap();
        let areas: Vec<f64> = with_areas(&sim).into_iter().map(|(_, area)| area).collect();
        // Each cell of 0.25 m² counts for two of its four sides, by half of it each.
        assert!((areas.iter().sum::<f64>() - 2.0 * 4.0).abs() < 1e-6);
        assert_eq!(areas.iter().filter(|area| (*area - 0.125).abs() < 1e-6).count(), 16);
        assert_eq!(areas.iter().filter(|area| (*area - 0.25).abs() < 1e-6).count(), 24);
    }

    #[test]
    fn percentiles_weigh_areas() {
        assert_eq!(percentile_by_area(vec![], 99), 0.0);
        assert_eq!(percentile_by_area(vec![(3.0, 1.0)], 99), 3.0);
        // Middles at 1/2, 3/2 and 3 of 4: half the area ends a third of the way from 2 to 5.
        let values = vec![(5.0, 2.0), (1.0, 1.0), (2.0, 1.0)];
        assert!((percentile_by_area(values.clone(), 50) - 3.0).abs() < 1e-12);
        // Two halves of a spring are one.
        let halves = values.iter().flat_map(|&(v, a)| [(v, 0.5 * a), (v, 0.5 * a)]).collect();
        assert_eq!(percentile_by_area(halves, 99), percentile_by_area(values, 99));
    }
}
