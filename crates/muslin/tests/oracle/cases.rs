//! Small perturbed cloths, and one step of the engine beside one of the oracle.

use super::step::{Start, held_at};
use super::{Random, World, distance, largest, wide};
use glam::{DVec3, dvec3};
use muslin::linalg::Topology;
use muslin::scene::{Air, Material, Pin, Place, Springs, Waypoint};
use muslin::solvers::{Integrator, LinearSolver, SweepOrder, WeakSprings};
use muslin::{Cloth, Method, Model, Scene, Sheet, Sim, State, Warning};

/// A model, a step length and how far to shake it.
pub struct Case {
    pub name: &'static str,
    pub model: Model,
    pub h: f32,
    /// Time at the start of the step. [s]
    pub time: f64,
    /// Positions differ from the start by up to this. [m]
    pub shake: f64,
    /// Velocities are up to this. [m/s]
    pub speed: f64,
    /// Start enlarged by this factor, so that every spring is under tension.
    pub stretch: f64,
}

fn case(name: &'static str, h: f32, shake: f64, speed: f64, scene: &Scene) -> Case {
    let model = scene.compile().expect(name);
    Case { name, model, h, time: 0.0, shake, speed, stretch: 1.0 }
}

fn scene(cloth: Cloth) -> Scene {
    Scene { cloth: vec![cloth], ..Scene::default() }
}

pub fn pin(place: Place) -> Pin {
    Pin { place: Some(place), ..Pin::default() }
}

/// Springs of three families, κ = 0.6; one corner held.
pub fn springs() -> Case {
    let cloth = Cloth {
        springs: Springs { structural: 100.0, shear: 50.0, bend: 5.0, ..Springs::default() },
        particle_mass: Some(0.05),
        pins: vec![pin(Place::FirstCorner)],
        ..Sheet::rectangle(0.8, 0.6, 5, 4)
    };
    case("springs", 1.0 / 60.0, 0.012, 0.5, &scene(cloth))
}

/// Kim's net at his step, κ = 3.1: springs of two kinds, absolute damping, two corners held.
pub fn kim() -> Case {
    let cloth = Cloth {
        springs: Springs { type1: 50.0, type2: 0.1, ..Springs::default() },
        particle_mass: Some(1.0),
        absolute_damping: 0.05,
        pins: vec![pin(Place::FirstCorner), pin(Place::FirstRowLastColumn)],
        ..Sheet::square(4.0, 5)
    };
    let gravity = dvec3(0.0, -0.03, 0.0);
    case("kim", 0.25, 0.05, 0.1, &Scene { gravity, ..scene(cloth) })
}

/// A fabric in SI units: hinges of noticeable stiffness, damping along springs, free.
pub fn fabric() -> Case {
    let cloth = Cloth {
        material: Material {
            density: Some(0.2),
            stretch: Some(500.0),
            bending: Some(0.02),
            damping: Some(1e-3),
        },
        ..Sheet::rectangle(0.4, 0.3, 5, 4)
    };
    case("fabric", 1.0 / 240.0, 0.005, 0.3, &scene(cloth))
}

/// Everything at once: moving pins, wind with gusts, drag, all three kinds of damping, hinges,
/// springs that only pull.
pub fn everything() -> Case {
    let mut moving = pin(Place::FirstRow);
    moving.path = vec![
        Waypoint { time: 0.2, offset: DVec3::ZERO },
        Waypoint { time: 1.2, offset: dvec3(0.4, 0.2, -0.1) },
    ];
    let cloth = Cloth {
        springs: Springs {
            structural: 100.0,
            shear: 50.0,
            bend: 5.0,
            structural_damping: 0.1,
            shear_damping: 0.05,
            bend_damping: 0.02,
            relative_damping: 0.03,
            tension_only: true,
            hinge: 0.05,
            ..Springs::default()
        },
        particle_mass: Some(0.05),
        absolute_damping: 0.02,
        pins: vec![moving],
        ..Sheet::rectangle(0.8, 0.6, 5, 4)
    };
    let air = Air {
        wind: dvec3(2.0, 1.0, 3.0),
        gust: dvec3(1.0, -0.5, 2.0),
        gust_period: 1.3,
        density: 1.2,
        drag: 0.7,
        ..Air::default()
    };
    let time = 0.5;
    Case { time, ..case("everything", 1.0 / 60.0, 0.012, 0.5, &Scene { air, ..scene(cloth) }) }
}

/// Stiff, stretched by 3 % and free, spinning: κ = 40 and every spring pulls.
pub fn taut() -> Case {
    let cloth = Cloth {
        springs: Springs { structural: 2000.0, shear: 1000.0, bend: 30.0, ..Springs::default() },
        particle_mass: Some(0.0139),
        spin: dvec3(0.4, 2.0, -0.7),
        ..Sheet::rectangle(0.8, 0.6, 5, 4)
    };
    Case { stretch: 1.03, ..case("taut", 1.0 / 60.0, 0.002, 0.5, &scene(cloth)) }
}

pub fn all() -> Vec<Case> {
    vec![springs(), kim(), fabric(), everything(), taut()]
}

impl Case {
    /// A perturbed state; held particles are where their pins have them.
    pub fn state(&self, seed: u64) -> State {
        let mut random = Random(seed);
        let held = held_at(&self.model, self.time);
        let n = self.model.mass.len();
        let x = (0..n)
            .map(|i| {
                let shaken =
                    self.stretch * self.model.start_x[i].as_dvec3() + random.vector(self.shake);
                held[i].unwrap_or(shaken).as_vec3()
            })
            .collect();
        let v = (0..n)
            .map(|i| (self.model.start_v[i].as_dvec3() + random.vector(self.speed)).as_vec3())
            .collect();
        let last_change = (0..n).map(|_| random.vector(0.1 * self.speed).as_vec3()).collect();
        State { time: self.time, x, v, last_change, ..State::default() }
    }

    /// What the oracle starts from.
    pub fn start(&self, state: &State, method: &Method) -> Start {
        let h = f64::from(self.h);
        let n = self.model.mass.len();
        let order = match method.order {
            SweepOrder::Rows => (0..n).collect(),
            SweepOrder::Colours => self.colour_order(method),
        };
        Start {
            x: wide(&state.x),
            v: wide(&state.v),
            last: wide(&state.last_change),
            held: held_at(&self.model, state.time + h),
            order,
            constraints: muslin::solvers::xpbd::order(&self.model),
            h,
        }
    }

    /// Particles colour by colour, the colours being those of what the matrix couples.
    fn colour_order(&self, method: &Method) -> Vec<usize> {
        let (model, s) = (&self.model, &self.model.springs);
        let coupled = |i: &usize| {
            let damped = s.damping[*i] + s.relative_damping[*i] != 0.0;
            s.strong[*i] || damped || method.weak_springs == WeakSprings::Implicit
        };
        let all = model.topology.links.ends();
        let ends = (0..all.len()).filter(coupled).map(|i| all[i]).collect();
        let topology = Topology::new(model.mass.len(), ends, model.topology.elements.clone());
        topology.colours.groups().flatten().map(|&i| i as usize).collect()
    }

    pub fn world(&self, method: &Method) -> World {
        World::new(&self.model, method, self.time)
    }

    /// One engine step.
    pub fn engine(&self, method: &Method, state: &State) -> State {
        let mut sim = Sim::new(self.model.clone(), method.clone()).expect("a valid method");
        sim.restore(state).expect("a state of this model");
        let done = sim.advance(self.h);
        let failed =
            [Warning::RolledBack, Warning::NotConverged].map(|w| done.warnings.contains(w));
        assert_eq!(failed, [false; 2], "{}, {method:?}", self.name);
        sim.state().clone()
    }

    /// The error of the engine's step: largest difference in velocity, as a fraction of the
    /// largest velocity change; positions must agree as well as that and their last bit allow.
    pub fn error(&self, method: &Method, state: &State) -> f64 {
        let start = self.start(state, method);
        let (x, v) = self.world(method).step(method, &start);
        let engine = self.engine(method, state);
        self.difference(&start, &wide(&engine.x), &wide(&engine.v), &x, &v)
    }

    fn difference(
        &self,
        start: &Start,
        engine_x: &[DVec3],
        engine_v: &[DVec3],
        x: &[DVec3],
        v: &[DVec3],
    ) -> f64 {
        let before = start.velocities();
        let change = distance(v, &before);
        let error = distance(engine_v, v) / change;
        // x + h v is rounded twice: to the last bit of x, and of the velocity that is added.
        let last_bit = 2.0 * f64::from(f32::EPSILON) * largest(x.iter().copied());
        let allowed = start.h * (error * change + 1e-6 * largest(v.iter().copied())) + last_bit;
        let moved = distance(engine_x, x);
        assert!(moved <= allowed, "{}: positions differ by {moved:e} > {allowed:e}", self.name);
        error
    }
}

/// A preset with its conjugate gradients run to the last bits of f32.
pub fn tight(id: &str) -> Method {
    let mut method = Method::preset(id).expect("a preset");
    // To the end of the nonlinear step, so that where it was linearised makes no difference.
    if method.solver == LinearSolver::Hierarchy {
        (method.newton, method.tolerance, method.max_iterations) = (12, 1e-9, 300);
    }
    let iterates = method.integrator == Integrator::BackwardEuler
        && method.solver == LinearSolver::ConjugateGradient;
    if iterates && method.newton == 1 {
        method.tolerance = 1e-7;
    }
    method
}
