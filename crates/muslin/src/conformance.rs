//! The checks every method on every backend must pass: one list of methods × one list of checks.
//!
//! A fixed number of sweeps loses momentum by its nature (`docs/papers.md`), so methods that sweep
//! are checked for free fall and momentum with the momentum correction switched on.

use crate::model::Model;
use crate::model::rotation;
use crate::par::Par;
use crate::scene::{Cloth, Collider, Key, Pin, Place, Scene, Sheet, Springs, Turning, Waypoint};
use crate::sim::Sim;
use crate::solvers::{
    Integrator, Internal, Layers, LinearSolver, Method, Modes, MomentumCorrection,
};
use glam::{DVec3, Vec3, dvec3};

/// One law.
pub struct Check {
    /// What must hold.
    pub name: &'static str,
    /// Tries it with a method; the error says what was found instead.
    pub run: fn(&Method) -> Result<(), String>,
}

/// Every check.
pub const CHECKS: &[Check] = &[
    Check { name: "free fall is exact for every particle", run: free_fall },
    Check { name: "rest stays at rest", run: rest_stays_at_rest },
    Check { name: "pins stay, follow their path and let go", run: pins },
    Check { name: "internal forces keep the linear momentum", run: linear_momentum },
    Check { name: "internal forces do not create angular momentum", run: angular_momentum },
    Check { name: "a cut part falls freely and the rest stays", run: cut },
    Check { name: "the error falls with the step at the declared order", run: order },
    Check { name: "hostile stiffness leaves no NaN", run: hostile_stiffness },
    Check { name: "any number of threads gives the same bits", run: threads },
    Check { name: "a restored snapshot continues bit for bit", run: snapshot },
    Check { name: "cloth on a body stays outside it and gains no energy", run: contact },
    Check { name: "what fits between particles does not pass through cloth", run: corners },
];

/// Ensures `value ≤ limit`.
fn at_most(what: &str, value: f64, limit: f64) -> Result<(), String> {
    if value <= limit {
        Ok(())
    } else {
        Err(format!("{what} is {value:e}, expected at most {limit:e}"))
    }
}

fn sim(scene: &Scene, method: &Method) -> Result<Sim, String> {
    let model = scene.compile().map_err(|e| e.to_string())?;
    Sim::new(model, method.clone()).map_err(|e| e.to_string())
}

/// Sweeping methods with their momentum put back; others as they are.
fn with_momentum(method: &Method) -> Method {
    let sweeps = matches!(method.solver, LinearSolver::Jacobi | LinearSolver::GaussSeidel);
    let mut method = method.clone();
    if sweeps && method.momentum == MomentumCorrection::None {
        method.momentum = MomentumCorrection::Linear;
    }
    method
}

/// A free sheet with every internal force on, standing on edge. Soft enough for explicit methods at 1/600 s.
fn free_sheet(spin: DVec3) -> Scene {
    let cloth = Cloth {
        down: DVec3::NEG_Y,
        springs: Springs {
            structural: 20.0,
            shear: 10.0,
            bend: 1.0,
            structural_damping: 0.01,
            shear_damping: 0.01,
            relative_damping: 0.005,
            hinge: 1e-3,
            ..Springs::default()
        },
        particle_mass: Some(0.01),
        velocity: dvec3(0.3, 0.0, -0.2),
        spin,
        ..Sheet::rectangle(1.0, 0.8, 6, 5)
    };
    Scene { dt: 1.0 / 600.0, cloth: vec![cloth], ..Scene::default() }
}

/// The scene as it is and, unless the method refuses, with 3D springs.
fn with_and_without_turning(scene: &Scene, method: &Method) -> Result<Vec<Scene>, String> {
    let mut turning = scene.clone();
    // About as stiff as the springs at the distance of a neighbour, at 1/600 s.
    for cloth in &mut turning.cloth {
        cloth.turning = Turning { stiffness: 0.2, damping: 1e-4, ..Turning::default() };
    }
    let model = turning.compile().map_err(|e| e.to_string())?;
    Ok(match Sim::new(model, method.clone()) {
        Ok(_) => vec![scene.clone(), turning],
        Err(refusal) if refusal.key.starts_with("method") => vec![scene.clone()],
        Err(other) => return Err(other.to_string()),
    })
}

/// A spin about no axis in particular.
const TUMBLING: DVec3 = dvec3(0.5, 2.0, 1.0);

/// Displaces a simulation's particles by a fixed pseudo-random pattern.
fn shake(sim: &mut Sim, size: f32) -> Result<(), String> {
    let mut state = sim.state().clone();
    for (i, x) in state.x.iter_mut().enumerate() {
        let wave = |seed: u32| {
            let bits = (i as u32 + 1).wrapping_mul(seed).wrapping_mul(2_654_435_761);
            (bits >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        *x += size * Vec3::new(wave(3), wave(7), wave(13));
    }
    sim.restore(&state).map_err(|e| e.to_string())
}

fn free_fall(method: &Method) -> Result<(), String> {
    let mut scene = free_sheet(DVec3::ZERO);
    scene.cloth[0].velocity = DVec3::ZERO;
    with_and_without_turning(&scene, method)?.iter().try_for_each(|scene| falls(scene, method))
}

fn falls(scene: &Scene, method: &Method) -> Result<(), String> {
    let mut sim = sim(scene, &with_momentum(method))?;
    let (steps, h) = (60, 1.0 / 600.0);
    let start = sim.state().x.clone();
    for _ in 0..steps {
        sim.advance(h);
    }
    let fallen = fallen(sim.model(), method, steps, h);
    for (x, start) in sim.state().x.iter().zip(&start) {
        let moved = (*x - *start).as_dvec3();
        at_most("distance from the exact fall", moved.distance(dvec3(0.0, -fallen, 0.0)), 2e-5)?;
    }
    Ok(())
}

/// The fall of a free particle from rest.
fn fallen(model: &Model, method: &Method, steps: u32, h: f32) -> f64 {
    let (n, g, h) = (f64::from(steps), 9.81, f64::from(h));
    match method.integrator {
        Integrator::ExplicitEuler => g * h * h * n * (n - 1.0) / 2.0,
        Integrator::Midpoint | Integrator::Rk4 => g * (n * h).powi(2) / 2.0,
        // The first step is backward Euler's, and a third of what it is ahead stays each step.
        Integrator::Bdf2 if model.turning.is_empty() => {
            g * h * h * (n * n + 1.5 * (1.0 - 3f64.powf(-n))) / 2.0
        }
        _ => g * h * h * n * (n + 1.0) / 2.0,
    }
}

/// A sheet held at its first row and cut below the second. Shape matching must refuse it.
fn cut(method: &Method) -> Result<(), String> {
    let mut scene = free_sheet(DVec3::ZERO);
    let cloth = &mut scene.cloth[0];
    let columns = cloth.columns;
    cloth.velocity = DVec3::ZERO;
    cloth.pins = vec![Pin { place: Some(Place::FirstRow), ..Pin::default() }];
    cloth.cuts = (columns..2 * columns).map(|above| [above, above + columns]).collect();
    for scene in with_and_without_turning(&scene, method)? {
        let tried = sim(&scene, &with_momentum(method));
        if method.integrator == Integrator::ShapeMatching {
            return match tried {
                Err(refusal) if refusal.contains("cut") => Ok(()),
                _ => Err("a method that takes no heed of springs accepts a cut".into()),
            };
        }
        let mut sim = tried?;
        let start = sim.state().x.clone();
        let (steps, h) = (60, 1.0 / 600.0);
        (0..steps).for_each(|_| {
            sim.advance(h);
        });
        let fallen = fallen(sim.model(), method, steps, h);
        for (i, (x, start)) in sim.state().x.iter().zip(&start).enumerate() {
            let moved = (*x - *start).as_dvec3();
            if i < 2 * columns {
                at_most("movement of the upper part", moved.length(), 0.01)?;
            } else {
                let law = dvec3(0.0, -fallen, 0.0);
                at_most(
                    "distance of the lower part from the exact fall",
                    moved.distance(law),
                    2e-5,
                )?;
            }
        }
    }
    Ok(())
}

fn rest_stays_at_rest(method: &Method) -> Result<(), String> {
    let mut scene = free_sheet(DVec3::ZERO);
    scene.gravity = DVec3::ZERO;
    scene.cloth[0].velocity = DVec3::ZERO;
    for scene in with_and_without_turning(&scene, method)? {
        let mut sim = sim(&scene, method)?;
        let start = sim.state().x.clone();
        for _ in 0..200 {
            sim.advance(1.0 / 600.0);
        }
        let distances = sim.state().x.iter().zip(&start).map(|(x, s)| x.distance(*s));
        at_most("movement", f64::from(distances.fold(0.0, f32::max)), 1e-5)?;
    }
    Ok(())
}

fn pins(method: &Method) -> Result<(), String> {
    let mut scene = free_sheet(DVec3::ZERO);
    let offset = dvec3(0.0, 0.1, 0.05);
    let path = vec![Waypoint::default(), Waypoint { time: 0.1, offset }];
    let pin = |place| Pin { place: Some(place), ..Pin::default() };
    scene.cloth[0].pins = vec![
        pin(Place::FirstCorner),
        Pin { path, ..pin(Place::FirstRowLastColumn) },
        Pin { release: Some(0.05), ..pin(Place::LastCorner) },
    ];
    let mut sim = sim(&scene, method)?;
    let start = sim.state().x.clone();
    let (fixed, moving, released) = (0, 5, 29);
    for step in 1..=120 {
        sim.advance(1.0 / 600.0);
        let x = &sim.state().x;
        if x[fixed] != start[fixed] {
            return Err(format!("a fixed pin moved from {} to {}", start[fixed], x[fixed]));
        }
        let share = (sim.state().time / 0.1).min(1.0);
        let target = start[moving].as_dvec3() + share * offset;
        at_most(
            "distance of a moving pin from its path",
            x[moving].as_dvec3().distance(target),
            1e-6,
        )?;
        if step <= 29 && x[released] != start[released] {
            return Err(format!("a pin let go at step {step}, before its time"));
        }
    }
    if sim.state().x[released] == start[released] {
        return Err("a released pin still holds".into());
    }
    Ok(())
}

/// Shaken, spinning free sheets without gravity, and their momenta before and after a second.
fn momenta(method: &Method) -> Result<Vec<[(DVec3, DVec3); 2]>, String> {
    let mut scene = free_sheet(TUMBLING);
    scene.gravity = DVec3::ZERO;
    let mut all = Vec::new();
    for scene in with_and_without_turning(&scene, method)? {
        let mut sim = sim(&scene, &with_momentum(method))?;
        shake(&mut sim, 0.01)?;
        let before = sim.measure();
        for _ in 0..600 {
            sim.advance(1.0 / 600.0);
        }
        all.push([before, sim.measure()].map(|r| (r.momentum, r.angular_momentum)));
    }
    Ok(all)
}

fn linear_momentum(method: &Method) -> Result<(), String> {
    // What an iterative solver leaves undone need not sum to zero.
    let undone = match (method.integrator, method.solver) {
        (Integrator::BackwardEuler, LinearSolver::ConjugateGradient) => method.tolerance,
        _ => 0.0,
    };
    momenta(method)?.iter().try_for_each(|[(before, _), (after, _)]| {
        let change = before.distance(*after) / before.length();
        at_most("relative change of momentum", change, 2e-5 + undone)
    })
}

fn angular_momentum(method: &Method) -> Result<(), String> {
    // Relative damping (Kang & Cho Eq. 24) and backward Euler both brake rotation; nothing may
    // speed it up.
    momenta(method)?.iter().try_for_each(|[(_, before), (_, after)]| {
        at_most("angular momentum gained", after.length() / before.length(), 1.01)
    })
}

fn order(method: &Method) -> Result<(), String> {
    // A mass on a spring that stays stretched, against its solution by Runge–Kutta in f64.
    let cloth = Cloth {
        springs: Springs { structural: 40.0, ..Springs::default() },
        particle_mass: Some(1.0),
        pins: vec![Pin { place: Some(Place::FirstCorner), ..Pin::default() }],
        velocity: dvec3(0.5, 0.0, 0.3),
        ..Sheet::rectangle(1.0, 0.0, 2, 1)
    };
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    scene.cloth[0].across = DVec3::NEG_Y;
    // Shape matching has no stiffness of its own: goals pull with α m/h². At α = κ h²/m one fit joins two
    // particles by a spring of stiffness (1 − β) κ/2, beside that of the hybrid.
    let matches = method.integrator == Integrator::ShapeMatching;
    let give = if method.modes == Modes::Rigid { 1.0 } else { 1.0 - method.beta };
    let matched = (80.0 / give).min(800.0);
    let stiffness = match (matches, method.internal) {
        (true, Internal::None) => 0.5 * matched * give,
        (true, Internal::Structural) => 40.0 + 0.5 * matched * give,
        _ => 40.0,
    };
    let end = |steps: u32| -> Result<DVec3, String> {
        let mut method = method.clone();
        if matches {
            method.alpha = matched * (0.25 / f64::from(steps)).powi(2);
        }
        method.sweeps = method.sweeps.max(50).next_multiple_of(2);
        let mut sim = sim(&scene, &method)?;
        for _ in 0..steps {
            sim.advance(0.25 / steps as f32);
        }
        Ok(sim.state().x[1].as_dvec3())
    };
    let declared = match method.integrator {
        Integrator::Rk4 => 4,
        Integrator::Midpoint => 2,
        _ => 1,
    };
    // Coarse steps for high orders: below 1e-6 m the error is rounding.
    let coarse = if declared == 4 { 4 } else { 10 };
    // Several fits or a hidden layer are no single spring: those converge to their own small steps.
    let single = method.regions == 1 && method.layers == Layers::Planar;
    let exact = if matches && !single { end(2560)? } else { exact_end(&scene, stiffness)? };
    let (e1, e2) = (end(coarse)?.distance(exact), end(2 * coarse)?.distance(exact));
    let found = (e1 / e2).log2();
    if found > f64::from(declared) - 0.25 {
        Ok(())
    } else {
        Err(format!("order {found:.2} instead of {declared} (errors {e1:e}, {e2:e})"))
    }
}

/// Where the mass of [`order`]'s scene is after 0.25 s on a spring of stiffness `k`, by a Runge–Kutta
/// integration in f64.
fn exact_end(scene: &Scene, k: f64) -> Result<DVec3, String> {
    let model = scene.compile().map_err(|e| e.to_string())?;
    let rest = 1.0;
    let slope = |x: DVec3| -k * (x.length() - rest) * x.normalize() + dvec3(0.0, -9.81, 0.0);
    let (mut x, mut v) = (model.start_x[1].as_dvec3(), model.start_v[1].as_dvec3());
    let steps = 2000;
    let h = 0.25 / f64::from(steps);
    for _ in 0..steps {
        let (x1, v1) = (v, slope(x));
        let (x2, v2) = (v + 0.5 * h * v1, slope(x + 0.5 * h * x1));
        let (x3, v3) = (v + 0.5 * h * v2, slope(x + 0.5 * h * x2));
        let (x4, v4) = (v + h * v3, slope(x + h * x3));
        x += h / 6.0 * (x1 + 2.0 * x2 + 2.0 * x3 + x4);
        v += h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4);
    }
    Ok(x)
}

fn hostile_stiffness(method: &Method) -> Result<(), String> {
    for k in [1e-6, 1e3, 1e9, 1e15] {
        let mut scene = free_sheet(TUMBLING);
        scene.dt = 1.0 / 60.0;
        let springs = &mut scene.cloth[0].springs;
        (springs.structural, springs.shear, springs.bend, springs.hinge) = (k, k, k, k);
        scene.cloth[0].pins = vec![Pin { place: Some(Place::FirstCorner), ..Pin::default() }];
        let mut method = method.clone();
        method.max_iterations = method.max_iterations.min(200);
        for mut scene in with_and_without_turning(&scene, &method)? {
            scene.cloth[0].turning.stiffness *= k;
            let mut sim = sim(&scene, &method)?;
            shake(&mut sim, 0.3)?;
            for _ in 0..20 {
                sim.advance(1.0 / 60.0);
            }
            if !sim.state().is_finite() {
                return Err(format!("a number that is not finite at stiffness {k:e}"));
            }
        }
    }
    Ok(())
}

/// A sheet of several blocks of particles, hinges and wind included.
fn large_sheet(columns: usize, rows: usize) -> Scene {
    let mut scene = free_sheet(TUMBLING);
    let cloth = &mut scene.cloth[0];
    (cloth.columns, cloth.rows) = (columns, rows);
    cloth.pins = vec![Pin { place: Some(Place::FirstCorner), ..Pin::default() }];
    scene.air.density = 1.2;
    scene.air.wind = dvec3(1.0, 0.0, 3.0);
    scene
}

fn threads(method: &Method) -> Result<(), String> {
    let mut lying = large_sheet(71, 61);
    // Half of the particles start on the body or in it.
    lying.add_collider(on_plane(&lying, 0.01));
    [large_sheet(71, 61), lying].iter().try_for_each(|scene| same_bits(scene, method))?;
    // Two blocks of oriented particles are enough, and many times as much work.
    let turning = with_and_without_turning(&large_sheet(71, 61), method)?;
    turning.iter().skip(1).try_for_each(|scene| same_bits(scene, method))
}

fn same_bits(scene: &Scene, method: &Method) -> Result<(), String> {
    let run = |count: usize| -> Result<Vec<Vec3>, String> {
        let mut sim = sim(scene, method)?;
        shake(&mut sim, 1e-4)?;
        sim.par = if count == 1 { Par::Serial } else { Par::Rayon };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        pool.map_err(|e| e.to_string())?.install(|| {
            for _ in 0..3 {
                sim.advance(1.0 / 2400.0);
            }
        });
        Ok(sim.state().x.clone())
    };
    let one = run(1)?;
    for count in [2, 3, 8] {
        let many = run(count)?;
        let differing = one.iter().zip(&many).filter(|(a, b)| a != b).count();
        if differing > 0 {
            return Err(format!("{differing} particles differ on {count} threads"));
        }
    }
    Ok(())
}

fn snapshot(method: &Method) -> Result<(), String> {
    let mut scenes = with_and_without_turning(&free_sheet(TUMBLING), method)?;
    let mut touching = free_sheet(TUMBLING);
    touching.add_collider(on_plane(&touching, 0.01));
    scenes.push(touching);
    scenes.iter().try_for_each(|scene| continues(scene, method))
}

fn continues(scene: &Scene, method: &Method) -> Result<(), String> {
    let mut first = sim(scene, method)?;
    shake(&mut first, 0.01)?;
    let advance = |sim: &mut Sim| {
        (0..10).for_each(|_| {
            sim.advance(1.0 / 600.0);
        })
    };
    advance(&mut first);
    let saved = first.state().clone();
    advance(&mut first);
    // Into a fresh simulation, and back into the one that went on.
    let mut second = sim(scene, method)?;
    for (sim, name) in [(&mut second, "a fresh simulation"), (&mut first, "the same simulation")] {
        let went_on = sim.state().clone();
        sim.restore(&saved).map_err(|e| e.to_string())?;
        advance(sim);
        if name == "the same simulation" && *sim.state() != went_on {
            return Err(format!("the continuation differs in {name}"));
        }
    }
    if first.state() == second.state() { Ok(()) } else { Err("a fresh simulation differs".into()) }
}

/// A plane along a scene's first cloth, across its middle.
fn on_plane(scene: &Scene, thickness: f64) -> Collider {
    let Cloth { across, down, width, height, origin, .. } = scene.cloth[0].clone();
    let middle = origin + 0.5 * (width * across + height * down);
    Collider::plane(middle - thickness * DVec3::Z, DVec3::Z).thickness(thickness)
}

fn contact(method: &Method) -> Result<(), String> {
    const RADIUS: f64 = 0.15;
    const THICKNESS: f64 = 0.01;
    let cloth = Cloth {
        origin: dvec3(-0.25, RADIUS + 0.02, -0.25),
        springs: Springs {
            structural: 20.0,
            shear: 10.0,
            bend: 1.0,
            structural_damping: 0.01,
            ..Springs::default()
        },
        particle_mass: Some(0.01),
        absolute_damping: 0.1,
        ..Sheet::square(0.5, 9)
    };
    let mut scene = Scene { cloth: vec![cloth], ..Scene::default() };
    let ball = Collider::sphere(DVec3::ZERO, RADIUS).friction(0.5).thickness(THICKNESS);
    scene.add_collider(ball);
    let implicit = method.integrator == Integrator::BackwardEuler;
    let (frames, rate) = if implicit { (120, 120.0) } else { (600, 600.0) };
    let mut sim = sim(&scene, method)?;
    let start = sim.measure().energy.total;
    let weight = 9.81 * 0.01 * 81.0;
    for _ in 0..frames {
        let report = sim.step(1.0 / rate);
        let inside = |x: &Vec3| RADIUS + THICKNESS - x.as_dvec3().length();
        let deepest = sim.state().x.iter().map(inside).fold(0.0, f64::max);
        at_most("depth inside the body over its thickness", deepest / THICKNESS, 0.03)?;
        // In units of a lift by 1 m. Explicit Euler gains energy by itself.
        let most = if method.integrator == Integrator::ExplicitEuler { 3e-3 } else { 1e-3 };
        at_most("energy gained", (report.energy.total - start) / weight, most)?;
    }
    match sim.measure().contacts {
        0 => Err("nothing touches the body".into()),
        _ => Ok(()),
    }
}

/// Tips, corners and rods at 20 m/s, 33 cm a step, against the middle of a triangle of 10 cm.
fn corners(method: &Method) -> Result<(), String> {
    let turn = |from: DVec3| {
        let axis = from.cross(DVec3::Z);
        libm::atan2(axis.length(), from.dot(DVec3::Z)) * axis.normalize_or_zero()
    };
    let corner = DVec3::splat(0.15);
    let cube: Vec<DVec3> = (0..8)
        .map(|i| {
            0.15 * dvec3(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)) * 2.0 - corner
        })
        .collect();
    let middle = DVec3::ZERO;
    let along = [-0.2, -0.1, 0.0, 0.1, 0.2].map(|y| dvec3(0.0, y, 0.0));
    // A body, the direction of its own that goes ahead, and points of its that must not pass.
    let bodies = [
        ("cone", Collider::cone(middle, 0.2, 0.5), DVec3::Y, vec![dvec3(0.0, 0.25, 0.0)]),
        ("needle", Collider::cone(middle, 0.02, 0.5), DVec3::Y, vec![dvec3(0.0, 0.25, 0.0)]),
        ("box", Collider::cuboid(middle, 2.0 * corner), corner, vec![corner]),
        ("hull", Collider::hull(middle, cube), corner, vec![corner]),
        ("capsule", Collider::capsule(middle, 0.02, 0.5), DVec3::Y, vec![dvec3(0.0, 0.25, 0.0)]),
        ("rod", Collider::capsule(middle, 0.01, 0.5), DVec3::X, along.to_vec()),
        ("bar", Collider::cuboid(middle, dvec3(0.02, 0.5, 0.02)), DVec3::X, along.to_vec()),
    ];
    for (name, body, ahead, points) in bodies {
        let cloth = Cloth {
            origin: dvec3(-0.5, -0.5, 0.0),
            down: DVec3::Y,
            springs: Springs { structural: 4.0, shear: 2.0, ..Springs::default() },
            particle_mass: Some(0.01),
            ..Sheet::square(1.0, 11)
        };
        let mut scene = Scene { gravity: DVec3::ZERO, cloth: vec![cloth], ..Scene::default() };
        let turn = turn(ahead);
        let start = dvec3(0.03, 0.04, -0.1) - rotation(turn) * points[points.len() / 2];
        let key = Key { time: 1.0, offset: 20.0 * DVec3::Z, ..Key::default() };
        let path = vec![Key::default(), key];
        scene.add_collider(Collider { position: start, ..body.rotated(turn).path(path) });
        let mut sim = sim(&scene, method)?;
        for _ in 0..3 {
            sim.advance(1.0 / 60.0);
            let pose = sim.state().colliders[0];
            for point in points.iter().map(|point| pose.to_world(*point)) {
                let past = point.z - height(&sim, point).unwrap_or(f64::NEG_INFINITY);
                at_most(&format!("how far a {name} is past the cloth"), past, 0.0)?;
            }
        }
    }
    Ok(())
}

/// z of the cloth above or below a point; the highest of several.
fn height(sim: &Sim, p: DVec3) -> Option<f64> {
    let on_triangle = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|i| sim.state().x[i as usize].as_dvec3());
        let area = |a: DVec3, b: DVec3| (a - p).truncate().perp_dot((b - p).truncate());
        let shares = [area(b, c), area(c, a), area(a, b)];
        let all: f64 = shares.iter().sum();
        let inside = shares.iter().all(|share| share / all >= -1e-9);
        inside.then(|| (shares[0] * a.z + shares[1] * b.z + shares[2] * c.z) / all)
    };
    sim.model().triangles.iter().filter_map(on_triangle).reduce(f64::max)
}
