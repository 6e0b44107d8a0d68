//! Cloth on bodies, against laws that nobody here wrote: Coulomb's, the capstan's, and that nothing is
//! where a body is.

use muslin::scene::{Key, Springs};
use muslin::solvers::presets::METHODS;
use muslin::{
    Cloth, Collider, DVec3, Fabric, Method, Placement, Pose, Scene, Sheet, Sim, Vec3, dvec3, scenes,
};

/// Methods that solve a system, one of each linear solver.
const IMPLICIT: [&str; 5] =
    ["implicit-euler", "backward-euler", "desbrun-1999", "kim-2006", "multigrid"];

/// Methods whose contacts are projected.
const PROJECTED: [&str; 3] = ["symplectic-euler", "xpbd", "meshless"];

fn sim(scene: &Scene, method: &str) -> Sim {
    Sim::new(scene.compile().unwrap(), Method::preset(method).unwrap()).unwrap()
}

fn advance(sim: &mut Sim, frames: u32, dt: f32) {
    for _ in 0..frames {
        sim.advance(dt);
    }
}

/// A small stiff patch lying on a slope.
fn on_slope(angle: f64, friction: f64) -> Scene {
    let mut scene = Scene::new();
    let (down, up) = (dvec3(angle.cos(), -angle.sin(), 0.0), dvec3(angle.sin(), angle.cos(), 0.0));
    let plane = Collider::plane(DVec3::ZERO, up).friction(friction).thickness(0.002);
    let cloth = Cloth {
        across: down,
        origin: 0.002 * up - 0.05 * down,
        springs: Springs { structural: 50.0, shear: 25.0, ..Springs::default() },
        particle_mass: Some(0.01),
        ..Sheet::square(0.1, 4)
    };
    scene.cloth.push(cloth);
    scene.add_collider(plane);
    scene.dt = 1.0 / 240.0;
    scene
}

/// How far the middle went, and the mean of the speeds.
fn moved(sim: &Sim) -> (f64, f64) {
    let (x, n) = (&sim.state().x, sim.state().x.len() as f64);
    let middle = |x: &[muslin::Vec3]| x.iter().map(|x| x.as_dvec3()).sum::<DVec3>() / n;
    let speed = sim.state().v.iter().map(|v| f64::from(v.length())).sum::<f64>() / n;
    (middle(x).distance(middle(&sim.model().start_x)), speed)
}

#[test]
fn cloth_sticks_on_slopes_below_the_angle_of_friction_and_slides_above() {
    let mu = 0.3f64;
    for method in IMPLICIT.iter().chain(&PROJECTED) {
        let mut low = sim(&on_slope((0.98 * mu).atan(), mu), method);
        advance(&mut low, 2400, 1.0 / 240.0);
        let (crept, _) = moved(&low);
        assert!(crept < 1e-3, "{method}: crept {crept} m in 10 s below the threshold");

        let angle = (1.02 * mu).atan();
        let mut high = sim(&on_slope(angle, mu), method);
        advance(&mut high, 960, 1.0 / 240.0);
        let (slid, _) = moved(&high);
        let law = 0.5 * 9.81 * (angle.sin() - mu * angle.cos()) * 16.0;
        // 2 % of the friction is as much as all of the acceleration here.
        assert!(
            slid > 0.5 * law && slid < 1.5 * law,
            "{method}: slid {slid} m, the law says {law}"
        );
    }
}

#[test]
fn cloth_slides_down_a_slope_as_coulomb_says() {
    let (mu, angle) = (0.3, 0.5f64);
    for method in IMPLICIT.iter().chain(&PROJECTED) {
        let mut sim = sim(&on_slope(angle, mu), method);
        advance(&mut sim, 240, 1.0 / 240.0);
        let law = 0.5 * 9.81 * (angle.sin() - mu * angle.cos());
        let (slid, _) = moved(&sim);
        assert!((slid / law - 1.0).abs() < 0.02, "{method}: slid {slid} m, the law says {law}");
    }
}

#[test]
fn sliding_cloth_stops_where_coulomb_says() {
    let (mu, speed) = (0.4, 2.0);
    for method in IMPLICIT.iter().chain(&PROJECTED) {
        let mut scene = on_slope(0.0, mu);
        scene.cloth[0].velocity = dvec3(speed, 0.0, 0.0);
        let mut sim = sim(&scene, method);
        advance(&mut sim, 480, 1.0 / 240.0);
        let (slid, left) = moved(&sim);
        let law = speed * speed / (2.0 * mu * 9.81);
        assert!((slid / law - 1.0).abs() < 0.02, "{method}: stopped after {slid} m, not {law}");
        assert!(left < 1e-3, "{method}: still at {left} m/s");
    }
}

#[test]
fn a_moving_floor_carries_cloth_and_a_turning_one_turns_it() {
    for method in IMPLICIT.iter().chain(&PROJECTED) {
        let mut scene = on_slope(0.0, 0.5);
        let offset = dvec3(1.0, 0.0, 0.0);
        scene.colliders[0].path = vec![Key::default(), Key { time: 1.0, offset, ..Key::default() }];
        // Not a jerk: μ g t gets it to 1 m/s in 0.2 s.
        let mut carried = sim(&scene, method);
        advance(&mut carried, 480, 1.0 / 240.0);
        let (went, left) = moved(&carried);
        let lag = 1.0 / (2.0 * 0.5 * 9.81);
        // It lags by v²/2μg behind at the start and goes as much further at the end.
        assert!((went - 1.0).abs() < 0.05 * lag, "{method}: carried {went} m");
        assert!(left < 1e-3, "{method}: still at {left} m/s");

        scene.colliders[0].path.clear();
        let mut turned = sim(&scene, method);
        for frame in 1..=240 {
            let angle = 0.5 * (f64::from(frame) / 240.0).powi(2);
            let pose =
                Pose { position: DVec3::ZERO, rotation: glam::DQuat::from_rotation_y(angle) };
            turned.inputs.colliders = vec![Placement { collider: 0, pose }];
            turned.advance(1.0 / 240.0);
        }
        let corner = glam::DQuat::from_rotation_y(0.5) * turned.model().start_x[0].as_dvec3();
        let off = corner.distance(turned.state().x[0].as_dvec3());
        assert!(off < 2e-3, "{method}: a corner is {off} m from where the floor took it");
    }
}

#[test]
fn a_rope_around_a_post_holds_as_the_capstan_says() {
    // A chain over half a post, one end held, the other pulled: slipping, the pull is e^{μ π} times
    // smaller at the held end.
    let mu = 0.3f64;
    let (radius, links) = (0.1, 60);
    let mut scene = Scene::new();
    scene.gravity = DVec3::ZERO;
    scene.dt = 1.0 / 240.0;
    let thickness = 0.002;
    let r = radius + thickness;
    let step = std::f64::consts::PI * r / f64::from(links);
    let tail = 10;
    let point = |k: i32| match k {
        k if k < 0 => dvec3(-r, step * f64::from(k), 0.0),
        k if k > links => dvec3(r, -step * f64::from(k - links), 0.0),
        k => {
            let angle = std::f64::consts::PI * (1.0 - f64::from(k) / f64::from(links));
            dvec3(r * angle.cos(), r * angle.sin(), 0.0)
        }
    };
    let vertices: Vec<DVec3> = (-tail..=links + tail).map(point).collect();
    let last = vertices.len() - 1;
    let mesh = muslin::scene::Mesh {
        edges: (0..last).map(|i| [i, i + 1]).collect(),
        vertices,
        ..Default::default()
    };
    scene.cloth.push(Cloth {
        mesh: Some(mesh),
        springs: Springs { structural: 2e4, structural_damping: 5.0, ..Springs::default() },
        particle_mass: Some(1e-3),
        absolute_damping: 0.002,
        pins: vec![
            muslin::scene::Pin { particles: vec![0], ..Default::default() },
            // Slowly, for it must slip everywhere.
            muslin::scene::Pin {
                particles: vec![last],
                path: vec![
                    Default::default(),
                    muslin::scene::Waypoint { time: 2.0, offset: dvec3(0.0, -0.02, 0.0) },
                ],
                ..Default::default()
            },
        ],
        ..Cloth::default()
    });
    let post = Collider::cylinder(DVec3::ZERO, radius, 1.0)
        .rotated(std::f64::consts::FRAC_PI_2 * DVec3::X);
    scene.add_collider(post.friction(mu).thickness(thickness));
    for method in ["implicit-euler", "backward-euler"] {
        let mut sim = sim(&scene, method);
        advance(&mut sim, 460, 1.0 / 240.0);
        let x = &sim.state().x;
        let stretch = |i: usize| x[i].distance(x[i + 1]) as f64 / step - 1.0;
        let (slack, tight) = (stretch(tail as usize / 2), stretch(last - tail as usize / 2));
        let law = (mu * std::f64::consts::PI).exp();
        let found = tight / slack;
        assert!((found / law - 1.0).abs() < 0.03, "{method}: ratio {found}, the law says {law}");
    }
}

/// Fastest particle and solves per step during `seconds`, after `settling` seconds.
fn at_rest(scene: &Scene, method: &str, settling: f64, seconds: f64) -> (f64, f64) {
    let mut sim = sim(scene, method);
    let (mut fastest, mut solves, mut frames) = (0.0f64, 0, 0);
    while sim.state().time < settling + seconds {
        let resting = sim.state().time >= settling;
        let report = sim.step(scene.dt as f32);
        if resting {
            fastest = fastest.max(report.max_speed);
            (solves, frames) = (solves + report.solver.rounds, frames + 1);
        }
    }
    (fastest, f64::from(solves) / f64::from(frames * sim.substeps))
}

#[test]
fn cloth_on_a_sphere_comes_to_rest() {
    let mut cotton = muslin::scenes::named("drape").unwrap();
    (cotton.cloth[0].columns, cotton.cloth[0].rows) = (24, 24);
    // As stiff as six sweeps can solve.
    let mut soft = cotton.clone();
    soft.cloth[0] = Cloth {
        origin: dvec3(-1.0, 0.0, -1.0),
        springs: Springs { structural: 30.0, shear: 15.0, bend: 0.5, ..Springs::default() },
        particle_mass: Some(2e-3),
        absolute_damping: 2e-3,
        ..Sheet::square(2.0, 20)
    };
    for (scene, method) in
        [(&cotton, "muslin"), (&cotton, "implicit-euler"), (&soft, "kim-2006"), (&soft, "muslin")]
    {
        let (fastest, solves) = at_rest(scene, method, 12.0, 5.0);
        println!("{method}: {:.3} mm/s at rest, {solves:.2} solves per step", 1e3 * fastest);
        assert!(fastest < 1e-3, "{method}: {fastest} m/s at rest");
        assert!(solves < 1.5, "{method}: {solves} solves per step at rest");
    }
}

#[test]
fn a_bullet_does_not_pass_through_cloth() {
    // 300 m/s is 5 m per step, and the ball is smaller than the mesh is wide.
    for preset in METHODS {
        let mut scene = Scene::new();
        scene.gravity = DVec3::ZERO;
        // Soft enough for every method.
        scene.cloth.push(Cloth {
            origin: dvec3(-0.5, -0.5, 0.0),
            down: DVec3::Y,
            springs: Springs { structural: 4.0, shear: 2.0, ..Springs::default() },
            particle_mass: Some(0.01),
            ..Sheet::square(1.0, 11)
        });
        let path = vec![
            Key { time: 0.0, offset: dvec3(0.0, 0.0, -5.0), ..Key::default() },
            Key { time: 1.0, offset: dvec3(0.0, 0.0, 295.0), ..Key::default() },
        ];
        scene.add_collider(Collider::sphere(dvec3(0.03, 0.04, 0.0), 0.03).path(path));
        let mut sim = sim(&scene, preset.id);
        advance(&mut sim, 3, 1.0 / 60.0);
        assert!(sim.state().is_finite(), "{}", preset.id);
        let ball = sim.state().colliders[0].position;
        let struck = sim.state().x.iter().any(|x| x.z > ball.z as f32 - 0.1);
        assert!(struck, "{}: the ball is at {ball}, all cloth behind it", preset.id);
    }
}

#[test]
fn cloth_that_starts_inside_comes_out_without_a_bang() {
    for preset in METHODS {
        let mut scene = Scene::new();
        scene.substeps = 20;
        // Soft enough for explicit methods.
        scene.cloth.push(Cloth {
            origin: dvec3(-0.25, 0.05, -0.25),
            springs: Springs { structural: 20.0, shear: 10.0, ..Springs::default() },
            particle_mass: Some(0.01),
            absolute_damping: 0.01,
            ..Sheet::square(0.5, 9)
        });
        scene.add_collider(Collider::sphere(DVec3::ZERO, 0.2));
        let mut sim = sim(&scene, preset.id);
        let mut fastest = 0.0f64;
        for _ in 0..60 {
            fastest = fastest.max(sim.step(1.0 / 60.0).max_speed);
        }
        let deepest = sim.state().x.iter().map(|x| 0.205 - x.length()).fold(0.0, f32::max);
        assert!(deepest < 2e-3, "{}: {deepest} m inside", preset.id);
        assert!(fastest < 20.0, "{}: {fastest} m/s", preset.id);
    }
}

#[test]
fn wrong_bodies_are_refused_by_name() {
    let scene = |body: Collider| {
        let mut scene = Scene::new();
        scene.add_cloth(Sheet::square(1.0, 4), Fabric::cotton());
        scene.add_collider(body);
        scene.compile().unwrap_err().to_string()
    };
    let sphere = |radius| Collider::sphere(DVec3::ZERO, radius);
    assert!(scene(sphere(0.0)).starts_with("collider.0.shape.radius = 0: must be"));
    assert!(scene(sphere(f64::NAN)).starts_with("collider.0.shape.radius = NaN: must be"));
    assert!(scene(sphere(1.0).friction(-1.0)).starts_with("collider.0.friction = -1: must be"));
    assert!(scene(sphere(1.0).thickness(0.0)).starts_with("collider.0.thickness = 0: must be"));
    let twice = vec![Key::default(); 2];
    assert!(scene(sphere(1.0).path(twice)).starts_with("collider.0.path.1.time = 0: times must"));
}

#[test]
fn a_scene_with_bodies_reads_as_it_is_written() {
    let text = r#"
        [[cloth]]
        columns = 4
        rows = 4
        fabric = "cotton"
        [[collider]]
        name = "ball"
        shape = { kind = "sphere", radius = 0.25 }
        position = [0.0, -0.6, 0.1]
        friction = 0.4
        [[collider]]
        shape = { kind = "plane" }
        path = [{ time = 1.0, offset = [0.0, 1.0, 0.0], turn = [0.0, 3.0, 0.0] }]
    "#;
    let scene: Scene = toml::from_str(text).unwrap();
    assert_eq!(scene.colliders.len(), 2);
    let again: Scene = toml::from_str(&toml::to_string(&scene).unwrap()).unwrap();
    assert_eq!(again, scene);
    scene.compile().unwrap();
}

#[test]
fn a_grip_holds_without_creeping() {
    let scene = scenes::named("grip").unwrap();
    for method in ["implicit-euler", "muslin"] {
        let mut sim = sim(&scene, method);
        // Between the jaws, relative to them.
        let held = |sim: &Sim| -> Vec<Vec3> {
            let jaw = sim.state().colliders[0].position.as_vec3();
            let inside = sim.model().start_x.iter().zip(&sim.state().x);
            inside
                .filter(|(s, _)| s.x.abs() < 0.045 && (s.y + 0.03).abs() < 0.015)
                .map(|(_, x)| *x - jaw)
                .collect()
        };
        let (mut at_first, mut fastest) = (Vec::new(), 0.0f32);
        for frame in 0..600 {
            let report = sim.step(scene.dt as f32);
            if frame == 120 {
                at_first = held(&sim);
            }
            // Once the jaws stand still.
            let strain = if frame >= 120 { report.max_strain } else { 0.0 };
            assert!(strain < 0.05, "{method}: strain {strain} in frame {frame}");
            if frame >= 540 {
                fastest = sim.state().v.iter().fold(fastest, |most, v| most.max(v.length()));
            }
        }
        let crept =
            held(&sim).iter().zip(&at_first).fold(0.0f32, |m, (x, y)| m.max(x.distance(*y)));
        println!("{method}: crept {crept} m in 8 s, {fastest} m/s at the end");
        assert!(at_first.len() > 20 && crept < 1e-3, "{method}: crept {crept} m");
    }
}

#[test]
fn what_hardly_slides_is_not_flung_away() {
    // Friction over a sliding velocity of next to nothing would be a drag beyond all bounds.
    for method in IMPLICIT.into_iter().chain(["muslin"]) {
        for exponent in 3..20 {
            let scene = on_slope(0.3, 0.5);
            let mut sim = sim(&scene, method);
            advance(&mut sim, 120, scene.dt as f32);
            let mut state = sim.state().clone();
            assert!(!state.touches.is_empty(), "{method}");
            state.touches.iter_mut().for_each(|touch| touch.anchor = None);
            let slow = 10f32.powi(-exponent);
            state.v.iter_mut().for_each(|v| *v = Vec3::new(slow, 0.3 * slow, 0.0));
            sim.restore(&state).unwrap();
            let fastest = (0..20).map(|_| sim.step(scene.dt as f32).max_speed).fold(0.0, f64::max);
            assert!(fastest < 1e-3, "{method}: from {slow} to {fastest} m/s");
        }
    }
}
