//! Skinned bodies, against what can be said of them without the engine's code: winding numbers say who is
//! inside, trigonometry where limbs are.

use glam::{DAffine3, DQuat, DVec4};
use muslin::collide::surface;
use muslin::scene::{Bone, Channel, Character, Interpolation, Key, Pin, Property, Shape, Springs};
use muslin::solvers::presets::METHODS;
use muslin::{Cloth, Collider, DVec3, Fabric, Method, Par, Scene, Sheet, Sim, dvec3};

fn sim(scene: &Scene, method: &str) -> Sim {
    Sim::new(scene.compile().unwrap(), Method::preset(method).unwrap()).unwrap()
}

fn advance(sim: &mut Sim, frames: u32, dt: f32) {
    for _ in 0..frames {
        sim.advance(dt);
    }
}

/// A shape as a character of one bone with these channels.
fn one_bone(shape: &Shape, channels: Vec<Channel>) -> Character {
    let surface = surface::of(shape);
    Character {
        repeat: false,
        weights: vec![vec![(0, 1.0)]; surface.vertices.len()],
        vertices: surface.vertices.iter().map(|v| v.as_dvec3()).collect(),
        triangles: surface.triangles,
        bones: vec![Bone { channels, ..Bone::default() }],
        ..Character::default()
    }
}

fn channel(drives: Property, keys: &[(f64, DVec4)]) -> Channel {
    let (times, values) = keys.iter().copied().unzip();
    Channel { drives, between: Interpolation::Linear, times, values }
}

fn moving(to: DVec3) -> Channel {
    channel(Property::Translation, &[(0.0, DVec4::ZERO), (1.0, to.extend(0.0))])
}

/// A closed tube along y with rings 4 cm apart.
fn tube(radius: f64, length: f64) -> Character {
    let (around, rings) = (24, (length / 0.04).round() as u32 + 1);
    let ring = |k: u32| -0.5 * length + 0.04 * f64::from(k);
    let on_ring = |k: u32, i: u32| {
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(around);
        dvec3(radius * angle.cos(), ring(k), radius * angle.sin())
    };
    let mut vertices: Vec<DVec3> = (0..rings)
        .flat_map(|k| (0..around).map(move |i| (k, i)))
        .map(|(k, i)| on_ring(k, i))
        .collect();
    let (bottom, top) = (vertices.len() as u32, vertices.len() as u32 + 1);
    vertices.extend([dvec3(0.0, ring(0) - radius, 0.0), dvec3(0.0, ring(rings - 1) + radius, 0.0)]);
    let mut triangles = Vec::new();
    for i in 0..around {
        let next = (i + 1) % around;
        triangles.push([bottom, i, next]);
        triangles.push([top, (rings - 1) * around + next, (rings - 1) * around + i]);
        for k in 0..rings - 1 {
            let (a, b, c, d) =
                (k * around + i, k * around + next, (k + 1) * around + next, (k + 1) * around + i);
            triangles.extend([[a, c, b], [a, d, c]]);
        }
    }
    Character {
        weights: vec![vec![(0, 1.0)]; vertices.len()],
        vertices,
        triangles,
        bones: vec![Bone::default()],
        ..Character::default()
    }
}

/// A leg along −y that bends at its middle by `angle` about x and back, all in `seconds`.
fn leg(angle: f64, seconds: f64) -> Character {
    let turn = |angle: f64| DVec4::from(DQuat::from_rotation_x(angle));
    let keys: Vec<_> = (0..=20)
        .map(|i| {
            let s = f64::from(i) / 20.0;
            (seconds * s, turn(angle * (std::f64::consts::PI * s).sin()))
        })
        .collect();
    let mut leg = tube(0.06, 0.8);
    // The knee is blended over 20 cm.
    let below = |y: f64| (0.5 - 5.0 * y).clamp(0.0, 1.0);
    leg.weights =
        leg.vertices.iter().map(|v| vec![(0, 1.0 - below(v.y)), (1, below(v.y))]).collect();
    leg.bones.push(Bone {
        parent: Some(0),
        channels: vec![channel(Property::Rotation, &keys)],
        ..Bone::default()
    });
    leg
}

/// How often a closed surface goes around a point, by solid angles (van Oosterom & Strackee 1983).
fn winding(vertices: &[DVec3], triangles: &[[u32; 3]], p: DVec3) -> f64 {
    let angle = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|i| vertices[i as usize] - p);
        let [x, y, z] = [a.length(), b.length(), c.length()];
        let under = x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y;
        2.0 * a.dot(b.cross(c)).atan2(under)
    };
    triangles.iter().map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
}

/// Particles inside body 0, a character, as it is now.
fn inside(sim: &Sim) -> usize {
    let (body, pose) = (&sim.model().colliders[0], &sim.state().colliders[0]);
    let Shape::Character(character) = &body.shape else { panic!("no character") };
    let vertices = character.vertices_at(sim.state().time);
    let own = |x: &muslin::Vec3| pose.to_own(x.as_dvec3());
    let is_inside =
        |x: &&muslin::Vec3| winding(&vertices, &character.triangles, own(x)).abs() > 0.5;
    sim.state().x.iter().filter(is_inside).count()
}

/// A sheet that hangs in front of the leg, soft enough for every method.
fn curtain(scene: &mut Scene, z: f64) {
    scene.cloth.push(Cloth {
        origin: dvec3(-0.4, 0.3, z),
        down: DVec3::NEG_Y,
        springs: Springs { structural: 40.0, shear: 20.0, ..Springs::default() },
        particle_mass: Some(0.005),
        absolute_damping: 0.005,
        pins: vec![Pin { particles: (0..17).collect(), ..Pin::default() }],
        ..Sheet::square(0.8, 17)
    });
}

#[test]
fn a_still_character_is_the_same_as_a_mesh() {
    let shape = Shape::Box { size: dvec3(0.6, 0.3, 0.9) };
    let drawn = surface::of(&shape);
    let corners = drawn.vertices.iter().map(|v| v.as_dvec3()).collect();
    let place = dvec3(0.0, -0.2, 0.0);
    let bodies = [
        Collider::character(place, one_bone(&shape, Vec::new())),
        Collider::mesh(place, corners, drawn.triangles),
    ];
    for method in ["muslin", "implicit-euler", "xpbd"] {
        let [character, mesh] = bodies.clone().map(|body| {
            let mut scene = Scene { substeps: 4, ..Scene::new() };
            let cloth = Cloth { origin: dvec3(-0.4, 0.0, -0.2), ..Sheet::square(0.6, 9) };
            scene.add_cloth(cloth, Fabric::cotton());
            scene.add_collider(body);
            let mut sim = sim(&scene, method);
            advance(&mut sim, 20, 1.0 / 60.0);
            sim
        });
        for (a, b) in character.state().x.iter().zip(&mesh.state().x) {
            assert!(a.distance(*b) < 1e-4, "{method}: {a} on the character, {b} on the mesh");
        }
    }
}

#[test]
fn a_kicking_leg_does_not_pass_through_cloth() {
    for preset in METHODS {
        let mut scene = Scene { substeps: 4, ..Scene::new() };
        curtain(&mut scene, 0.1);
        // The foot goes at up to 15 m/s, 6 cm in a step, as much as the leg's radius.
        scene.add_collider(Collider::character(DVec3::ZERO, leg(-1.5, 0.13)));
        let mut sim = sim(&scene, preset.id);
        let mut touched = 0;
        for frame in 0..24 {
            touched = touched.max(sim.step(1.0 / 60.0).contacts);
            assert!(sim.state().is_finite(), "{}", preset.id);
            let count = inside(&sim);
            assert!(count == 0, "{}: {count} particles inside in frame {frame}", preset.id);
        }
        assert!(touched > 3, "{}: only {touched} contacts", preset.id);
    }
}

#[test]
fn a_slab_thinner_than_its_way_in_a_step_takes_cloth_along() {
    // 20 m/s is 33 cm per step; the slab is 2 cm thick.
    for preset in METHODS {
        let mut scene = Scene { gravity: DVec3::ZERO, ..Scene::new() };
        curtain(&mut scene, 0.5);
        scene.cloth[0].pins.clear();
        let shape = Shape::Box { size: dvec3(2.0, 2.0, 0.02) };
        let slab = one_bone(&shape, vec![moving(dvec3(0.0, 0.0, 20.0))]);
        scene.add_collider(Collider::character(DVec3::ZERO, slab));
        let mut sim = sim(&scene, preset.id);
        for _ in 0..6 {
            sim.advance(1.0 / 60.0);
            let front = 20.0 * sim.state().time as f32 + 0.01;
            let nearest = sim.state().x.iter().map(|x| x.z - front).fold(f32::MAX, f32::min);
            assert!(nearest > 4.5e-3, "{}: cloth {nearest} m from the slab", preset.id);
        }
    }
}

#[test]
fn a_moving_and_turning_character_carries_cloth_as_the_surface_goes() {
    for method in ["implicit-euler", "kim-2006", "symplectic-euler", "xpbd"] {
        let patch = |channels: Vec<Channel>| {
            let mut scene = Scene { dt: 1.0 / 240.0, ..Scene::new() };
            let shape = Shape::Box { size: dvec3(4.0, 0.2, 4.0) };
            scene.cloth.push(Cloth {
                origin: dvec3(-0.05, 0.102, -0.05),
                springs: Springs { structural: 50.0, shear: 25.0, ..Springs::default() },
                particle_mass: Some(0.01),
                ..Sheet::square(0.1, 4)
            });
            let floor = Collider::character(DVec3::ZERO, one_bone(&shape, channels));
            scene.add_collider(floor.friction(0.5).thickness(0.002));
            let mut sim = sim(&scene, method);
            advance(&mut sim, 480, 1.0 / 240.0);
            sim
        };
        // As for a floor on a path: it lags v²/2μg behind and slides as much further.
        let carried = patch(vec![moving(dvec3(1.0, 0.0, 0.0))]);
        for (x, start) in carried.state().x.iter().zip(&carried.model().start_x) {
            let went = x.distance(*start);
            assert!((went - 1.0).abs() < 0.006, "{method}: carried {went} m");
        }
        let turn = |angle: f64| DVec4::from(DQuat::from_rotation_y(angle));
        // Gently, so that nothing slips.
        let keys: Vec<_> = (0..=60)
            .map(|i| f64::from(i) / 60.0)
            .map(|s| (s, turn(0.5 * s * s * (3.0 - 2.0 * s))))
            .collect();
        let turned = patch(vec![channel(Property::Rotation, &keys)]);
        for (x, start) in turned.state().x.iter().zip(&turned.model().start_x) {
            let wanted = DQuat::from_rotation_y(0.5) * start.as_dvec3();
            let off = wanted.distance(x.as_dvec3());
            assert!(off < 2e-3, "{method}: {off} m from where the floor took it");
        }
    }
}

#[test]
fn a_growing_body_pushes_cloth_out() {
    let grow =
        channel(Property::Scale, &[(0.0, DVec4::ONE), (1.0, dvec3(2.0, 2.0, 2.0).extend(0.0))]);
    for method in ["muslin", "implicit-euler", "xpbd"] {
        let mut scene = Scene { substeps: 4, gravity: DVec3::ZERO, ..Scene::new() };
        curtain(&mut scene, 0.25);
        scene.cloth[0].pins.clear();
        let ball = one_bone(&Shape::Sphere { radius: 0.2 }, vec![grow.clone()]);
        scene.add_collider(Collider::character(DVec3::ZERO, ball).friction(0.0));
        let mut sim = sim(&scene, method);
        for _ in 0..60 {
            sim.advance(1.0 / 60.0);
            let radius = 0.2 * (1.0 + sim.state().time.min(1.0));
            let nearest = sim.state().x.iter().map(|x| f64::from(x.length())).fold(1.0, f64::min);
            // The ball of triangles is within 0.3 mm of the round one.
            assert!(nearest > radius + 0.004, "{method}: {nearest} m, the ball has {radius}");
        }
    }
}

#[test]
fn what_is_attached_to_a_limb_goes_with_it() {
    let (elbow, angle) = (DVec3::ZERO, 1.2f64);
    let mut scene = Scene::new();
    // A patch whose first row is 10 cm in front of the shin, away from the blended knee.
    let cloth = Cloth {
        origin: dvec3(-0.05, -0.3, 0.16),
        down: DVec3::Z,
        pins: vec![Pin { particles: vec![0, 4], body: Some("leg".into()), ..Pin::default() }],
        ..Sheet::square(0.1, 5)
    };
    scene.add_cloth(cloth, Fabric::cotton());
    let leg = Collider { name: "leg".into(), ..Collider::character(elbow, leg(angle, 2.0)) };
    let key = Key { time: 1.0, offset: dvec3(0.5, 0.2, 0.0), turn: dvec3(0.0, 1.5, 0.0) };
    scene.add_collider(leg.path(vec![Key::default(), key]));
    let mut sim = sim(&scene, "muslin");
    for frame in 1..=60 {
        sim.advance(1.0 / 60.0);
        let s = f64::from(frame) / 60.0;
        // The bend is sampled at 21 places.
        let bend = {
            let (k, rest) = ((10.0 * s).floor(), (10.0 * s).fract());
            let at = |k: f64| angle * (std::f64::consts::PI * k / 20.0).sin();
            at(k) * (1.0 - rest) + at(k + 1.0) * rest
        };
        for (i, x) in [(0, -0.05), (4, 0.05)] {
            let own = DQuat::from_rotation_x(bend) * dvec3(x, -0.3, 0.16);
            let wanted = DQuat::from_rotation_y(1.5 * s) * own + s * dvec3(0.5, 0.2, 0.0);
            let found = sim.state().x[i].as_dvec3();
            assert!(found.distance(wanted) < 1e-5, "frame {frame}: {found}, not {wanted}");
        }
    }
}

#[test]
fn equal_bits_on_any_number_of_threads_and_from_a_snapshot() {
    let mut scene = Scene { substeps: 2, ..Scene::new() };
    curtain(&mut scene, 0.1);
    (scene.cloth[0].columns, scene.cloth[0].rows) = (60, 60);
    scene.cloth[0].pins[0].particles = (0..60).collect();
    scene.add_collider(Collider::character(DVec3::ZERO, leg(-1.2, 0.5)).friction(2.0));
    let mut one = sim(&scene, "implicit-euler");
    advance(&mut one, 12, 1.0 / 60.0);
    let half = one.state().clone();
    assert!(half.touches.iter().any(|t| t.anchor.is_some() && t.triangle > 0), "nothing sticks");
    advance(&mut one, 6, 1.0 / 60.0);
    for threads in [2, 3, 8] {
        let mut many = sim(&scene, "implicit-euler");
        many.par = Par::Rayon;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| advance(&mut many, 18, 1.0 / 60.0));
        assert_eq!(many.state(), one.state(), "{threads} threads");
    }
    let mut restored = sim(&scene, "implicit-euler");
    restored.restore(&half).unwrap();
    advance(&mut restored, 6, 1.0 / 60.0);
    assert_eq!(restored.state(), one.state());
}

#[test]
fn wrong_characters_are_refused_by_name() {
    let shape = Shape::Box { size: DVec3::ONE };
    let refused = |change: &dyn Fn(&mut Character)| {
        let mut character = one_bone(&shape, vec![moving(DVec3::X)]);
        change(&mut character);
        let mut scene = Scene::new();
        scene.add_cloth(Sheet::square(1.0, 4), Fabric::cotton());
        scene.add_collider(Collider::character(DVec3::ZERO, character));
        scene.compile().unwrap_err().to_string()
    };
    let begins = |message: String, wanted: &str| {
        assert!(message.starts_with(wanted), "{message}\nis not\n{wanted}");
    };
    begins(refused(&|c| c.speed = f64::NAN), "collider.0.shape.speed = NaN: must be");
    begins(refused(&|c| c.triangles[3][1] = 8), "collider.0.shape.triangles.3 = 8: the mesh has");
    begins(refused(&|c| c.triangles.clear()), "collider.0.shape.triangles = 0 of them: a char");
    begins(refused(&|c| drop(c.weights.pop())), "collider.0.shape.weights = 7 lists: each of");
    begins(refused(&|c| c.weights[2] = vec![]), "collider.0.shape.weights.2 = 0: weights need");
    begins(refused(&|c| c.weights[2] = vec![(1, 1.0)]), "collider.0.shape.weights.2 = 1: the c");
    begins(refused(&|c| c.bones[0].parent = Some(0)), "collider.0.shape.bones.0.parent = 0: list");
    let key = "collider.0.shape.bones.0.channels.0";
    let change = |c: &mut Character| c.bones[0].channels[0].times[1] = 0.0;
    begins(refused(&change), &format!("{key}.times = 2 keys: times must"));
    let change = |c: &mut Character| c.bones[0].channels[0].values.truncate(1);
    begins(refused(&change), &format!("{key}.values = 1 values: 2 times need 2"));
    let change = |c: &mut Character| c.bones[0].inverse_bind = DAffine3::NAN;
    begins(refused(&change), "collider.0.shape.bones.0.inverse_bind = ");
    let change = |c: &mut Character| c.file = Some("x.glb".into());
    begins(refused(&change), "collider.0.shape.file = x.glb: was not read");
    let change = |c: &mut Character| c.clip = Some("Run".into());
    begins(refused(&change), "collider.0.shape.clip = Run: clips are named in files");
}

#[test]
fn a_scene_with_a_character_reads_as_it_is_written() {
    let mut scene = Scene::new();
    scene.add_cloth(Sheet::square(1.0, 4), Fabric::cotton());
    scene.add_collider(Collider::character(DVec3::ZERO, leg(1.0, 1.0)));
    let again: Scene = toml::from_str(&toml::to_string(&scene).unwrap()).unwrap();
    assert_eq!(again, scene);
    let text = r#"
        [[cloth]]
        fabric = "cotton"
        [[collider]]
        shape = { kind = "character", file = "walk.glb", clip = "Walk", speed = 0.5, lop = true }
    "#;
    let message = toml::from_str::<Scene>(text).unwrap_err().to_string();
    assert!(message.contains("unknown field `lop`"), "{message}");
    let scene: Scene = toml::from_str(&text.replace(", lop = true", "")).unwrap();
    let Shape::Character(character) = &scene.colliders[0].shape else { panic!() };
    assert_eq!((character.speed, character.repeat), (0.5, true));
}
