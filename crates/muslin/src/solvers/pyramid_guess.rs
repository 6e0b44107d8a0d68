//! The start of a linear solve from coarser versions of the same cloth (Moustakas et al. §4.2).
//!
//! ```text
//!   coarsest level: X = CG(H_l, Y_l, 0)                             Eq. 14
//!   next finer:     X̃ = prediction from X (Eq. 15–18), X = CG(H_l, Y_l, X̃), and so on;
//!   the prediction for level 0 is the guess
//! ```
//!
//! H_l and Y_l are those of a cloth made of the particles of level l where they are now (Eq. 12, 13). What
//! the paper leaves open is chosen so that the coarse cloth is the same sheet: a particle stands for 2ˡ times the
//! mass and external force; the springs are the fine net carried along by Mˡ, with the constants the net has on
//! average and rest lengths of the rest grid (a spring's stiffness does not change with the scale of a
//! two-dimensional net). Hinges are left out. Held particles are known zeros.

use super::{Filter, Jacobian, Method, Step};
use crate::error::Error;
use crate::forces::spring;
use crate::linalg::conjugate_gradient::{Preconditioner, Stop, Workspace};
use crate::linalg::vectors::scale_each;
use crate::linalg::{System, Topology, relaxation};
use crate::mesh::pyramid::{self, Grid};
use crate::mesh::{Interpolation, Pyramid};
use crate::model::{Model, Springs};
use glam::Vec3;
use std::collections::BTreeMap;

/// The grids of a model, or which cloth is none.
pub fn grids(model: &Model, key: &str, value: &str) -> Result<Vec<Grid>, Error> {
    let grid = |cloth: &crate::model::ClothPart| match cloth.grid {
        Some((columns, rows)) => Ok(Grid { columns, rows, first: cloth.particles.start }),
        None => {
            let what = if key == "guess" { "this guess" } else { "this preconditioner" };
            let remedy = format!(
                "{what} needs a grid, and the cloth \"{}\" is a mesh; use {}",
                cloth.name,
                if key == "guess" { "previous-step" } else { "block-jacobi" }
            );
            Err(Error::new(format!("method.{key}"), value, remedy))
        }
    };
    if !model.turning.is_empty() {
        let remedy =
            "3D springs are not in the pyramid; use another method, or set turning.stiffness = 0";
        return Err(Error::new(format!("method.{key}"), value, remedy));
    }
    model.cloths.iter().map(grid).collect()
}

/// Levels 1 and up, finest first, with their predictions.
pub struct PyramidGuess {
    levels: Vec<Level>,
    /// Non-zero blocks of the fine matrix.
    fine_blocks: f64,
    stop: Stop,
    block_jacobi: bool,
}

/// One coarse cloth.
struct Level {
    nodes: Vec<u32>,
    /// How many fine particles each of this level stands for.
    share: f32,
    topology: Topology,
    springs: Springs,
    floors: Vec<f32>,
    system: System,
    cg: Workspace,
    free: Vec<f32>,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    b: Vec<Vec3>,
    change: Vec<Vec3>,
    /// To the next finer level.
    prediction: Interpolation,
}

/// The net of a grid: constants of its springs by their offset (rows, columns).
type Net = BTreeMap<(isize, isize), Family>;

/// Springs of one offset: sums over all of them, and their number.
#[derive(Default)]
struct Family {
    count: f32,
    stiffness: f32,
    damping: f32,
    relative_damping: f32,
    floor: f32,
}

impl PyramidGuess {
    /// `method.levels` levels, the fine one included.
    pub fn new(method: &Method, model: &Model) -> Result<Self, Error> {
        let grids = grids(model, "guess", "pyramid")?;
        let pyramid = Pyramid::new(&grids, method.levels as usize, 1);
        let floors = method.spring_floors(model);
        let nets: Vec<Net> =
            (0..grids.len()).map(|cloth| net(&floors, model, cloth, grids[cloth])).collect();
        let levels = (1..pyramid.levels.len())
            .map(|l| {
                let filter = match method.filter {
                    Filter::MinimumVariance => {
                        pyramid::Filter::minimum_variance(method.correlation, l - 1)
                    }
                    Filter::Printed => pyramid::Filter::PRINTED,
                    Filter::Mean => pyramid::Filter::MEAN,
                };
                Level::new(model, &pyramid, l, &nets, pyramid.prediction(l - 1, filter))
            })
            .collect();
        Ok(Self {
            levels,
            fine_blocks: blocks(&model.topology, model.particle_count()),
            stop: Stop { tolerance: method.tolerance, max_iterations: method.max_iterations },
            block_jacobi: method.preconditioner != super::Preconditioner::None,
        })
    }

    /// Fills `change` and returns the cost in products with the fine matrix. `lumped` and `external`
    /// are those of the fine system at (x, v).
    #[allow(clippy::too_many_arguments)]
    pub fn predict(
        &mut self,
        step: &Step<'_>,
        jacobian: Jacobian,
        x: &[Vec3],
        v: &[Vec3],
        lumped: &[f32],
        external: &[Vec3],
        change: &mut [Vec3],
    ) -> f64 {
        let mut work = 0.0;
        for l in (0..self.levels.len()).rev() {
            let (finer, coarser) = self.levels.split_at_mut(l + 1);
            let level = &mut finer[l];
            level.assemble(step, jacobian, x, v, lumped, external);
            match coarser.first() {
                Some(coarser) => coarser.predict(&level.free, &mut level.change),
                None => level.change.fill(Vec3::ZERO),
            }
            let products = level.solve(step, self.stop, self.block_jacobi);
            work += products * blocks(&level.topology, level.nodes.len()) / self.fine_blocks;
        }
        match self.levels.first() {
            Some(coarser) => coarser.predict(&step.held.free, change),
            None => change.fill(Vec3::ZERO),
        }
        work
    }
}

impl Level {
    fn new(
        model: &Model,
        pyramid: &Pyramid,
        level: usize,
        nets: &[Net],
        prediction: Interpolation,
    ) -> Self {
        let places = &pyramid.levels[level].places;
        let nodes = pyramid.levels[level].nodes.clone();
        let rest = |i: u32| model.rest_x[nodes[i as usize] as usize].as_dvec3();
        let mut springs = Springs::default();
        let (mut ends, mut floors) = (Vec::new(), Vec::new());
        // By row and direction, so that links come in runs.
        let rows = places.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
        let mut first = 0;
        for row in rows {
            for (&offset, family) in &nets[row[0].0 as usize] {
                for (i, &place) in (first..).zip(row) {
                    let Some(other) = pyramid.neighbour(level, place, level, offset) else {
                        continue;
                    };
                    ends.push([i, other]);
                    springs.stiffness.push(family.stiffness / family.count);
                    springs.rest_length.push(rest(i).distance(rest(other)) as f32);
                    springs.damping.push(family.damping / family.count);
                    springs.relative_damping.push(family.relative_damping / family.count);
                    floors.push(family.floor);
                }
            }
            first += row.len() as u32;
        }
        springs.is_damped = model.springs.is_damped;
        let n = nodes.len();
        let topology = Topology::new(n, ends, Vec::new());
        let zeros = vec![Vec3::ZERO; n];
        Self {
            share: 2f32.powi(level as i32),
            system: System::new(n, &topology, 1),
            cg: Workspace::new(n),
            topology,
            springs,
            floors,
            free: vec![1.0; n],
            x: zeros.clone(),
            v: zeros.clone(),
            b: zeros.clone(),
            change: zeros,
            prediction,
            nodes,
        }
    }

    /// H and Y of this level (Eq. 12, 13) from the fine state.
    fn assemble(
        &mut self,
        step: &Step<'_>,
        jacobian: Jacobian,
        x: &[Vec3],
        v: &[Vec3],
        lumped: &[f32],
        external: &[Vec3],
    ) {
        let Step { h, par, held, .. } = *step;
        let Self { topology, springs, floors, system, .. } = self;
        for (i, &node) in self.nodes.iter().enumerate() {
            let node = node as usize;
            self.x[i] = x[node];
            self.v[i] = v[node];
            self.b[i] = self.share * external[node];
            self.free[i] = held.free[node];
            system.lumped[i] = self.share * lumped[node];
        }
        spring::fill_blocks(
            &mut system.link_blocks,
            &topology.links,
            springs,
            floors,
            par,
            jacobian,
            h,
            &self.x,
        );
        system.build_diagonal(topology, par);
        relaxation::hold(&mut system.inverse, &self.free);
        spring::add(&mut self.b, &topology.links, springs, floors, par, &self.x);
        self.b.iter_mut().for_each(|b| *b *= h);
        system.subtract_coupling(topology, par, &self.v, &mut self.b, 1.0);
        scale_each(par, &mut self.b, &self.free);
    }

    /// Improves `change`; returns the number of products with this level's matrix.
    fn solve(&mut self, step: &Step<'_>, stop: Stop, block_jacobi: bool) -> f64 {
        let Self { system, topology, b, free, change, .. } = self;
        let mut preconditioner =
            if block_jacobi { Preconditioner::BlockJacobi } else { Preconditioner::None };
        self.cg.solve(system, topology, step.par, b, free, &mut preconditioner, stop, change).work
    }

    /// The prediction for the next finer level; zero where it is held.
    fn predict(&self, free: &[f32], finer: &mut [Vec3]) {
        for (i, out) in finer.iter_mut().enumerate() {
            let mut sum = Vec3::ZERO;
            for &(k, weight) in self.prediction.row(i) {
                sum += weight * self.change[k as usize];
            }
            *out = free[i] * sum;
        }
    }
}

/// Non-zero blocks of a matrix.
fn blocks(topology: &Topology, n: usize) -> f64 {
    (n + 2 * topology.links.len()) as f64
}

/// What springs a grid has, by offset.
fn net(floors: &[f32], model: &Model, cloth: usize, grid: Grid) -> Net {
    let particles = &model.cloths[cloth].particles;
    let mut net = Net::new();
    for (s, ends) in model.topology.links.ends().iter().enumerate() {
        if !particles.contains(&(ends[0] as usize)) {
            continue;
        }
        let [a, b] = ends.map(|e| {
            let i = e as usize - grid.first;
            ((i / grid.columns) as isize, (i % grid.columns) as isize)
        });
        let springs = &model.springs;
        let family = net.entry((b.0 - a.0, b.1 - a.1)).or_default();
        family.count += 1.0;
        family.stiffness += springs.stiffness[s];
        family.damping += springs.damping[s];
        family.relative_damping += springs.relative_damping[s];
        family.floor = floors[s];
    }
    net
}
