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
    let nodes = pyramid.levels.into_iter().step_by(step).map(|level| level.nodes).collect();
    Ok(Multigrid::new(topology, nodes, interpolations))
}

/// The V-cycle over coarser levels of any mesh.
pub fn of_any_mesh(model: &Model, topology: &Topology) -> Multigrid {
    let links = model.topology.links.ends();
    let Hierarchy { nodes, interpolations } = Hierarchy::new(&model.rest_x, links, BOTTOM / 2);
    Multigrid::new(topology, nodes, interpolations)
}
