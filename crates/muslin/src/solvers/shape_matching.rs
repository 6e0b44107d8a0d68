//! Meshless deformations: every particle is drawn towards its place in a fitted shape
//! (Müller et al. 2005; Rubin §5.2 and §6.2).
//!
//! ```text
//!   1  g from x                                    the fit, `shape_fit.rs`, Rubin Eq. 5–6
//!   2  v += m/(m + h c) (α (g − x)/h + h f/m)      Rubin's figure "Eq. 4" with drag taken implicitly
//!   3  x += h v
//! ```
//!
//! f are gravity, wind, drag, pulls; c is the sum of the drag coefficients, so that drag is stable at
//! any h. α is per step: the goals pull with stiffness α m/h², and a sheet sags by about g h²/α.
//! The impulses of one fit add up to nothing, so momentum and angular momentum stay.
//!
//! A cloth is covered by `regions`² overlapping regions, each with its own fit; a particle in k of them
//! has the mean of their goals and takes part in each with m/k, which keeps the momentum exact.
//!
//! `layers` adds a second, hidden layer of interface particles with the masses of the first, on which
//! pulls act: at the same places (interface), or beside the cloth by one particle spacing with
//! the 9-term basis (extruded, Rubin Fig. 9). The fit is over both layers, so the cloth
//! feels a pull only through its goals. What holds a particle holds its interface particle too.
//!
//! Hybrid (`internal`, Rubin §6.3): structural springs and their dampers act as well, explicitly. With
//! K = max Σ k/m and D = max Σ kd/m over the springs of a particle, one step is stable for
//!
//! ```text
//!   2 K h² + α + h² k_pull/m + 4 D h < 4
//! ```
//!
//! and is cut into n substeps where that does not hold, with α/n², which leaves the goals' stiffness
//! what it was.
//!
//! Rest shapes that are no plane have the 9-term basis in every `layers`. Held particles take
//! part in the fit.

use super::shape_fit::{Columns, Fit, THIN};
use super::{Internal, Layers, Method, Modes, Solved, Solver, Step};
use crate::clock;
use crate::forces::{Forces, air_drag, damping, pull, spring, wind};
use crate::linalg::vectors::{add_scaled, update};
use crate::mesh::{Incidence, Links};
use crate::model::{ClothPart, Model, Springs};
use crate::par::{BLOCK, Par, widest};
use crate::state::State;
use glam::{DVec3, Vec3};
use std::ops::Range;

/// More substeps than this are not taken: beyond, a step may blow up and is then rolled back.
const MOST_SUBSTEPS: u32 = 1000;

/// Share of the stability limit 4 that a substep uses.
const SAFE: f64 = 0.95 * 4.0;

/// 1/k of a particle in k regions: three of each direction at most, where their borders meet.
const SHARES: [f64; 10] = [
    0.0,
    1.0,
    1.0 / 2.0,
    1.0 / 3.0,
    1.0 / 4.0,
    1.0 / 5.0,
    1.0 / 6.0,
    1.0 / 7.0,
    1.0 / 8.0,
    1.0 / 9.0,
];

/// Storage and choices.
pub struct ShapeMatching {
    alpha: f64,
    beta: f64,
    layers: Layers,
    regions: Vec<Region>,
    /// Stretches of regions, the unit of parallel sums.
    parts: Vec<Part>,
    /// Of each region.
    transforms: Vec<Columns>,
    /// Regions of each particle, interface particles after the others.
    memberships: Incidence,
    /// Whole cloths, to put an extruded layer beside.
    frames: Vec<Frame>,
    springs: Option<Net>,
    /// g − x of every particle, interface particles after the others. [m]
    toward: Vec<Vec3>,
    forces: Forces,
    interface_force: Vec<Vec3>,
    /// Absolute damping and linear drag. [N·s/m]
    drag: Vec<f32>,
}

/// Particles that are fitted together.
struct Region {
    fit: Fit,
    members: Vec<u32>,
}

struct Part {
    region: usize,
    points: Range<usize>,
    sums: Columns,
}

struct Frame {
    particles: Range<usize>,
    fit: Fit,
    /// Distance of the interface layer. [m]
    offset: f64,
}

/// The springs of the hybrid.
struct Net {
    links: Links,
    springs: Springs,
    floors: Vec<f32>,
    /// max Σ k/m. [1/s²]
    stiffest: f64,
    /// max Σ kd/m. [1/s]
    most_damped: f64,
}

impl Net {
    fn new(method: &Method, model: &Model) -> Self {
        let (all, floors) = (&model.springs, method.spring_floors(model));
        let kept: Vec<usize> = (0..model.spring_count()).filter(|&s| all.structural[s]).collect();
        let pick = |values: &[f32]| -> Vec<f32> { kept.iter().map(|&s| values[s]).collect() };
        let springs = Springs {
            stiffness: pick(&all.stiffness),
            rest_length: pick(&all.rest_length),
            damping: pick(&all.damping),
            relative_damping: pick(&all.relative_damping),
            is_damped: all.is_damped,
            ..Springs::default()
        };
        let ends: Vec<[u32; 2]> = kept.iter().map(|&s| model.topology.links.ends()[s]).collect();
        let most = |values: &dyn Fn(usize) -> f32| {
            let mut sums = vec![0.0f64; model.particle_count()];
            for (s, pair) in ends.iter().enumerate() {
                pair.iter().for_each(|&p| sums[p as usize] += f64::from(values(s)));
            }
            sums.iter().zip(&model.mass).map(|(s, m)| s / f64::from(*m)).fold(0.0, f64::max)
        };
        let stiffest = most(&|s| springs.stiffness[s]);
        let most_damped = most(&|s| springs.damping[s] + springs.relative_damping[s]);
        let links = Links::new(ends, model.particle_count());
        Self { links, floors: pick(&floors), springs, stiffest, most_damped }
    }
}

impl ShapeMatching {
    /// Fits and storage for a model.
    pub fn new(method: &Method, model: &Model) -> Self {
        let n = model.particle_count();
        let layered = method.layers != Layers::Planar;
        let mut regions = Vec::new();
        let mut frames = Vec::new();
        for cloth in &model.cloths {
            let particles = cloth.particles.clone();
            let (rest, mass): (Vec<DVec3>, Vec<f64>) = (particles.clone())
                .map(|i| (model.rest_x[i].as_dvec3(), f64::from(model.mass[i])))
                .unzip();
            let fit = Fit::new(&rest, &mass, Modes::Linear, THIN);
            let offset = match method.layers {
                Layers::Extruded => fit.spacing(),
                _ => 0.0,
            };
            regions.extend(cover(method, cloth, n, &rest, &mass, &fit, offset));
            frames.push(Frame { particles, fit, offset });
        }
        let parts = regions.iter().enumerate().flat_map(|(region, r)| {
            let count = r.members.len();
            (0..count.div_ceil(BLOCK)).map(move |b| {
                let points = b * BLOCK..((b + 1) * BLOCK).min(count);
                Part { region, points, sums: [[0.0; 4]; 10] }
            })
        });
        let parts = parts.collect();
        let count = if layered { 2 * n } else { n };
        let members: Vec<&[u32]> = regions.iter().map(|r| r.members.as_slice()).collect();
        let drag = model.mass.iter().zip(&model.absolute_damping);
        Self {
            alpha: method.alpha,
            beta: method.beta,
            layers: method.layers,
            parts,
            transforms: vec![[[0.0; 4]; 10]; regions.len()],
            memberships: Incidence::new(&members, count),
            regions,
            frames,
            springs: (method.internal == Internal::Structural).then(|| Net::new(method, model)),
            toward: vec![Vec3::ZERO; count],
            forces: Forces::new(model),
            interface_force: vec![Vec3::ZERO; if layered { n } else { 0 }],
            drag: drag.map(|(m, c)| model.air.drag * m + c).collect(),
        }
    }

    /// Creates the interface layer beside the current shape, if there is none yet.
    fn prepare_interface(&self, state: &mut State) {
        if self.layers == Layers::Planar || state.interface_x.len() == state.x.len() {
            return;
        }
        state.interface_x.clone_from(&state.x);
        state.interface_v.clone_from(&state.v);
        for Frame { particles, fit, offset } in &self.frames {
            let x = &state.x[particles.clone()];
            let turned = fit.rotation(&fit.sums(0, x, |x| x.as_dvec3()));
            let beside = (*offset * turned.z_axis).as_vec3();
            state.interface_x[particles.clone()].iter_mut().for_each(|x| *x += beside);
        }
    }

    /// Substeps that keep the springs of the hybrid stable over a step of length h.
    fn substeps(&self, step: &Step<'_>) -> u32 {
        let Some(net) = &self.springs else {
            return 1;
        };
        let h = f64::from(step.h);
        let pulled = if step.inputs.pulls.is_empty() { 0.0 } else { 1.0 };
        let squared = 2.0 * net.stiffest * h * h + self.alpha + pulled;
        let half = 0.5 * (4.0 * net.most_damped * h) / SAFE;
        // Smallest n with squared/n² + 2 half SAFE/n ≤ SAFE.
        let least = half + (half * half + squared / SAFE).sqrt();
        least.ceil().clamp(1.0, f64::from(MOST_SUBSTEPS)) as u32
    }

    /// Sets `toward` to g − x.
    fn set_goals(&mut self, par: Par, state: &State) {
        let Self { regions, parts, transforms, memberships, toward, beta, .. } = self;
        let shape = Shape { x: &state.x, interface: &state.interface_x };
        par.each(parts, |_, part| {
            let region = &regions[part.region];
            part.sums = widest(Sums { region, points: part.points.clone(), shape });
        });
        transforms.fill([[0.0; 4]; 10]);
        for part in &*parts {
            let sums = transforms[part.region].as_flattened_mut();
            sums.iter_mut().zip(part.sums.as_flattened()).for_each(|(sum, s)| *sum += s);
        }
        par.each(transforms, |r, t| *t = regions[r].fit.transform(t, *beta));
        par.blocks(toward, |block, toward| {
            let first = block * BLOCK;
            widest(Goals { regions, transforms, memberships, shape, first, toward });
        });
    }

    /// Forces at the current positions and velocities: external ones, and the hybrid's springs.
    fn set_forces(&mut self, step: &Step<'_>, state: &State) {
        let Step { model, inputs, par, .. } = *step;
        let total = &mut self.forces;
        total.evaluate_surroundings(model, inputs, par, &state.x, &state.v);
        if let Some(Net { links, springs, floors, .. }) = &self.springs {
            spring::add(&mut total.total, links, springs, floors, par, &state.x);
            if springs.is_damped {
                let total = &mut total.total;
                damping::add_links(total, links, springs, par, &state.x, &state.v);
            }
        }
        if self.layers == Layers::Planar {
            pull::add(&mut self.forces.total, &inputs.pulls, &state.x);
            return;
        }
        let v = &state.interface_v;
        update(par, &mut self.interface_force, |i, _| {
            let m = model.mass[i];
            let drag = air_drag::force(model.air.drag, m, v[i], inputs.wind);
            m * inputs.gravity + drag - model.absolute_damping[i] * v[i]
        });
        pull::add(&mut self.interface_force, &inputs.pulls, &state.interface_x);
    }

    /// Returns the seconds that the goals took.
    fn substep(&mut self, step: &Step<'_>, state: &mut State, h: f32, alpha: f32) -> f64 {
        let Step { model, held, par, .. } = *step;
        // Goals.
        let begun = clock::now();
        self.set_goals(par, state);
        let solving = clock::now() - begun;
        // Velocities.
        self.set_forces(step, state);
        let (cloth, interface) = self.toward.split_at(state.x.len());
        let rate = alpha / h;
        let change = |i: usize, toward: Vec3, f: Vec3, c: f32| {
            let m = model.mass[i];
            (held.free[i] / (m + h * c)) * (rate * m * toward + h * f)
        };
        let (f, drag) = (&self.forces.total, &self.drag);
        if model.air.acts_on_triangles() {
            let gusts = &self.forces.wind;
            update(par, &mut state.v, |i, v| {
                let c = drag[i] + wind::damping_at(model, gusts, i);
                v + change(i, cloth[i], f[i], c)
            });
        } else {
            update(par, &mut state.v, |i, v| v + change(i, cloth[i], f[i], drag[i]));
        }
        // Positions.
        add_scaled(par, &mut state.x, h, &state.v);
        if self.layers != Layers::Planar {
            let f = &self.interface_force;
            let v = &mut state.interface_v;
            update(par, v, |i, v| v + change(i, interface[i], f[i], drag[i]));
            add_scaled(par, &mut state.interface_x, h, &state.interface_v);
        }
        solving
    }
}

impl Solver for ShapeMatching {
    fn step(&mut self, step: &Step<'_>, state: &mut State) -> Solved {
        let Step { held, h, par, .. } = *step;
        self.prepare_interface(state);
        update(par, &mut state.v, |i, v| held.free[i] * v + held.velocity[i]);
        if self.layers != Layers::Planar {
            update(par, &mut state.interface_v, |i, v| held.free[i] * v + held.velocity[i]);
        }
        let substeps = self.substeps(step);
        let alpha = self.alpha / f64::from(substeps).powi(2);
        let solving = (0..substeps)
            .map(|_| self.substep(step, state, h / substeps as f32, alpha as f32))
            .sum();
        let iterations = if self.springs.is_some() { substeps } else { 0 };
        Solved { iterations, substeps, solving, ..Solved::EXPLICIT }
    }
}

/// Where particles are, interface particles after the others.
#[derive(Clone, Copy)]
struct Shape<'a> {
    x: &'a [Vec3],
    interface: &'a [Vec3],
}

impl Shape<'_> {
    #[inline(always)]
    fn at(self, particle: usize) -> DVec3 {
        let beside = particle.wrapping_sub(self.x.len());
        self.x.get(particle).unwrap_or_else(|| &self.interface[beside]).as_dvec3()
    }
}

/// The sums of a stretch of a region.
struct Sums<'a> {
    region: &'a Region,
    points: Range<usize>,
    shape: Shape<'a>,
}

impl pulp::NullaryFnOnce for Sums<'_> {
    type Output = Columns;

    #[inline(always)]
    fn call(self) -> Columns {
        let Region { fit, members } = self.region;
        let shape = self.shape;
        let first = self.points.start;
        fit.sums(first, &members[self.points], |particle| shape.at(*particle as usize))
    }
}

/// g − x of a block of particles.
struct Goals<'a> {
    regions: &'a [Region],
    transforms: &'a [Columns],
    memberships: &'a Incidence,
    shape: Shape<'a>,
    first: usize,
    toward: &'a mut [Vec3],
}

impl pulp::NullaryFnOnce for Goals<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (k, toward) in self.toward.iter_mut().enumerate() {
            let particle = self.first + k;
            let of = self.memberships.of(particle);
            let mut goal = DVec3::ZERO;
            for member in of {
                let region = member.item as usize;
                let fit = &self.regions[region].fit;
                goal += fit.goal(&self.transforms[region], member.slot as usize);
            }
            goal *= SHARES[of.len().min(9)];
            *toward = (goal - self.shape.at(particle)).as_vec3();
        }
    }
}

/// The regions of a cloth: a lattice of `regions`² cells over its two longest axes, each reaching
/// half a cell into its neighbours.
fn cover(
    method: &Method,
    cloth: &ClothPart,
    particle_count: usize,
    rest: &[DVec3],
    mass: &[f64],
    whole: &Fit,
    offset: f64,
) -> Vec<Region> {
    let axes = whole.axes();
    let count = method.regions as usize;
    // The cells of each particle along one axis; one for all where the cloth has no extent.
    let cells_along = |axis: DVec3| -> (usize, Vec<Range<usize>>) {
        let places: Vec<f64> = rest.iter().map(|x| x.dot(axis)).collect();
        let low = places.iter().copied().fold(f64::INFINITY, f64::min);
        let extent = places.iter().fold(0.0, |extent: f64, p| extent.max(p - low));
        let longest = whole.longest();
        let count = if extent > 1e-3 * longest { count } else { 1 };
        let cell = |p: &f64| {
            let t = if extent > 0.0 { (p - low) / extent * count as f64 } else { 0.0 };
            // Cells c with c − ½ ≤ t ≤ c + 1½.
            let first = (t - 1.5).ceil().max(0.0) as usize;
            let last = (t + 0.5).floor().min((count - 1) as f64) as usize;
            first.min(last)..last + 1
        };
        (count, places.iter().map(cell).collect())
    };
    let (columns, along) = cells_along(axes.x_axis);
    let (rows, across) = cells_along(axes.y_axis);
    let mut members = vec![Vec::new(); columns * rows];
    for i in 0..rest.len() {
        for row in across[i].clone() {
            along[i].clone().for_each(|column| members[row * columns + column].push(i));
        }
    }
    let shares = |i: usize| (along[i].len() * across[i].len()) as f64;
    let (layered, thin) = match method.layers {
        Layers::Planar => (false, THIN),
        Layers::Interface => (true, THIN),
        // Two layers are a volume, however close.
        Layers::Extruded => (true, 1e-6),
    };
    let beside = offset * axes.z_axis;
    let region = |members: Vec<usize>| {
        let mut points: Vec<DVec3> = members.iter().map(|&i| rest[i]).collect();
        let mut masses: Vec<f64> = members.iter().map(|&i| mass[i] / shares(i)).collect();
        let first = cloth.particles.start;
        let mut members: Vec<u32> = members.iter().map(|&i| (first + i) as u32).collect();
        if layered {
            points.extend_from_within(..);
            points[masses.len()..].iter_mut().for_each(|x| *x += beside);
            masses.extend_from_within(..);
            members.extend(members.clone().iter().map(|i| i + particle_count as u32));
        }
        Region { fit: Fit::new(&points, &masses, method.modes, thin), members }
    };
    members.into_iter().filter(|m| !m.is_empty()).map(region).collect()
}
