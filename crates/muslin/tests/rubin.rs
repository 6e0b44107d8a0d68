//! Rubin 2005: what his mass-spring cloth, meshless cloth and hybrid must show, with the corrections
//! of `docs/methods/meshless.md`.

use glam::{DMat3, DQuat, DVec3, dvec3};
use muslin::forces::Forces;
use muslin::scene::{Pin, Place, Springs};
use muslin::solvers::shape_fit::{Fit, THIN};
use muslin::solvers::{Internal, Layers, Modes};
use muslin::{
    Cloth, Method, Motion, Par, Pull, Scene, Sheet, Sim, State, Vec3, Warning, scenes, vec3,
};

fn sim(scene: &Scene, method: Method) -> Sim {
    Sim::new(scene.compile().unwrap(), method).unwrap()
}

fn preset(id: &str) -> Method {
    Method::preset(id).unwrap()
}

fn run(sim: &mut Sim, h: f32, steps: u32) {
    for _ in 0..steps {
        sim.advance(h);
    }
}

/// Reproducible numbers in (−1, 1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        2.0 * (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 1.0
    }

    fn vector(&mut self) -> DVec3 {
        dvec3(self.next(), self.next(), self.next())
    }
}

/// Moves every particle by up to `size`.
fn shake(sim: &mut Sim, size: f32) {
    let mut random = Random(7);
    let mut state = sim.state().clone();
    state.x.iter_mut().for_each(|x| *x += size * random.vector().as_vec3());
    sim.restore(&state).unwrap();
}

/// Largest distance between particles along an axis.
fn extent(x: &[Vec3]) -> f32 {
    let low = x.iter().fold(Vec3::INFINITY, |low, x| low.min(*x));
    let high = x.iter().fold(Vec3::NEG_INFINITY, |high, x| high.max(*x));
    (high - low).max_element()
}

/// `rubin-hang` with other masses per side, gravity and no size change.
fn hanging(n: usize, gravity: f64) -> Scene {
    let mut scene = scenes::named("rubin-hang").unwrap();
    (scene.cloth[0].columns, scene.cloth[0].rows) = (n, n);
    scene.gravity.y = -gravity;
    scene
}

// Must show 1.
#[test]
fn spring_pairs_cancel_and_dampers_take_energy() {
    let cloth = Cloth {
        springs: Springs { structural: 22.0, structural_damping: 2.0, ..Springs::default() },
        particle_mass: Some(1.0),
        ..Sheet::rectangle(1.0, 0.0, 2, 1)
    };
    let scene = Scene { gravity: DVec3::ZERO, cloth: vec![cloth], ..Scene::default() };
    let model = scene.compile().unwrap();
    let inputs = muslin::Inputs::default();
    let floors = preset("symplectic-euler").spring_floors(&model);
    let (mut with, mut without) = (Forces::new(&model), Forces::new(&model));
    let mut random = Random(1);
    for _ in 0..1000 {
        let [x, v] = [0; 2].map(|_| [random.vector().as_vec3(), random.vector().as_vec3()]);
        let at = Motion::of_points(&x, &v);
        with.evaluate_all(&model, &inputs, &floors, Par::Serial, at);
        without.evaluate_external(&model, &inputs, Par::Serial, &x, &v);
        without.add_elastic(&model, &floors, Par::Serial, at);
        let sum = (with.total[0] + with.total[1]).length();
        assert!(sum < 1e-12, "{sum:e}");
        let power: f32 = (0..2).map(|i| (with.total[i] - without.total[i]).dot(v[i])).sum();
        // The difference of two forces of up to 60 N carries their rounding.
        assert!(power <= 1e-5, "{power:e}");
    }
}

// Must show 2.
#[test]
fn the_t_shirt_settles_at_the_published_constants() {
    let settle = |n: usize| {
        let mut sim = sim(&hanging(n, 1.0), preset("symplectic-euler"));
        run(&mut sim, 0.01, 12_000);
        sim.step(0.01)
    };
    let coarse = settle(8);
    let height = -coarse.lowest / 7.0;
    println!("strain {:.3}, height {height:.3}, speed {:.1e}", coarse.max_strain, coarse.max_speed);
    assert!(coarse.max_speed < 1e-3, "{:e}", coarse.max_speed);
    assert!((coarse.max_strain - 0.53).abs() < 0.05, "{}", coarse.max_strain);
    assert!((height - 1.18).abs() < 0.03, "{height}");
    // Four times the masses on springs of the same constants: melted plastic.
    let fine = settle(16);
    println!("16×16: strain {:.3}", fine.max_strain);
    assert!(fine.max_strain > 2.5 * coarse.max_strain, "{}", fine.max_strain);
}

// Must show 3.
#[test]
fn undamped_energy_stays_in_symplectic_euler_and_explodes_in_forward_euler() {
    let mut scene = hanging(8, 1.0);
    let cloth = &mut scene.cloth[0];
    let springs = Springs { structural: 22.0, shear: 13.0, bend: 10.0, ..Springs::default() };
    (cloth.fabric, cloth.springs, cloth.particle_mass) = (None, springs, Some(1.0));
    let ratio = |id: &str| {
        let mut sim = sim(&scene, preset(id));
        // Energy above that of the sheet hanging at rest straight down, −m g h.
        let datum = -64.0 * 3.5;
        let before = sim.measure().energy.total - datum;
        let mut most = (1.0f64, 1.0f64);
        for _ in 0..2000 {
            let now = (sim.step(0.01).energy.total - datum) / before;
            most = (most.0.min(now), most.1.max(now));
        }
        most
    };
    let (symplectic, euler) = (ratio("symplectic-euler"), ratio("explicit-euler"));
    println!("energy: symplectic {symplectic:?}, Euler {euler:?}");
    assert!(symplectic.0 > 0.98 && symplectic.1 < 1.02, "{symplectic:?}");
    assert!(euler.1 > 1e3, "{euler:?}");
}

// Must show 4.
#[test]
fn a_hundredth_of_a_second_is_stable_and_a_tenth_is_not() {
    let worst = |id: &str, gravity: f64, h: f32| {
        let mut sim = sim(&hanging(8, gravity), preset(id));
        let mut fastest = 0.0f64;
        for _ in 0..(30.0 / h) as u32 {
            let report = sim.step(h);
            fastest = fastest.max(report.max_speed);
            if report.warnings.contains(Warning::RolledBack) || fastest > 1e4 {
                return f64::INFINITY;
            }
        }
        fastest
    };
    for id in ["explicit-euler", "symplectic-euler", "midpoint"] {
        for gravity in [1.0, 9.8] {
            let fastest = worst(id, gravity, 0.01);
            assert!(fastest < 50.0, "{id}, gravity {gravity}: {fastest}");
        }
    }
    assert_eq!(worst("explicit-euler", 9.8, 0.1), f64::INFINITY);
}

/// An 8×6 sheet with uneven masses, off the origin and out of the axes.
fn sheet() -> (Vec<DVec3>, Vec<f64>) {
    let turn = DQuat::from_axis_angle(dvec3(1.0, 2.0, -0.5).normalize(), 0.7);
    let mut random = Random(3);
    (0..48)
        .map(|i| {
            let flat = dvec3(f64::from(i % 8), f64::from(i / 8), 0.0);
            (dvec3(3.0, -1.0, 2.0) + turn * flat, 1.0 + 0.5 * random.next())
        })
        .unzip()
}

/// A block of 3×4×5 points.
fn block() -> (Vec<DVec3>, Vec<f64>) {
    let mut random = Random(4);
    (0..60)
        .map(|i| {
            let place = dvec3(f64::from(i % 3), f64::from(i / 3 % 4), f64::from(i / 12));
            (place, 1.0 + 0.5 * random.next())
        })
        .unzip()
}

/// A shallow bowl: planar but for a hundredth of its width.
fn bowl() -> (Vec<DVec3>, Vec<f64>) {
    let (mut points, mass) = sheet();
    let axis = Fit::new(&points, &mass, Modes::Linear, THIN).axes().z_axis;
    let middle = points.iter().sum::<DVec3>() / 48.0;
    for (i, x) in points.iter_mut().enumerate() {
        *x += axis * (0.01 * (*x - middle).length_squared() + 0.005 * f64::from(i as u32 % 3));
    }
    (points, mass)
}

fn largest_distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

// Must show 5.
#[test]
fn the_fit_reproduces_rigid_motion() {
    for (name, (rest, mass)) in [("sheet", sheet()), ("block", block()), ("bowl", bowl())] {
        for modes in [Modes::Rigid, Modes::Linear, Modes::Quadratic] {
            let fit = Fit::new(&rest, &mass, modes, THIN);
            let turn = DQuat::from_axis_angle(dvec3(-1.0, 0.3, 2.0).normalize(), 2.9);
            let moved: Vec<DVec3> =
                rest.iter().map(|x| turn * *x + dvec3(5.0, -7.0, 1.0)).collect();
            for beta in [0.0, 0.5, 1.0] {
                let error = largest_distance(&fit.goals(&moved, beta), &moved);
                assert!(error < 1e-10, "{name}, {modes:?}, β = {beta}: {error:e}");
            }
        }
    }
}

// Must show 5.
#[test]
fn the_fit_reproduces_quadratic_deformation() {
    let (sheet, sheet_mass) = sheet();
    let axes = Fit::new(&sheet, &sheet_mass, Modes::Linear, THIN).axes();
    for (name, rest, mass, axes, terms) in
        [("sheet", sheet, sheet_mass, axes, 5), ("block", block().0, block().1, DMat3::IDENTITY, 9)]
    {
        let fit = Fit::new(&rest, &mass, Modes::Quadratic, THIN);
        assert_eq!(fit.terms(), terms, "{name}");
        let mut random = Random(11);
        let coefficients: Vec<DVec3> = (0..9).map(|_| random.vector()).collect();
        let bent: Vec<DVec3> = (rest.iter())
            .map(|x| {
                let q = axes.transpose() * (*x - rest[5]);
                let q = [
                    q.x,
                    q.y,
                    q.z,
                    q.x * q.x,
                    q.y * q.y,
                    q.z * q.z,
                    q.x * q.y,
                    q.y * q.z,
                    q.z * q.x,
                ];
                *x + q.iter().zip(&coefficients).map(|(q, c)| 0.3 * *q * *c).sum::<DVec3>()
            })
            .collect();
        let error = largest_distance(&fit.goals(&bent, 1.0), &bent);
        assert!(error < 1e-9, "{name}: {error:e}");
        // Linear modes cannot.
        let linear = Fit::new(&rest, &mass, Modes::Linear, THIN);
        assert!(largest_distance(&linear.goals(&bent, 1.0), &bent) > 0.1, "{name}");
    }
}

// Must show 5.
#[test]
fn goals_keep_momentum_and_angular_momentum() {
    for (name, (rest, mass)) in [("sheet", sheet()), ("block", block())] {
        for modes in [Modes::Rigid, Modes::Linear, Modes::Quadratic] {
            let fit = Fit::new(&rest, &mass, modes, THIN);
            let mut random = Random(5);
            let x: Vec<DVec3> = rest.iter().map(|x| *x + 0.8 * random.vector()).collect();
            let goals = fit.goals(&x, 0.9);
            let (mut linear, mut angular, mut size) = (DVec3::ZERO, DVec3::ZERO, 0.0);
            for i in 0..x.len() {
                let impulse = mass[i] * (goals[i] - x[i]);
                linear += impulse;
                angular += x[i].cross(impulse);
                size += impulse.length();
            }
            assert!(size > 1.0);
            assert!(linear.length() < 1e-10, "{name}, {modes:?}: {:e}", linear.length());
            assert!(angular.length() < 1e-10, "{name}, {modes:?}: {:e}", angular.length());
        }
    }
}

// Must show 5.
#[test]
fn degenerate_shapes_fall_back_to_lower_modes() {
    let on_a_line = |n: u32| (0..n).map(|i| dvec3(f64::from(i), 0.0, 2.0)).collect::<Vec<_>>();
    let cases = [
        (vec![dvec3(1.0, 2.0, 3.0)], 0),
        (vec![DVec3::ONE; 5], 0),
        (on_a_line(2), 1),
        (on_a_line(3), 2),
        (on_a_line(9), 2),
        (vec![DVec3::ZERO, DVec3::X, DVec3::Y], 2),
        (vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y], 3),
        (vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z], 3),
    ];
    for (rest, terms) in cases {
        let fit = Fit::new(&rest, &vec![1.0; rest.len()], Modes::Quadratic, THIN);
        assert_eq!(fit.terms(), terms, "{rest:?}");
        assert!(largest_distance(&fit.goals(&rest, 0.9), &rest) < 1e-12, "{rest:?}");
    }
    // Any rest shape, collapsed to a point, a line, a plane, or turned inside out.
    for (rest, mass) in [sheet(), block(), bowl()] {
        let fit = Fit::new(&rest, &mass, Modes::Quadratic, THIN);
        for scale in [DVec3::ZERO, DVec3::X, dvec3(1.0, 1.0, 0.0), dvec3(-1.0, 1.0, 1.0)] {
            let x: Vec<DVec3> = rest.iter().map(|x| scale * *x).collect();
            let goals = fit.goals(&x, 0.9);
            assert!(goals.iter().all(|g| g.is_finite() && g.length() < 100.0), "{scale}");
        }
    }
}

/// Must show 5, in the engine: a tumbling sheet keeps its shape to what f32 holds.
#[test]
fn a_free_sheet_tumbles_without_deforming() {
    for layers in [Layers::Planar, Layers::Interface, Layers::Extruded] {
        let cloth = Cloth {
            springs: Springs { structural: 1.0, ..Springs::default() },
            particle_mass: Some(1.0),
            ..Sheet::square(5.0, 6)
        };
        let scene = Scene { gravity: DVec3::ZERO, cloth: vec![cloth], ..Scene::default() };
        let mut sim = sim(&scene, Method { layers, ..preset("meshless") });
        let mut state = sim.state().clone();
        let turn = DQuat::from_axis_angle(dvec3(1.0, 1.0, 0.2).normalize(), 1.3);
        state.x.iter_mut().for_each(|x| *x = (turn * x.as_dvec3()).as_vec3());
        sim.restore(&state).unwrap();
        run(&mut sim, 1.0 / 60.0, 600);
        let moved = sim.state().x.iter().zip(&state.x).map(|(a, b)| a.distance(*b));
        let moved = moved.fold(0.0, f32::max);
        assert!(moved < 1e-5, "{layers:?}: {moved:e}");
    }
}

/// The 6×6 sheet of `rubin-meshless`, free and without gravity or damping.
fn free_sheet() -> Scene {
    let mut scene = scenes::named("rubin-meshless").unwrap();
    (scene.gravity, scene.cloth[0].absolute_damping) = (DVec3::ZERO, 0.0);
    scene.cloth[0].pins.clear();
    scene
}

// Must show 6.
#[test]
fn a_free_meshless_sheet_is_bounded_at_any_step() {
    for layers in [Layers::Planar, Layers::Interface, Layers::Extruded] {
        for (alpha, regions) in [(0.03, 1), (1.0, 1), (0.03, 3)] {
            for h in [1e-3, 1.0 / 60.0, 1.0, 100.0] {
                let method = Method { layers, alpha, regions, ..preset("meshless") };
                let mut sim = sim(&free_sheet(), method);
                shake(&mut sim, 0.3);
                let start = extent(&sim.state().x);
                let mut largest = 0.0f32;
                for _ in 0..2000 {
                    assert!(!sim.advance(h).warnings.contains(Warning::RolledBack));
                    largest = largest.max(extent(&sim.state().x) / start);
                }
                let name = format!("{layers:?}, α = {alpha}, {regions}², h = {h}");
                println!("{name}: extent × {largest:.3}");
                assert!(largest < 1.5, "{name}: {largest}");
            }
        }
    }
}

/// What a drag does to the dragged corner.
#[derive(Debug)]
struct Drag {
    /// Changes of sign of its velocity along the drag.
    reversals: u32,
    /// How far it has come. [m]
    moved: f64,
    /// Mean over the drag of its distance from the parallelogram its three neighbours make. [m]
    roughness: f64,
}

/// The free corner of a sheet held at the other side is pulled 2 m out of the plane, for 2 s.
fn drag(method: &Method, stiffness: f32) -> Drag {
    let mut scene = scenes::named("rubin-meshless").unwrap();
    scene.gravity = DVec3::ZERO;
    let mut sim = sim(&scene, method.clone());
    let (corner, pull) = (35, vec3(0.0, 0.0, 2.0));
    let start = sim.state().x[corner];
    let target = start + pull;
    sim.inputs.pulls.push(Pull { particle: corner, target, stiffness });
    let (mut reversals, mut roughness, mut before) = (0, 0.0, 0.0f32);
    for _ in 0..120 {
        sim.advance(1.0 / 60.0);
        let State { x, v, .. } = sim.state();
        let along = v[corner].dot(pull);
        // Slower than a millimetre per second is rest.
        if along.abs() > 2e-3 {
            reversals += u32::from(along * before < 0.0);
            before = along;
        }
        roughness += f64::from((x[corner] - x[34] - x[29] + x[28]).length()) / 120.0;
    }
    Drag { reversals, moved: f64::from(sim.state().x[corner].distance(start)), roughness }
}

// Must show 7.
#[test]
fn an_interface_layer_smooths_a_drag() {
    for internal in [Internal::None, Internal::Structural] {
        for stiffness in [100.0, 1000.0] {
            let with = |layers| Method { layers, internal, ..preset("meshless") };
            let direct = drag(&with(Layers::Planar), stiffness);
            let interface = drag(&with(Layers::Interface), stiffness);
            let extruded = drag(&with(Layers::Extruded), stiffness);
            assert!(interface.moved > 0.1 && extruded.moved > 0.1, "{interface:?}, {extruded:?}");
            println!("{internal:?}, k = {stiffness}: direct {direct:?}");
            println!("    interface {interface:?}, extruded {extruded:?}");
        }
    }
    let with = |layers| Method { layers, ..preset("meshless") };
    let direct = drag(&with(Layers::Planar), 1000.0);
    for layers in [Layers::Interface, Layers::Extruded] {
        let smooth = drag(&with(layers), 1000.0);
        assert!(smooth.reversals <= 2, "{layers:?}: {smooth:?}");
        assert!(smooth.roughness < 0.45 * direct.roughness, "{layers:?}: {smooth:?}, {direct:?}");
        assert!(direct.reversals > smooth.reversals, "{direct:?}");
    }
}

// Must show 8.
#[test]
fn the_hybrid_substeps_beyond_its_limit() {
    let scene = scenes::named("rubin-hybrid").unwrap();
    let limit = 2.0 / (4.0 * 20.0);
    for (h, substeps) in [(0.01, 1), (1.0 / 60.0, 2), (1.01 * limit, 3), (0.1, 9), (1.0, 85)] {
        let mut sim = sim(&scene, preset("hybrid"));
        shake(&mut sim, 0.2);
        // The first step takes the corners back to their pins.
        sim.advance(h);
        let mut fastest = 0.0f64;
        for _ in 0..200 {
            let report = sim.step(h);
            assert_eq!(report.solver.iterations, substeps, "h = {h}");
            assert_eq!(report.warnings.contains(Warning::Substepped), substeps > 1, "h = {h}");
            assert!(!report.warnings.contains(Warning::RolledBack), "h = {h}");
            fastest = fastest.max(report.max_speed);
        }
        println!("h = {h}: {substeps} substeps, fastest {fastest:.2} m/s");
        assert!(fastest < 20.0, "h = {h}: {fastest}");
        assert!(sim.measure().max_speed < 0.5, "h = {h}: {}", sim.measure().max_speed);
    }
    // Meshless alone never does.
    let mut alone = sim(&scene, preset("meshless"));
    assert!(!alone.advance(1.0).warnings.contains(Warning::Substepped));
}

/// α is per step: a sheet sags by g h²/α, so its height depends on the step.
#[test]
fn the_sag_of_a_meshless_sheet_grows_with_the_step() {
    for (h, expected) in [(0.001, 1.01), (0.005, 1.14), (1.0 / 60.0, 2.56)] {
        for layers in [Layers::Planar, Layers::Interface, Layers::Extruded] {
            let mut scene = scenes::named("rubin-meshless").unwrap();
            scene.gravity.y = -9.8;
            let mut sim = sim(&scene, Method { layers, ..preset("meshless") });
            run(&mut sim, h, (30.0 / h) as u32);
            let report = sim.measure();
            let height = -report.lowest / 5.0;
            println!("h = {h}, {layers:?}: height × {height:.3}, speed {:.1e}", report.max_speed);
            if layers == Layers::Planar {
                assert!((height / expected - 1.0).abs() < 0.02, "h = {h}: {height}");
            }
        }
    }
}

/// Both layers together keep their momentum, whatever the offset and the regions.
#[test]
fn two_layers_keep_the_momentum_of_both() {
    for layers in [Layers::Interface, Layers::Extruded] {
        for regions in [1, 3] {
            let mut scene = free_sheet();
            scene.cloth[0].spin = dvec3(0.3, 0.2, 0.5);
            scene.cloth[0].velocity = dvec3(0.3, 0.1, -0.2);
            let mut sim = sim(&scene, Method { layers, regions, ..preset("meshless") });
            shake(&mut sim, 0.1);
            let momenta = |state: &State| {
                let x = state.x.iter().chain(&state.interface_x);
                let v = state.v.iter().chain(&state.interface_v);
                let pairs = x.zip(v).map(|(x, v)| (x.as_dvec3(), v.as_dvec3()));
                pairs.fold((DVec3::ZERO, DVec3::ZERO), |(p, l), (x, v)| (p + v, l + x.cross(v)))
            };
            sim.advance(1.0 / 60.0);
            assert_eq!(sim.state().interface_x.len(), 36);
            let (linear, angular) = momenta(sim.state());
            run(&mut sim, 1.0 / 60.0, 600);
            let (after, angular_after) = momenta(sim.state());
            let change = (after - linear).length() / linear.length();
            let turned = (angular_after - angular).length() / angular.length();
            assert!(
                change < 1e-4 && turned < 1e-3,
                "{layers:?}, {regions}: {change:e}, {turned:e}"
            );
        }
    }
}

#[test]
fn interface_particles_are_part_of_the_state() {
    let scene = scenes::named("rubin-meshless").unwrap();
    for layers in [Layers::Interface, Layers::Extruded] {
        let method = Method { layers, ..preset("meshless") };
        let mut sim = sim(&scene, method);
        let start = sim.state().clone();
        assert!(start.interface_x.is_empty());
        let target = vec3(6.0, -6.0, 1.0);
        sim.inputs.pulls.push(Pull { particle: 35, target, stiffness: 100.0 });
        run(&mut sim, 1.0 / 60.0, 20);
        let saved = sim.state().clone();
        assert!(saved.interface_x[35] != saved.x[35]);
        run(&mut sim, 1.0 / 60.0, 20);
        let went_on = sim.state().clone();
        sim.restore(&saved).unwrap();
        run(&mut sim, 1.0 / 60.0, 20);
        assert_eq!(*sim.state(), went_on, "{layers:?}");
        // From the start again, where there was no layer yet.
        sim.restore(&start).unwrap();
        run(&mut sim, 1.0 / 60.0, 20);
        assert_eq!(*sim.state(), saved, "{layers:?}");
        // Half a layer is no snapshot, nor is one with a number that is not finite.
        let mut half = saved.clone();
        half.interface_v.clear();
        assert!(sim.restore(&half).is_err());
        let mut broken = saved;
        broken.interface_x[3] = Vec3::NAN;
        assert!(sim.restore(&broken).is_err());
    }
}

/// More regions bend more: a sheet clamped at one edge hangs lower.
#[test]
fn regions_make_the_sheet_more_flexible() {
    let mut scene = scenes::named("rubin-meshless").unwrap();
    let cloth = &mut scene.cloth[0];
    (cloth.columns, cloth.rows) = (16, 16);
    cloth.down = DVec3::Z;
    cloth.pins = vec![Pin { place: Some(Place::FirstRow), ..Pin::default() }];
    let lowest = |regions: u32| {
        let mut sim = sim(&scene, Method { regions, ..preset("meshless") });
        run(&mut sim, 1.0 / 60.0, 1200);
        sim.measure().lowest
    };
    let (one, many) = (lowest(1), lowest(4));
    println!("lowest: one fit {one:.3}, 4² regions {many:.3}");
    assert!(many < 1.2 * one, "{one}, {many}");
}
