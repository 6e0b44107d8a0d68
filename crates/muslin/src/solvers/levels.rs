//! The levels of the V-cycle for a model.

use super::{Coarsening, Method, pyramid_guess};
use crate::error::Error;
use crate::linalg::Topology;
use crate::linalg::multigrid::Multigrid;
use crate::mesh::pyramid::Filter;
use crate::mesh::{Hierarchy, Pyramid};
use crate::model::Model;

/// Nodes at which the V-cycle stops coarsening and solves directly.
const BOTTOM: usize = 32;

/// Bending over inertia that a level must know. Hinges double the blocks of a level, and cloth that is hardly held back
/// by them is solved in as many cycles without: `hang` at 160², where the first coarser level has 1.2, in 7.5 a frame
/// instead of 7.0, which are a third faster. At 320² it has 20, and they would be 7 instead of 4 while it falls.
const FELT: f32 = 2.0;

/// The V-cycle over the quincunx pyramid of a model's grids, or over every other level of it.
pub fn of_pyramid(method: &Method, model: &Model, topology: &Topology) -> Result<Multigrid, Error> {
    let grids = pyramid_guess::grids(model, "preconditioner", "v-cycle")?;
    let doubled = method.coarsening == Coarsening::Doubled;
    let enough = if doubled { BOTTOM / 2 } else { BOTTOM };
    let pyramid = Pyramid::new(&grids, usize::MAX, enough);
    let step = if doubled { 2 } else { 1 };
    let last = pyramid.levels.len() - 1;
    let mut interpolations = Vec::new();
    for level in (0..=last.saturating_sub(step)).step_by(step).filter(|l| l + step <= last) {
        let first = pyramid.prediction(level, Filter::MEAN);
        interpolations.push(match step {
            2 => first.after(&pyramid.prediction(level + 1, Filter::MEAN)),
            _ => first,
        });
    }
    let nodes: Vec<Vec<u32>> =
        pyramid.levels.into_iter().step_by(step).map(|level| level.nodes).collect();
    let feel = that_feel_hinges(model, &nodes);
    Ok(Multigrid::new(topology, nodes, interpolations, feel))
}

/// The V-cycle over coarser levels of any mesh.
pub fn of_any_mesh(model: &Model, topology: &Topology) -> Multigrid {
    let links = model.topology.links.ends();
    let Hierarchy { nodes, interpolations } = Hierarchy::new(&model.rest_x, links, BOTTOM / 2);
    let feel = that_feel_hinges(model, &nodes);
    Multigrid::new(topology, nodes, interpolations, feel)
}

/// How many of the coarser levels feel hinges: those with a node that bending holds back as much as [`FELT`] times its
/// inertia does. On the finest that is h² Σ K c²/m, and as h² B/(ρ l⁴) it falls with the square of the number of nodes.
fn that_feel_hinges(model: &Model, nodes: &[Vec<u32>]) -> usize {
    let h = (model.dt / f64::from(model.substeps)) as f32;
    let hinges = &model.hinges;
    let mut across = vec![0.0; model.particle_count()];
    let corners = model.topology.elements.iter().zip(&hinges.flat);
    for ((corners, flat), k) in corners.zip(&hinges.stiffness) {
        for (i, c) in corners.iter().zip(flat) {
            across[*i as usize] += k * c * c;
        }
    }
    let ratios = across.iter().zip(&model.mass).map(|(k, m)| h * h * k / m);
    let most = ratios.fold(0.0, f32::max);
    let share = |nodes: &Vec<u32>| nodes.len() as f32 / model.particle_count() as f32;
    nodes[1..].iter().take_while(|nodes| most * share(nodes).powi(2) > FELT).count()
}
