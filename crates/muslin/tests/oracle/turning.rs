//! 3D springs of Jeong & Lee in double precision: rotation matrices, Listing 1 spring by spring.
//!
//! What the listing prints is kept where it is right and replaced where it is not: a damper pulls its ends
//! oppositely, torsional damping sees only rotation against the spring, and the angle is an atan2.

use super::{Random, wide};
use glam::{DMat3, DVec3};
use muslin::model::TurningLaw;
use muslin::scene::{Mesh, Springs, Turning};
use muslin::scenes::jeong::jelly;
use muslin::{Cloth, Model, Scene, Sim, State};

/// Listing 1's parameters; `d` holds the restoring directions of both ends in their own frames.
#[derive(Clone, Debug)]
pub struct Spring3 {
    pub ends: [usize; 2],
    pub kp: f64,
    pub kd: f64,
    pub ktp: f64,
    pub ktd: f64,
    pub rest: f64,
    pub d: [DVec3; 2],
    pub law: TurningLaw,
}

/// Masses with orientation and what joins them.
#[derive(Clone, Debug)]
pub struct Body {
    pub mass: Vec<f64>,
    pub inertia: Vec<f64>,
    pub springs: Vec<Spring3>,
}

/// Positions, velocities, orientations and angular velocities; also forces and torques, as slopes.
#[derive(Clone, Debug)]
pub struct Phase {
    pub x: Vec<DVec3>,
    pub v: Vec<DVec3>,
    pub r: Vec<DMat3>,
    pub w: Vec<DVec3>,
}

/// The rotation by the vector `turn`, by Rodrigues' formula.
pub fn rotation(turn: DVec3) -> DMat3 {
    let angle = turn.length();
    if angle == 0.0 {
        return DMat3::IDENTITY;
    }
    let k = cross_matrix(turn / angle);
    DMat3::IDENTITY + angle.sin() * k + (1.0 - angle.cos()) * k * k
}

fn cross_matrix(w: DVec3) -> DMat3 {
    DMat3::from_cols(w.cross(DVec3::X), w.cross(DVec3::Y), w.cross(DVec3::Z))
}

fn angle(d: DVec3, u: DVec3) -> f64 {
    d.cross(u).length().atan2(d.dot(u))
}

impl Spring3 {
    /// Energy of one end at the angle θ.
    pub fn turning_energy(&self, theta: f64) -> f64 {
        self.ktp
            * match self.law {
                TurningLaw::Printed => theta.sin() - theta * theta.cos(),
                TurningLaw::Linear => 0.5 * theta * theta,
                TurningLaw::Sine => 1.0 - theta.cos(),
            }
    }

    /// Torque on the end that holds the direction `d`, u towards the other end.
    fn torque(&self, d: DVec3, u: DVec3) -> DVec3 {
        let (axis, theta) = (d.cross(u), angle(d, u));
        self.ktp
            * match self.law {
                TurningLaw::Printed => theta * axis,
                TurningLaw::Linear => theta * axis.normalize_or_zero(),
                TurningLaw::Sine => axis,
            }
    }
}

impl Body {
    /// A compiled model's; its directions are taken from the rest shape again.
    pub fn new(model: &Model) -> Self {
        let (s, t) = (&model.springs, &model.turning);
        let rest = wide(&model.rest_x);
        let spring = |(i, ends): (usize, &[u32; 2])| {
            let turning = t.ends.iter().position(|other| other == ends);
            let of = |values: &[f32]| turning.map_or(0.0, |t| f64::from(values[t]));
            let [a, b] = ends.map(|e| e as usize);
            let along = (rest[b] - rest[a]).normalize();
            Spring3 {
                ends: [a, b],
                kp: f64::from(s.stiffness[i]),
                kd: f64::from(s.damping[i]),
                ktp: of(&t.stiffness),
                ktd: of(&t.damping),
                rest: f64::from(s.rest_length[i]),
                d: [along, -along],
                law: turning.map_or(TurningLaw::Sine, |i| t.law[i]),
            }
        };
        let springs = model.topology.links.ends().iter().enumerate().map(spring).collect();
        let doubles = |values: &[f32]| values.iter().map(|v| f64::from(*v)).collect();
        Self { mass: doubles(&model.mass), inertia: doubles(&t.inertia), springs }
    }

    /// Elastic energy.
    pub fn energy(&self, p: &Phase) -> f64 {
        let of = |s: &Spring3| {
            let [a, b] = s.ends;
            let d = p.x[b] - p.x[a];
            let (dist, u) = (d.length(), d.normalize());
            let (ta, tb) = (angle(p.r[a] * s.d[0], u), angle(p.r[b] * s.d[1], -u));
            0.5 * s.kp * (dist - s.rest).powi(2) + s.turning_energy(ta) + s.turning_energy(tb)
        };
        self.springs.iter().map(of).sum()
    }

    /// Energy with that of motion.
    pub fn total_energy(&self, p: &Phase) -> f64 {
        let half = |(m, v): (&f64, &DVec3)| 0.5 * m * v.length_squared();
        let moving: f64 = self.mass.iter().zip(&p.v).map(half).sum();
        let turning: f64 = self.inertia.iter().zip(&p.w).map(half).sum();
        self.energy(p) + moving + turning
    }

    /// Forces and torques.
    pub fn forces(&self, p: &Phase) -> (Vec<DVec3>, Vec<DVec3>) {
        let zeros = vec![DVec3::ZERO; p.x.len()];
        let (mut force, mut torque) = (zeros.clone(), zeros);
        for s in &self.springs {
            let [a, b] = s.ends;
            let d = p.x[b] - p.x[a];
            let (dist, u) = (d.length(), d.normalize());
            let apart = p.v[b] - p.v[a];
            let pull = (s.kp * (dist - s.rest) + s.kd * apart.dot(u)) * u;
            force[a] += pull;
            force[b] -= pull;
            // Each end turns, and the spring answers with the couple that balances it.
            let own = u.cross(apart) / dist;
            for (end, u) in [(0, u), (1, -u)] {
                let (here, there) = (s.ends[end], s.ends[1 - end]);
                let against = p.w[here] - own;
                let t = s.torque((p.r[here] * s.d[end]).normalize(), u)
                    - s.ktd * (against - against.dot(u) * u);
                torque[here] += t;
                force[there] += u.cross(t) / dist;
                force[here] -= u.cross(t) / dist;
            }
            let twist = s.ktd * (p.w[b] - p.w[a]).dot(u) * u;
            torque[a] += twist;
            torque[b] -= twist;
        }
        (force, torque)
    }

    /// Linear and angular momentum.
    pub fn momenta(&self, p: &Phase) -> (DVec3, DVec3) {
        let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
        for i in 0..p.x.len() {
            linear += self.mass[i] * p.v[i];
            angular += p.x[i].cross(self.mass[i] * p.v[i]) + self.inertia[i] * p.w[i];
        }
        (linear, angular)
    }

    /// Velocities first, then positions and orientations.
    pub fn symplectic(&self, p: &mut Phase, h: f64) {
        let (force, torque) = self.forces(p);
        for i in 0..p.x.len() {
            p.v[i] += h * force[i] / self.mass[i];
            p.x[i] += h * p.v[i];
            p.w[i] += h * torque[i] / self.inertia[i];
            p.r[i] = rotation(h * p.w[i]) * p.r[i];
        }
    }

    /// One Runge–Kutta step on the matrices' nine numbers.
    pub fn rk4(&self, p: &mut Phase, h: f64) {
        let start = p.clone();
        let mut stage = p.clone();
        for (weight, node) in [(1.0, 0.5), (2.0, 0.5), (2.0, 1.0), (1.0, 0.0)] {
            let (force, torque) = self.forces(&stage);
            let now = stage.clone();
            for i in 0..p.x.len() {
                let (a, t) = (force[i] / self.mass[i], torque[i] / self.inertia[i]);
                let turn = cross_matrix(now.w[i]) * now.r[i];
                p.x[i] += weight * h / 6.0 * now.v[i];
                p.v[i] += weight * h / 6.0 * a;
                p.r[i] += weight * h / 6.0 * turn;
                p.w[i] += weight * h / 6.0 * t;
                stage.x[i] = start.x[i] + node * h * now.v[i];
                stage.v[i] = start.v[i] + node * h * a;
                stage.r[i] = start.r[i] + node * h * turn;
                stage.w[i] = start.w[i] + node * h * t;
            }
        }
    }

    /// The stiffness matrix −∂(F, T)/∂(x, φ) by differences; positions only if `turning` is false.
    pub fn stiffness(&self, p: &Phase, turning: bool) -> Vec<Vec<f64>> {
        let n = 3 * p.x.len();
        let columns = if turning { 2 * n } else { n };
        let column = |c: usize| {
            let side = |step: f64| {
                let (force, torque) = self.forces(&p.moved(c, step));
                let mut all: Vec<f64> = force.iter().flat_map(|f| f.to_array()).collect();
                all.extend(torque.iter().flat_map(|t| t.to_array()));
                all
            };
            let (up, down) = (side(1e-6), side(-1e-6));
            (0..columns).map(|r| (down[r] - up[r]) / 2e-6).collect()
        };
        (0..columns).map(column).collect()
    }
}

impl Phase {
    /// At rest in unturned orientation.
    pub fn still(x: Vec<DVec3>) -> Self {
        let zeros = vec![DVec3::ZERO; x.len()];
        Self { v: zeros.clone(), r: vec![DMat3::IDENTITY; x.len()], w: zeros, x }
    }

    /// An engine's state.
    pub fn of(state: &State) -> Self {
        let matrix = |q: &glam::Quat| DMat3::from_quat(q.as_dquat().normalize());
        Self {
            x: wide(&state.x),
            v: wide(&state.v),
            r: state.orientation.iter().map(matrix).collect(),
            w: wide(&state.spin),
        }
    }

    /// Shaken: positions by `size`, orientations by up to `turn` radians, speeds of either kind by `speed`.
    pub fn shaken(mut self, random: &mut Random, size: f64, turn: f64, speed: f64) -> Self {
        for i in 0..self.x.len() {
            self.x[i] += random.vector(size);
            self.v[i] += random.vector(speed);
            self.r[i] = rotation(random.vector(turn)) * self.r[i];
            self.w[i] += random.vector(speed);
        }
        self
    }

    /// One coordinate moved: first the positions, then rotations about x, y and z.
    pub fn moved(&self, coordinate: usize, step: f64) -> Self {
        let mut p = self.clone();
        let (i, axis) = (coordinate / 3, coordinate % 3);
        let n = p.x.len();
        if i < n {
            p.x[i][axis] += step;
        } else {
            p.r[i - n] = rotation(step * DVec3::AXES[axis]) * p.r[i - n];
        }
        p
    }

    /// Written into an engine's state, rounded.
    pub fn rounded(&self, like: &State) -> State {
        let mut state = like.clone();
        for i in 0..self.x.len() {
            state.x[i] = self.x[i].as_vec3();
            state.v[i] = self.v[i].as_vec3();
            if !state.spin.is_empty() {
                state.orientation[i] = glam::DQuat::from_mat3(&self.r[i]).as_quat();
                state.spin[i] = self.w[i].as_vec3();
            }
        }
        state
    }
}

/// What backward Euler adds to the angular momentum of a free body by its own error: h Σ m v' × v.
pub fn own_loss(before: &State, after: &State, mass: &[f32], h: f64) -> DVec3 {
    let turned =
        after.v.iter().zip(&before.v).map(|(new, old)| new.as_dvec3().cross(old.as_dvec3()));
    turned.zip(mass).map(|(cross, m)| h * f64::from(*m) * cross).sum()
}

/// What backward Euler with steps h leaves of the angular momentum of a rigid body after `steps`. A step that
/// turns it by α' after one by α has J (2 sin α' − sin(α + α')) + 2 I (tan α'/2 − tan α/2) = 0: particles,
/// inertia J, move along chords; their own inertia I turns by 2 atan(h ω/2).
pub fn rigid_law(j: f64, i: f64, omega: f64, h: f64, steps: u32) -> f64 {
    let solve = |f: &dyn Fn(f64) -> f64| {
        let halved = |(low, high): (f64, f64)| {
            let middle = 0.5 * (low + high);
            if f(middle) < 0.0 { (middle, high) } else { (low, middle) }
        };
        (0..60).fold((0.0, 0.5), |bounds, _| halved(bounds)).0
    };
    let spun = |a: f64| j * a.sin() + 2.0 * i * (0.5 * a).tan();
    let mut a = solve(&|a| spun(a) - j * h * omega * a.cos() - i * h * omega);
    for _ in 1..steps {
        let old = a;
        a = solve(&|a| spun(a) + j * (a.sin() - (a + old).sin()) - 2.0 * i * (0.5 * old).tan());
    }
    spun(a) / (h * omega * (j + i))
}

/// Rank by elimination with full pivoting.
pub fn rank(mut a: Vec<Vec<f64>>) -> usize {
    let n = a.len();
    let mut first = 0.0;
    for k in 0..n {
        let entries = (k..n).flat_map(|r| (k..n).map(move |c| (r, c)));
        let size = |&(r, c): &(usize, usize)| a[r][c].abs();
        let (r, c) = entries.max_by(|p, q| size(p).total_cmp(&size(q))).unwrap();
        let pivot = a[r][c];
        first = f64::max(first, pivot.abs());
        if pivot.abs() <= 1e-6 * first {
            return k;
        }
        a.swap(k, r);
        a.iter_mut().for_each(|row| row.swap(k, c));
        for row in k + 1..n {
            let factor = a[row][k] / pivot;
            for c in k..n {
                a[row][c] -= factor * a[k][c];
            }
        }
    }
    n
}

pub fn weightless(cloth: Cloth) -> Scene {
    Scene { gravity: DVec3::ZERO, cloth: vec![cloth], ..Scene::default() }
}

/// A unit cube of twelve 3D springs.
pub fn cube(kp: f64, kt: f64, damping: [f64; 2], law: TurningLaw) -> Cloth {
    Cloth {
        springs: Springs { structural: kp, structural_damping: damping[0], ..Springs::default() },
        turning: Turning { stiffness: kt, damping: damping[1], law, inertia: Some(0.1) },
        ..jelly(3, 0.0)
    }
}

/// Ten particles in a box, joined at random.
pub fn tangle(random: &mut Random, law: TurningLaw) -> Cloth {
    let vertices: Vec<DVec3> = (0..10).map(|_| random.vector(1.0)).collect();
    let pairs = (0..10).flat_map(|a| (a + 1..10).map(move |b| [a, b]));
    let edges = pairs.filter(|[a, b]| b - a == 1 || random.signed() > 0.3).collect();
    Cloth {
        mesh: Some(Mesh { vertices, edges, ..Mesh::default() }),
        turning: Turning { stiffness: 3.0, damping: 0.4, law, inertia: None },
        ..cube(50.0, 0.0, [0.7, 0.0], law)
    }
}

/// The rest shape, shaken in every coordinate.
pub fn shaken(model: &Model, random: &mut Random, size: f64, speed: f64) -> Phase {
    Phase::still(wide(&model.rest_x)).shaken(random, size, 2.0 * size, speed)
}

/// Root mean square of the errors of all distances, and the signed volume at a corner.
pub fn shape(sim: &Sim) -> (f64, f64) {
    let (x, rest) = (wide(&sim.state().x), wide(&sim.model().rest_x));
    let pairs = (0..8).flat_map(|a| (a + 1..8).map(move |b| (a, b)));
    let off = |(a, b): (usize, usize)| x[a].distance(x[b]) - rest[a].distance(rest[b]);
    let squares: f64 = pairs.map(|pair| off(pair).powi(2)).sum();
    ((squares / 28.0).sqrt(), (x[1] - x[0]).cross(x[3] - x[0]).dot(x[4] - x[0]))
}

pub const COLUMNS: usize = 13;
pub const ROWS: usize = 9;

/// Least and largest angle at the creases [°], mean width of a cell, share of creases on the right side.
pub fn creases(sim: &Sim, panel: usize) -> (f64, f64, f64, f64) {
    let x = wide(&sim.state().x);
    let (mut angles, mut width, mut right) = (Vec::new(), 0.0, 0.0);
    for row in 0..ROWS {
        let at = |c: usize| x[row * COLUMNS + c];
        let down = |c: usize| {
            x[(row + 1).min(ROWS - 1) * COLUMNS + c] - x[row.min(ROWS - 2) * COLUMNS + c]
        };
        width += at(0).distance(at(COLUMNS - 1)) / ((COLUMNS - 1) * ROWS) as f64;
        for c in (panel..COLUMNS - 1).step_by(panel) {
            let (before, after) = (at(c - 1) - at(c), at(c + 1) - at(c));
            angles.push(before.angle_between(after).to_degrees());
            // Every other crease is a ridge; the first is one.
            let side = before.cross(after).dot(down(c));
            right += f64::from(u8::from((side > 0.0) == (c / panel % 2 == 1)));
        }
    }
    let least = angles.iter().copied().fold(f64::MAX, f64::min);
    (least, angles.iter().copied().fold(0.0, f64::max), width, right / angles.len() as f64)
}
