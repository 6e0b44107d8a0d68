//! Cloth against cloth: nothing passes through anything, in any frame, under any method.

mod crossings;

use crossings::crossings;
use muslin::model::Shape;
use muslin::scene::{Pin, SelfContact, Springs};
use muslin::solvers::Integrator;
use muslin::solvers::presets::METHODS;
use muslin::{
    Cloth, Collider, DVec3, Energy, Fabric, Hold, Inputs, Method, Par, Placement, Scene, Sheet,
    Sim, State, Vec3, Warning, dvec3, scenes,
};

fn sim(scene: &Scene, method: &str) -> Sim {
    Sim::new(scene.compile().unwrap(), Method::preset(method).unwrap()).unwrap()
}

/// The built-in scenes, small.
fn small(name: &str) -> Scene {
    let mut scene = match name {
        "twist" => scenes::folds::twist(16, 13),
        _ => scenes::named(name).unwrap(),
    };
    let size = match name {
        "drape" => 25,
        "funnel" => 19,
        _ => 9,
    };
    for cloth in scene.cloth.iter_mut().filter(|c| c.mesh.is_none()) {
        (cloth.columns, cloth.rows) = (size, size);
    }
    scene.self_contact.get_or_insert_default();
    scene
}

/// Three sheets, soft enough for explicit methods, falling crosswise on a ball.
fn pile() -> Scene {
    let mut scene = Scene { dt: 1.0 / 120.0, substeps: 5, ..Scene::default() };
    for layer in 0..3 {
        let turn = 0.3 * f64::from(layer);
        scene.cloth.push(Cloth {
            origin: dvec3(-0.25, 0.17 + 0.02 * f64::from(layer), -0.25),
            across: dvec3(turn.cos(), 0.0, turn.sin()),
            down: dvec3(-turn.sin(), 0.0, turn.cos()),
            springs: Springs {
                structural: 20.0,
                shear: 10.0,
                bend: 1.0,
                structural_damping: 0.01,
                ..Springs::default()
            },
            particle_mass: Some(0.01),
            absolute_damping: 0.02,
            ..Sheet::square(0.5, 9)
        });
    }
    scene.add_collider(Collider::sphere(DVec3::ZERO, 0.15).friction(0.5));
    scene.self_contact = Some(SelfContact { thickness: 0.01, friction: 0.3 });
    scene
}

/// Runs a scene and looks at every frame; the most contacts, and the most energy gained. [J]
fn run(scene: &Scene, method: &str, seconds: f64) -> (usize, f64) {
    let mut sim = sim(scene, method);
    assert_eq!(sim.entangled(), &[] as &[[u32; 2]]);
    let triangles = sim.model().triangles.clone();
    let start = sim.measure().energy.total;
    let (mut contacts, mut gained) = (0, 0.0f64);
    for frame in 0..(seconds / scene.dt) as u32 {
        let report = sim.step(scene.dt as f32);
        assert!(sim.state().is_finite(), "{method}: frame {frame}");
        let found = crossings(&triangles, &sim.state().x);
        assert!(found.is_empty(), "{method}: crossings in frame {frame}: {found:?}");
        contacts = contacts.max(report.self_contact.contacts);
        gained = gained.max(report.energy.total - start);
    }
    (contacts, gained)
}

#[test]
fn no_method_lets_cloth_through_cloth_or_gains_energy() {
    let weight = 3.0 * 81.0 * 0.01 * 9.81;
    for preset in METHODS {
        let (contacts, gained) = run(&pile(), preset.id, 0.8);
        println!(
            "{}: {contacts} contacts, {:.1e} of a lift by 1 m gained",
            preset.id,
            gained / weight
        );
        assert!(contacts > 10, "{}: {contacts} contacts", preset.id);
        // Explicit Euler gains energy by itself.
        let explicit = preset.method().integrator == Integrator::ExplicitEuler;
        let most = if explicit { 3e-3 } else { 1e-3 };
        assert!(gained / weight < most, "{}: {gained} J gained", preset.id);
    }
}

#[test]
fn built_in_scenes_have_no_crossings() {
    for (name, seconds) in [("stack", 0.3), ("twist", 1.0), ("funnel", 0.5), ("drape", 0.6)] {
        for method in ["implicit-euler", "muslin", "kim-2006", "xpbd", "meshless"] {
            let (contacts, _) = run(&small(name), method, seconds);
            println!("{name}, {method}: {contacts} contacts");
        }
    }
}

/// What the energy rises by, at most, over what it was at the start and over what it fell to, in half a second
/// in which nothing does work on cloth: from this state on, bodies, pins and air stand still. [J]
fn rises_while_all_stands_still(scene: &Scene, method: &str, state: &State) -> [f64; 2] {
    let mut still = scene.clone();
    still.air.gust = DVec3::ZERO;
    for body in &mut still.colliders {
        if let Shape::Character(character) = &mut body.shape {
            character.start += character.speed * state.time;
            character.speed = 0.0;
        }
    }
    let mut sim = sim(&still, method);
    sim.restore(state).unwrap();
    let pinned = sim.model().pins.iter().map(|pin| pin.particle as usize);
    let held = pinned.map(|particle| Hold { particle, target: state.x[particle] }).collect();
    let poses = state.colliders.iter().copied().enumerate();
    let colliders = poses.map(|(collider, pose)| Placement { collider, pose }).collect();
    sim.inputs = Inputs { wind: Vec3::ZERO, held, colliders, ..sim.inputs.clone() };
    let start = sim.measure().energy.total;
    let (mut lowest, mut over_start, mut over_lowest) = (start, 0.0f64, 0.0f64);
    for _ in 0..(0.5 / scene.dt) as u32 {
        let energy = sim.step(scene.dt as f32).energy.total;
        over_start = over_start.max(energy - start);
        over_lowest = over_lowest.max(energy - lowest);
        lowest = lowest.min(energy);
    }
    [over_start, over_lowest]
}

/// The built-in scenes at their full size and length: every frame is judged, and at times everything that
/// does work on cloth is stopped, after which its energy must not be above what it was. What contacts give way
/// by is not counted as energy: 1 % of what is moved and stretched, all stops of a scene together, may come from it,
/// and a lift by 2 % of the thickness; where cloth is squeezed, up to 5 % of it comes back on the way down. (Single
/// stops depend on the last bits: 1.4 % of 1 % in `twist`, 7 % of 5 % in `funnel` were seen.)
#[test]
fn full_scenes_have_no_crossings_and_contact_does_no_work() {
    for (name, times) in [
        ("stack", &[0.3, 0.6][..]),
        ("funnel", &[1.5, 1.8, 2.0, 2.2]),
        ("dressed-walk", &[1.0, 2.0, 3.0]),
        ("drape", &[0.8, 1.2]),
        ("twist", &[3.0, 5.0, 7.0, 8.0]),
    ] {
        let mut scene = scenes::named(name).unwrap();
        scene.self_contact.get_or_insert_default();
        if name == "drape" {
            (scene.cloth[0].columns, scene.cloth[0].rows, scene.seconds) = (80, 80, 2.0);
        }
        let mut sim = sim(&scene, "muslin");
        let triangles = sim.model().triangles.clone();
        let weight = 9.81 * sim.model().mass.iter().map(|m| f64::from(*m)).sum::<f64>();
        let thickness = scene.self_contact.unwrap_or_default().thickness;
        let (mut contacts, mut stopped, mut strain) = (0, 0, 0.0f64);
        let mut before = f64::MAX;
        let (mut gained, mut came_back, mut moved, mut lifted) = (0.0, 0.0, 0.0, 0.0);
        let mut times = times.iter().copied().peekable();
        for frame in 1..=(scene.seconds / scene.dt) as u32 {
            let report = sim.step(scene.dt as f32);
            assert!(sim.state().is_finite(), "{name}: frame {frame}");
            let found = crossings(&triangles, &sim.state().x);
            assert!(found.is_empty(), "{name}: crossings in frame {frame}: {found:?}");
            contacts = contacts.max(report.self_contact.contacts);
            stopped += report.self_contact.stopped;
            strain = strain.max(report.max_strain.min(before));
            before = report.max_strain;
            if let Some(time) = times.next_if(|time| f64::from(frame) * scene.dt >= time - 1e-9) {
                let [over_start, over_lowest] =
                    rises_while_all_stands_still(&scene, "muslin", sim.state());
                let Energy { kinetic, elastic, .. } = report.energy;
                let all = kinetic + elastic;
                println!("{name} at {time} s: {all} J, +{over_start:.6}, +{over_lowest:.6} J");
                (gained, came_back) = (gained + over_start, came_back + over_lowest);
                (moved, lifted) = (moved + all, lifted + weight * 0.02 * thickness);
            }
        }
        let fell = gained < 0.01 * moved + lifted && came_back < 0.05 * moved + lifted;
        assert!(fell, "{name}: {gained} J gained, {came_back} J came back of {moved} J");
        println!("{name}: {contacts} contacts, {stopped} stopped, strain {strain:.3}");
        // The dress meets its wearer; itself only by chance.
        let meets = contacts > 0 || name == "dressed-walk";
        assert!(meets && times.next().is_none(), "{name}: {contacts} contacts");
        // Stiff fibres around each other: the layers must carry them, not the stops of the last resort.
        // Where layers lock, edges become several times as long and stay so; four turns stretch silk by 17 %. What is
        // pulled tight in a single frame (27 and 31 % in two of sixteen walks) is let go in the next.
        assert!(stopped < 100 && strain < 0.2, "{name}: {stopped} stopped, strain {strain}");
    }
}

#[test]
fn no_stack_gains_energy() {
    let stack = scenes::named("stack").unwrap();
    for method in ["muslin", "implicit-euler", "kim-2006", "xpbd"] {
        let (contacts, gained) = run(&stack, method, 0.5);
        println!("stack, {method}: {contacts} contacts");
        assert!(contacts > 1000 && gained <= 0.0, "{method}: {contacts} contacts, {gained} J");
    }
}

#[test]
fn folds_of_a_fine_drape_gain_nothing() {
    let mut scene = scenes::named("drape").unwrap();
    (scene.cloth[0].columns, scene.cloth[0].rows) = (80, 80);
    // What the method itself gains so far beyond its stiffness limit is not the folds' doing.
    let mut without = sim(&scene, "kim-2006");
    let start = without.measure().energy.total;
    let gains = (0..72).map(|_| without.step(scene.dt as f32).energy.total - start);
    let alone = gains.fold(0.0, f64::max);
    scene.self_contact = Some(SelfContact::default());
    let (contacts, gained) = run(&scene, "kim-2006", 1.2);
    println!("{contacts} contacts, {gained} J gained, {alone} J without");
    assert!(contacts > 20 && gained <= 1.01 * alone, "{contacts} contacts, {gained} J, {alone} J");
}

#[test]
fn any_number_of_threads_gives_the_same_bits_and_a_snapshot_continues() {
    let scene = pile();
    let advance = |sim: &mut Sim, count: usize, frames: u32| {
        sim.par = if count == 1 { Par::Serial } else { Par::Rayon };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
        pool.install(|| {
            (0..frames).for_each(|_| {
                sim.advance(scene.dt as f32);
            })
        });
    };
    for method in ["implicit-euler", "muslin", "xpbd"] {
        let mut one = sim(&scene, method);
        advance(&mut one, 1, 40);
        let saved = one.state().clone();
        assert!(!saved.presses.is_empty());
        advance(&mut one, 1, 20);
        for count in [2, 3, 8] {
            let mut other = sim(&scene, method);
            other.restore(&saved).unwrap();
            advance(&mut other, count, 20);
            assert!(one.state() == other.state(), "{method}: {count} threads differ");
        }
    }
}

#[test]
fn sheets_that_meet_keep_their_momentum() {
    let mut scene = Scene { dt: 1.0 / 120.0, gravity: DVec3::ZERO, ..pile() };
    scene.colliders.clear();
    scene.cloth.truncate(2);
    scene.cloth.iter_mut().for_each(|cloth| cloth.absolute_damping = 0.0);
    scene.cloth[1].velocity = dvec3(0.2, -1.0, 0.0);
    for method in ["backward-euler", "symplectic-euler"] {
        let mut sim = sim(&scene, method);
        let (start, energy) = (sim.measure().momentum, sim.measure().energy.total);
        let mut met = 0;
        for _ in 0..60 {
            let report = sim.step(scene.dt as f32);
            met += report.self_contact.contacts;
            let lost = report.momentum.distance(start) / start.length();
            assert!(lost < 1e-4, "{method}: {lost} of the momentum lost");
        }
        assert!(met > 0);
        let after = sim.measure().energy.total;
        assert!(after < 0.9 * energy, "{method}: {energy} J became {after} J");
    }
}

/// A small patch lying on held cloth, on a slope.
fn on_cloth(slope: f64, friction: f64) -> Scene {
    let springs = Springs { structural: 50.0, shear: 25.0, ..Springs::default() };
    let patch = |origin: DVec3, side: f64, n: usize| Cloth {
        origin,
        springs,
        particle_mass: Some(0.01),
        ..Sheet::square(side, n)
    };
    let mut below = patch(dvec3(-0.3, 0.0, -0.3), 0.9, 13);
    below.pins = vec![Pin { particles: (0..169).collect(), ..Pin::default() }];
    Scene {
        dt: 1.0 / 240.0,
        gravity: 9.81 * dvec3(slope.sin(), -slope.cos(), 0.0),
        cloth: vec![below, patch(dvec3(-0.1, 0.002, -0.05), 0.1, 4)],
        self_contact: Some(SelfContact { thickness: 0.002, friction }),
        ..Scene::default()
    }
}

#[test]
fn layers_stick_below_the_angle_of_friction_and_slide_above() {
    let mu = 0.3f64;
    for method in ["implicit-euler", "backward-euler", "kim-2006", "symplectic-euler", "xpbd"] {
        let slid = |share: f64, frames: u32| {
            let mut sim = sim(&on_cloth((share * mu).atan(), mu), method);
            (0..frames).for_each(|_| {
                sim.advance(1.0 / 240.0);
            });
            let (x, start) = (&sim.state().x[169..], &sim.model().start_x[169..]);
            f64::from(x.iter().zip(start).map(|(x, s)| (*x - *s).x).sum::<f32>()) / 16.0
        };
        let (below, above) = (slid(0.98, 2400), slid(1.02, 960));
        let angle = (1.02 * mu).atan();
        let law = 0.5 * 9.81 * (angle.sin() - mu * angle.cos()) * 16.0;
        println!("{method}: {below:e} m in 10 s below, {above} m in 4 s above; the law says {law}");
        assert!(below.abs() < 1e-3, "{method}: crept {below} m in 10 s");
        assert!(
            above > 0.5 * law && above < 1.5 * law,
            "{method}: slid {above} m, the law says {law}"
        );
    }
}

#[test]
fn a_scene_that_starts_entangled_is_reported_and_goes_on() {
    let mut scene = Scene { gravity: DVec3::ZERO, ..Scene::default() };
    scene.add_cloth(Sheet::square(1.0, 6), Fabric::cotton());
    let upright = Cloth {
        origin: dvec3(0.23, -0.31, 0.17),
        down: DVec3::Y,
        velocity: dvec3(0.0, 2.0, 0.0),
        ..Sheet::square(0.5, 6)
    };
    scene.add_cloth(upright, Fabric::cotton());
    scene.self_contact = Some(SelfContact { friction: 0.0, ..SelfContact::default() });
    let mut sim = sim(&scene, "implicit-euler");
    let triangles = sim.model().triangles.clone();
    assert_eq!(sim.entangled(), crossings(&triangles, &sim.state().x));
    assert!(!sim.entangled().is_empty());
    assert!(sim.step(1.0 / 60.0).warnings.contains(Warning::Entangled));
    for _ in 0..60 {
        sim.step(1.0 / 60.0);
        assert!(sim.state().is_finite());
    }
    // It was pulled out, and is then kept out.
    assert_eq!(sim.entangled(), &[] as &[[u32; 2]]);
    assert_eq!(crossings(&triangles, &sim.state().x), &[] as &[[u32; 2]]);
}

#[test]
fn hands_do_not_drive_cloth_through_cloth() {
    let mut scene = on_cloth(0.0, 0.3);
    scene.cloth[1].origin.y = 0.05;
    let mut sim = sim(&scene, "implicit-euler");
    let triangles = sim.model().triangles.clone();
    let mut warned = false;
    for frame in 1..=60 {
        sim.inputs.held.clear();
        for particle in 169..185 {
            let target =
                sim.model().start_x[particle] - muslin::vec3(0.0, 0.002 * frame as f32, 0.0);
            sim.inputs.held.push(muslin::Hold { particle, target });
        }
        warned |= sim.step(1.0 / 60.0).warnings.contains(Warning::HeldBack);
        assert_eq!(crossings(&triangles, &sim.state().x), &[] as &[[u32; 2]], "frame {frame}");
    }
    assert!(warned);
}

#[test]
fn wrong_figures_are_refused_by_name() {
    let refusal = |thickness: f64, friction: f64| {
        let mut scene = pile();
        scene.self_contact = Some(SelfContact { thickness, friction });
        scene.compile().unwrap_err().to_string()
    };
    assert!(refusal(0.0, 0.3).starts_with("self_contact.thickness = 0: must be"));
    assert!(refusal(f64::NAN, 0.3).starts_with("self_contact.thickness = NaN: must be"));
    assert!(refusal(0.01, -1.0).starts_with("self_contact.friction = -1: must be"));
    let mut scene = pile();
    scene.cloth[0].layers = 0;
    assert!(scene.compile().unwrap_err().to_string().starts_with("cloth.0.layers = 0: must be"));
}
