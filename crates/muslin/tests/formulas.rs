//! Every formula of the engine against derivatives of energies that share no code with it.
//!
//! Engine functions get numbers that f32 holds exactly, the oracle the same numbers in f64: what
//! is left is the engine's own rounding.

mod oracle;

use glam::{DMat3, DVec3, Vec3, dvec3};
use muslin::forces::{Forces, air_drag, damping, hinge, spring, wind};
use muslin::linalg::{Sym3, System};
use muslin::scene::Springs;
use muslin::solvers::{Jacobian, WeakSprings};
use muslin::{Cloth, Inputs, Method, Motion, Par, Scene, Sheet, Sim};
use oracle::cases::{self, Case, tight};
use oracle::dense::{eigen, outer};
use oracle::{Dense, Random, Spring, World, distance, largest, law, wide};

const LENGTHS: [f32; 5] = [0.1, 0.25, 1.0, std::f32::consts::SQRT_2, 2.0];
const STRETCHES: [f32; 9] = [0.3, 0.7, 0.8, 0.85, 0.95, 1.0, 1.05, 1.5, 2.5];
const JACOBIANS: [Jacobian; 5] =
    [Jacobian::Exact, Jacobian::Psd, Jacobian::RankOne, Jacobian::Scalar, Jacobian::Smoothed];

fn widen(m: Sym3) -> DMat3 {
    let column = |axis: Vec3| (m * axis).as_dvec3();
    DMat3::from_cols(column(Vec3::X), column(Vec3::Y), column(Vec3::Z))
}

fn size(m: DMat3) -> f64 {
    m.to_cols_array().iter().fold(0.0, |s: f64, v| s.max(v.abs()))
}

/// Central differences, five points: truncation of order step⁴.
fn derivative<T>(step: f64, f: impl Fn(f64) -> T) -> T
where
    T: std::ops::Sub<Output = T> + std::ops::Mul<f64, Output = T>,
{
    let near = (f(step) - f(-step)) * 8.0;
    (near - (f(2.0 * step) - f(-2.0 * step))) * (1.0 / (12.0 * step))
}

/// ∂f/∂d by columns.
fn slope(step: f64, d: DVec3, f: impl Fn(DVec3) -> DVec3) -> DMat3 {
    let column = |axis: DVec3| derivative(step, |e| f(d + e * axis));
    DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
}

fn gradient(step: f64, d: DVec3, f: impl Fn(DVec3) -> f64) -> DVec3 {
    let part = |axis: DVec3| derivative(step, |e| f(d + e * axis));
    dvec3(part(DVec3::X), part(DVec3::Y), part(DVec3::Z))
}

fn floor_of(tension_only: bool) -> f32 {
    if tension_only { 0.0 } else { f32::NEG_INFINITY }
}

/// Springs of several lengths, stretched and compressed, in several directions.
fn spring_samples() -> Vec<(f32, f32, Vec3)> {
    let mut random = Random(1);
    let mut out = Vec::new();
    for rest in LENGTHS {
        for stretch in STRETCHES {
            for k in [1.0f32, 50.0, 3e4] {
                let d = random.vector(1.0).normalize().as_vec3() * (stretch * rest);
                out.push((k, rest, d));
            }
        }
        // Exactly at rest.
        out.push((50.0, rest, Vec3::new(rest, 0.0, 0.0)));
    }
    out
}

#[test]
fn spring_force_is_minus_the_gradient_of_its_energy() {
    for (k, rest, d) in spring_samples() {
        for tension_only in [false, true] {
            let oracle = Spring::plain(f64::from(k), f64::from(rest), tension_only);
            let (wide, floor) = (d.as_dvec3(), floor_of(tension_only));
            let scale = f64::from(k) * f64::from(rest);
            // Away from the kink of a tension-only spring the energy is smooth.
            let kink = tension_only && (d.length() / rest - 1.0).abs() < 1e-2;
            if !kink {
                let step = 1e-3 * f64::from(rest);
                let slope = gradient(step, wide, |d| oracle.energy(d));
                // f_a = −∂E/∂x_a = ∂E/∂d.
                let error = (oracle.force(wide) - slope).length();
                assert!(error < 1e-9 * scale, "oracle {k} {rest} {d}: {error:e}");
            }
            // r is rounded once (6e-8 of it), the product twice.
            let engine = f64::from(spring::tension(k, rest, d.length(), floor)) * wide.normalize();
            let error = (engine - oracle.force(wide)).length();
            assert!(
                error < 3e-7 * (scale + oracle.force(wide).length()),
                "{k} {rest} {d}: {error:e}"
            );
            // The energy is computed in f64 from r: rounding of f64 only.
            let energy = spring::energy(k, rest, wide.length(), floor);
            assert!((energy - oracle.energy(wide)).abs() < 1e-12 * scale * f64::from(rest));
        }
    }
}

/// Kang & Cho, must show 1: r < L, = L, > L, and L ≠ 1.
#[test]
fn exact_spring_jacobian_is_the_derivative_of_the_force() {
    for (k, rest, d) in spring_samples() {
        for tension_only in [false, true] {
            if tension_only && (d.length() / rest - 1.0).abs() < 1e-2 {
                continue;
            }
            let oracle = Spring::plain(f64::from(k), f64::from(rest), tension_only);
            let differences = slope(1e-3 * f64::from(rest), d.as_dvec3(), |d| oracle.force(d));
            let floor = floor_of(tension_only);
            let (along, across) = spring::stiffness(Jacobian::Exact, k, rest, d.length(), floor);
            let engine = widen(spring::block(along, across, d));
            let scale = size(differences).max(f64::from(k));
            assert!(size(engine - differences) < 1e-6 * scale, "{k} {rest} {d}");
            let written = oracle.jacobian(Jacobian::Exact, d.as_dvec3());
            assert!(size(written - differences) < 1e-8 * scale, "oracle {k} {rest} {d}");
        }
    }
}

#[test]
fn every_jacobian_model_is_its_formula() {
    for (k, rest, d) in spring_samples() {
        for tension_only in [false, true] {
            let at_rest = (d.length() / rest - 1.0).abs() < 1e-5;
            let oracle = Spring::plain(f64::from(k), f64::from(rest), tension_only);
            for model in JACOBIANS {
                // At rest a tension-only spring's derivative jumps; which side rounding picks is free.
                let jumps = tension_only && matches!(model, Jacobian::Exact | Jacobian::Psd);
                if at_rest && jumps {
                    continue;
                }
                let floor = floor_of(tension_only);
                let (along, across) = spring::stiffness(model, k, rest, d.length(), floor);
                let engine = widen(spring::block(along, across, d));
                let formula = oracle.jacobian(model, d.as_dvec3());
                // Smoothing multiplies the rounding of r/L by 1/(1 − α) = 5.
                let allowed = 1e-6 * size(formula).max(f64::from(k));
                assert!(size(engine - formula) < allowed, "{model:?} {k} {rest} {d}");
            }
        }
    }
}

#[test]
fn psd_is_the_exact_jacobian_without_its_negative_eigenvalues() {
    for (k, rest, d) in spring_samples() {
        let floor = f32::NEG_INFINITY;
        let oracle = Spring::plain(f64::from(k), f64::from(rest), false);
        let differences = slope(1e-3 * f64::from(rest), d.as_dvec3(), |d| oracle.force(d));
        let kept: DMat3 = eigen(differences)
            .into_iter()
            .map(|(value, axis)| value.max(0.0) * outer(axis, axis))
            .fold(DMat3::ZERO, |sum, term| sum + term);
        let (along, across) = spring::stiffness(Jacobian::Psd, k, rest, d.length(), floor);
        let engine = widen(spring::block(along, across, d));
        assert!(size(engine - kept) < 1e-6 * f64::from(k), "{k} {rest} {d}");
        for (value, _) in eigen(engine) {
            assert!(value > -1e-6 * f64::from(k), "{k} {rest} {d}: {value:e}");
        }
        if d.length() > rest {
            let exact = spring::stiffness(Jacobian::Exact, k, rest, d.length(), floor);
            assert_eq!((along, across), exact, "stretched: psd is exact");
        }
    }
}

/// Kim, must show 1.
#[test]
fn smoothed_jacobian_is_continuous() {
    for rest in [0.25f32, 1.0, std::f32::consts::SQRT_2, 2.0] {
        let k = 50.0f32;
        let direction = dvec3(0.48, -0.6, 0.64);
        for share in [1.0, law::ALPHA] {
            let oracle = Spring::plain(f64::from(k), f64::from(rest), true);
            let at = |r: f64| oracle.jacobian(Jacobian::Smoothed, r * direction);
            let r = share * f64::from(rest);
            // f grows by 5 per unit of r/L: a step of 1e-11 either side shows as 1e-10.
            let jump = size(at(r * (1.0 + 1e-11)) - at(r * (1.0 - 1e-11)));
            assert!(jump < 1e-9 * f64::from(k), "L = {rest}, r = {share} L: {jump:e}");

            let near = (share * f64::from(rest)) as f32;
            let engine = |r: f32| {
                let (along, across) = spring::stiffness(Jacobian::Smoothed, k, rest, r, 0.0);
                widen(spring::block(along, across, (f64::from(r) * direction).as_vec3()))
            };
            // Two neighbouring floats, times 5, and the rounding of three products.
            let jump = size(engine(near.next_up()) - engine(near.next_down()));
            assert!(jump < 3e-6 * f64::from(k), "L = {rest}, r = {share} L: {jump:e}");
        }
        let (along, across) = spring::stiffness(Jacobian::Smoothed, k, rest, rest, 0.0);
        assert!((along - k).abs() < 1e-6 * k && across == 0.0, "whole stiffness at r = L");
        let below = spring::stiffness(Jacobian::Smoothed, k, rest, 0.79 * rest, 0.0);
        assert_eq!(below, (0.0, 0.0), "none below α L");
    }
}

/// Random, but not degenerate: wings of 0.6 to 1.4 over an edge of about 1.
fn folded(random: &mut Random) -> [Vec3; 4] {
    let fold = 2.4 * random.signed();
    let wing = |x: f64, r: f64, angle: f64| dvec3(x, r * angle.cos(), r * angle.sin());
    let shape = [
        DVec3::ZERO,
        dvec3(1.0, 0.0, 0.0),
        wing(0.5 + 0.3 * random.signed(), 1.0 + 0.4 * random.signed(), 0.0),
        wing(0.5 + 0.3 * random.signed(), 1.0 + 0.4 * random.signed(), std::f64::consts::PI - fold),
    ];
    let turn = glam::DQuat::from_axis_angle(random.vector(1.0).normalize(), 3.0 * random.signed());
    let shift = random.vector(0.5);
    shape.map(|p| (turn * (p + 0.05 * random.vector(1.0)) + shift).as_vec3())
}

/// Kinked to 137° either way. f32 corners of size 1 place a wing of 0.6 to 2e-7: angles and
/// gradients of size 1 to 2 to about 1e-6.
#[test]
fn hinge_gradient_is_the_derivative_of_its_angle() {
    let mut random = Random(2);
    for _ in 0..200 {
        let x = folded(&mut random);
        let exact = x.map(|p| p.as_dvec3());
        let angle = law::angle(exact);
        assert!((f64::from(hinge::angle(x)) - angle).abs() < 1e-6, "{angle}");
        let differences = law::angle_gradient(exact);
        let engine = hinge::gradient(x).map(|g| g.as_dvec3());
        let scale = largest(differences);
        assert!(distance(&engine, &differences) < 2e-6 * scale, "{x:?}");

        // No net force and no net torque, whatever the fold.
        let force: DVec3 = engine.iter().sum();
        let torque: DVec3 = engine.iter().zip(exact).map(|(g, x)| x.cross(*g)).sum();
        assert!(force.length() < 1e-6 * scale, "{x:?}: net force {force}");
        assert!(torque.length() < 2e-6 * scale, "{x:?}: net torque {torque}");
    }
}

#[test]
fn flat_hinge_gradient_is_its_coefficients_times_the_normal() {
    let mut random = Random(3);
    for _ in 0..50 {
        // Multiples of 1/64 in the plane y = 0: exact in f32, flat in both precisions.
        let mut grid = |centre: f64| (centre + (16.0 * random.signed()).round() / 64.0) as f32;
        let x = [
            Vec3::new(grid(0.0), 0.0, grid(0.0)),
            Vec3::new(grid(1.0), 0.0, grid(0.0)),
            Vec3::new(grid(0.5), 0.0, grid(1.0)),
            Vec3::new(grid(0.5), 0.0, grid(-1.0)),
        ];
        let e = x[1] - x[0];
        let normal = e.cross(x[2] - x[0]).normalize();
        let coefficients = hinge::flat_coefficients(x.map(|p| p.as_dvec3()));
        let engine = hinge::gradient(x);
        assert_eq!(hinge::angle(x), 0.0);
        for (g, c) in engine.into_iter().zip(coefficients) {
            assert!(g.distance(c * normal) < 1e-6 * 4.0, "{x:?}: {g} {c}");
        }
    }
}

/// A model's forces are minus the gradient of the oracle's energy: springs of both laws, hinges
/// with flat and folded rest shapes, gravity.
#[test]
fn conservative_forces_are_minus_the_gradient_of_the_energy() {
    let mut list: Vec<(Case, &str)> = Vec::new();
    for id in ["baraff-witkin-1998", "choi-ko-2002"] {
        list.extend(
            [cases::springs(), cases::kim(), cases::taut(), folded_mesh()].map(|c| (c, id)),
        );
    }
    for (mut case, id) in list {
        case.model.absolute_damping.fill(0.0);
        let method = tight(id);
        let state = case.state(4);
        let world = case.world(&method);
        let x = wide(&state.x);
        let step = 1e-6;
        let numeric: Vec<DVec3> = (0..x.len())
            .map(|i| {
                -gradient(step, DVec3::ZERO, |offset| {
                    let mut moved = x.clone();
                    moved[i] += offset;
                    world.energy(&moved)
                })
            })
            .collect();
        let scale = largest(numeric.clone());
        let written = world.conservative(&x);
        let error = distance(&written, &numeric) / scale;
        // Differences of energies up to 50 J lose 1e-16 · 50/1e-6 = 5e-9.
        assert!(error < 1e-6, "oracle, {} {id}: {error:e}", case.name);

        let floors = method.spring_floors(&case.model);
        let inputs = Inputs { gravity: case.model.gravity, ..Inputs::default() };
        let mut forces = Forces::new(&case.model);
        let still = vec![Vec3::ZERO; x.len()];
        let at = Motion::of_points(&state.x, &still);
        forces.evaluate_all(&case.model, &inputs, &floors, Par::Serial, at);
        let error = distance(&wide(&forces.total), &written) / scale;
        // Strains of 2 % are known to 3e-6 of themselves.
        assert!(error < 1e-5, "{} {id}: {error:e}", case.name);

        // The engine's report of the energy, and one engine step from rest: v = h f/m.
        let mut sim = Sim::new(case.model.clone(), tight("explicit-euler")).unwrap();
        let mut at_rest = state.clone();
        at_rest.v.fill(Vec3::ZERO);
        sim.restore(&at_rest).unwrap();
        if id == "baraff-witkin-1998" {
            let energy = sim.measure().energy;
            let (elastic, weight) = (energy.elastic, energy.gravity);
            let expected = world.energy(&x);
            // f64 throughout, but for the hinges' angles.
            let allowed = 1e-6 * (elastic.abs() + weight.abs());
            assert!((elastic + weight - expected).abs() < allowed, "{}", case.name);
            sim.advance(case.h);
            for i in 0..x.len() {
                if case.model.pins.iter().all(|pin| pin.particle as usize != i) {
                    let v = f64::from(case.h) * written[i] / world.mass[i];
                    let got = sim.state().v[i].as_dvec3();
                    let allowed = 1e-5 * f64::from(case.h) * scale / world.mass[i];
                    assert!((got - v).length() < allowed, "{} {i}", case.name);
                }
            }
        }
    }
}

/// Eight triangles whose rest shape is not flat: every hinge has its own θ0.
fn folded_mesh() -> Case {
    let vertices = (0..9)
        .map(|i| {
            let (row, column) = (i / 3, i % 3);
            let height = [0.0, 0.06, -0.03, 0.05, 0.0, 0.08, -0.02, 0.04, 0.01][i];
            dvec3(0.2 * column as f64, height, 0.2 * row as f64)
        })
        .collect();
    let triangles =
        [0, 1, 3, 4].into_iter().flat_map(|a| [[a, a + 1, a + 3], [a + 1, a + 4, a + 3]]).collect();
    let cloth = Cloth {
        springs: Springs { structural: 20.0, hinge: 0.3, ..Springs::default() },
        particle_mass: Some(0.05),
        ..Sheet::mesh(vertices, triangles)
    };
    let scene = Scene { cloth: vec![cloth], ..Scene::default() };
    let model = scene.compile().unwrap();
    assert!(model.hinges.rest_angle.iter().filter(|a| a.abs() > 0.05).count() > 4);
    Case { name: "folded mesh", model, shake: 0.02, ..cases::springs() }
}

/// The whole force with everything on, velocities included.
#[test]
fn all_forces_together_are_the_oracle_s() {
    for mut case in cases::all() {
        case.time = 0.0;
        let method = tight("choi-ko-2002");
        let state = case.state(21);
        let floors = method.spring_floors(&case.model);
        let wind = case.model.wind;
        let inputs = Inputs { gravity: case.model.gravity, wind, ..Inputs::default() };
        let mut forces = Forces::new(&case.model);
        forces.evaluate_all(&case.model, &inputs, &floors, Par::Serial, state.motion());
        let expected = case.world(&method).force(&wide(&state.x), &wide(&state.v));
        let error = distance(&wide(&forces.total), &expected) / largest(expected);
        assert!(error < 1e-5, "{}: {error:e}", case.name);
    }
}

#[test]
fn damping_between_particles_takes_energy_and_keeps_momentum() {
    let mut random = Random(5);
    for _ in 0..200 {
        let (d, dv) = (random.vector(1.0).as_vec3(), random.vector(2.0).as_vec3());
        let (along, relative) = (random.signed().abs() as f32, random.signed().abs() as f32);
        for (along, relative) in [(along, 0.0), (0.0, relative), (along, relative)] {
            let force = damping::between(along, relative, d, dv);
            let (exact_d, exact_dv) = (d.as_dvec3(), dv.as_dvec3());
            let n = exact_d.normalize();
            let formula =
                f64::from(along) * outer(n, n) * exact_dv + f64::from(relative) * exact_dv;
            let scale = f64::from(along + relative) * exact_dv.length();
            assert!((force.as_dvec3() - formula).length() < 1e-6 * scale);
            // +f on the first end, −f on the second: their power is −f·dv.
            let power = -force.as_dvec3().dot(exact_dv);
            assert!(power <= 1e-6 * scale * exact_dv.length(), "{d} {dv}: {power:e}");
            // The other end sees d and dv reversed: the same force, reversed, to the bit.
            assert_eq!(damping::between(along, relative, -d, -dv), -force);
            if relative == 0.0 {
                // The pair's torque d × f vanishes.
                let torque = exact_d.cross(force.as_dvec3()).length();
                assert!(torque < 1e-6 * scale * exact_d.length(), "{d} {dv}: {torque:e}");
            }
        }
    }
    assert_eq!(damping::between(1.0, 0.0, Vec3::ZERO, Vec3::ONE), Vec3::ZERO, "no direction");
}

#[test]
fn wind_drags_along_the_flow_and_lifts_across_it() {
    let mut random = Random(6);
    for _ in 0..200 {
        let x = [0; 3].map(|_| random.vector(1.0).as_vec3());
        let u = random.vector(4.0).as_vec3();
        let flow = u.as_dvec3();
        let drag = wind::gust(1.2, 1.3, 0.0, x, u).force.as_dvec3();
        let lift = wind::gust(1.2, 0.0, 0.4, x, u).force.as_dvec3();
        assert!(drag.cross(flow).length() <= 1e-6 * drag.length() * flow.length());
        assert!(drag.dot(flow) >= 0.0);
        // f32 takes the difference |u| n − (u·n) u/|u|: 1e-7 of its larger term.
        let area = 0.5 * (x[1] - x[0]).as_dvec3().cross((x[2] - x[0]).as_dvec3()).length();
        let scale = 0.2 * 0.4 * area * flow.length_squared();
        assert!(lift.dot(flow).abs() <= 1e-6 * scale * flow.length());

        let world = air(1.2, 1.3, 0.4, flow);
        let (force, damping) = world.gust(x.map(|p| p.as_dvec3()), [DVec3::ZERO; 3]);
        let gust = wind::gust(1.2, 1.3, 0.4, x, u);
        // Slivers lose digits in their normal: 1e-6 of what a fat triangle of 1 m² would feel.
        let scale = 0.2 * 1.7 * flow.length_squared();
        assert!((gust.force.as_dvec3() - force).length() < 1e-6 * scale);
        assert!((f64::from(gust.damping) - damping).abs() < 1e-6 * scale / flow.length());
    }
}

/// ½ ρ A C v² on a plate across the flow; nothing on one along it.
#[test]
fn flat_plate_feels_the_dynamic_pressure() {
    let (a, b, c) = (Vec3::ZERO, Vec3::new(0.5, 0.0, 0.0), Vec3::new(0.0, 0.0, 0.75));
    let (density, coefficient, speed, area) = (1.2f32, 1.28f32, 7.0f32, 0.1875f32);
    let expected = 0.5 * density * area * coefficient * speed * speed;
    let across = wind::gust(density, coefficient, 0.4, [a, b, c], Vec3::new(0.0, speed, 0.0));
    let total = 3.0 * across.force;
    assert!((total - Vec3::new(0.0, expected, 0.0)).length() < 1e-6 * expected, "{total}");
    let along = wind::gust(density, coefficient, 0.4, [a, b, c], Vec3::new(speed, 0.0, 0.0));
    assert_eq!(along.force, Vec3::ZERO);
    assert_eq!(wind::gust(density, coefficient, 0.4, [a, b, b], Vec3::ONE).force, Vec3::ZERO);
}

fn air(density: f64, drag: f64, lift: f64, wind: DVec3) -> World {
    let method = tight("explicit-euler");
    World {
        density,
        drag_coefficient: drag,
        lift_coefficient: lift,
        wind,
        ..World::new(&cases::springs().model, &method, 0.0)
    }
}

#[test]
fn air_drag_is_proportional_to_mass_and_relative_velocity() {
    let mut random = Random(8);
    for _ in 0..50 {
        let (v, wind) = (random.vector(3.0).as_vec3(), random.vector(3.0).as_vec3());
        let (c, mass) = (random.signed().abs() as f32, random.signed().abs() as f32);
        let expected = -f64::from(c) * f64::from(mass) * (v.as_dvec3() - wind.as_dvec3());
        let force = air_drag::force(c, mass, v, wind).as_dvec3();
        assert!((force - expected).length() <= 3e-7 * expected.length());
        assert_eq!(air_drag::force(c, mass, wind, wind), Vec3::ZERO);
    }
}

/// The engine's matrix of a cloth at a state, put together from its public parts.
fn engine_system(case: &Case, method: &Method, x: &[Vec3], v: &[Vec3]) -> System {
    let model = &case.model;
    let floors = method.spring_floors(model);
    let parts = if method.jacobian == Jacobian::Scalar { 3 } else { 1 };
    let mut system = System::new(x.len(), &model.topology, parts);
    let mut forces = Forces::new(model);
    let inputs = Inputs { gravity: model.gravity, wind: model.wind, ..Inputs::default() };
    forces.evaluate_external(model, &inputs, Par::Serial, x, v);
    forces.add_elastic(model, &floors, Par::Serial, Motion::of_points(x, v));
    for i in 0..x.len() {
        let drag = model.absolute_damping[i]
            + model.air.drag * model.mass[i]
            + wind::damping_at(model, &forces.wind, i);
        system.lumped[i] = model.mass[i] + case.h * drag;
    }
    let blocks = &mut system.link_blocks;
    let (links, springs) = (&model.topology.links, &model.springs);
    spring::fill_blocks(blocks, links, springs, &floors, Par::Serial, method.jacobian, case.h, x);
    hinge::fill_elements(&mut system, model, &forces.hinges, Par::Serial, method.jacobian, case.h);
    system.build_diagonal(&model.topology, Par::Serial);
    system
}

/// A = M + h D + h² K column by column, its diagonal blocks and their inverses.
#[test]
fn system_matrix_is_the_oracle_s() {
    for mut case in cases::all() {
        case.time = 0.0;
        for jacobian in JACOBIANS {
            let mut method = Method { jacobian, ..tight("choi-ko-2002") };
            method.weak_springs = WeakSprings::Implicit;
            let state = case.state(31);
            let n = state.x.len();
            let mut system = engine_system(&case, &method, &state.x, &state.v);
            let (x, v, h) = (wide(&state.x), wide(&state.v), f64::from(case.h));
            let world = case.world(&method);
            let expected = world
                .mass_matrix()
                .plus(h, &world.damping(&x, &v))
                .plus(h * h, &world.stiffness(jacobian, &x));
            let mut got = Dense::zero(n);
            let mut unit = vec![Vec3::ZERO; n];
            let mut out = vec![Vec3::ZERO; n];
            for column in 0..3 * n {
                unit[column / 3][column % 3] = 1.0;
                system.apply(&case.model.topology, Par::Serial, &unit, &mut out);
                unit[column / 3][column % 3] = 0.0;
                (0..3 * n).for_each(|row| got.set(row, column, f64::from(out[row / 3][row % 3])));
            }
            let entries = |m: &Dense| {
                let all = (0..m.n * m.n).map(|e| m.at(e / m.n, e % m.n).abs());
                all.fold(0.0, f64::max)
            };
            let scale = entries(&expected);
            let error = entries(&got.plus(-1.0, &expected)) / scale;
            // Directions are known to 3e-7, hinge gradients to 1e-6 times a height of 0.1.
            assert!(error < 3e-6, "{jacobian:?} on {}: {error:e}", case.name);
            for i in 0..n {
                let block = expected.block(i, i);
                assert!(size(widen(system.diagonal[i]) - block) < 3e-6 * scale);
                let product = widen(system.inverse[i]) * block;
                // The inverse multiplies the block's error by its condition, here below 100.
                assert!(size(product - DMat3::IDENTITY) < 1e-4, "{jacobian:?} {}", case.name);
            }
        }
    }
}
