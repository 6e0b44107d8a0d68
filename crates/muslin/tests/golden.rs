//! Numbers nobody here computed: golden trajectories and statics from the physics references.

mod oracle;

use glam::{DVec3, dvec3};
use muslin::scene::{Air, Place, Springs};
use muslin::{Cloth, Method, Scene, Sheet, Sim, Warning, scenes};
use oracle::cases::{pin, tight};
use oracle::wide;

/// Backward Euler, h = 1/240 s, t = 0.5 s (`golden_cloth_1.json`).
const CLOTH_BACKWARD: [[f64; 3]; 25] = [
    [0.0000000000, 0.0000000000, 0.0000000000],
    [0.2514427423, -0.0323790978, -0.0022910692],
    [0.5000000000, -0.0363454379, 0.0249519084],
    [0.7485572577, -0.0323790978, -0.0022910692],
    [1.0000000000, 0.0000000000, 0.0000000000],
    [-0.0001275135, -0.2671253072, 0.0447136370],
    [0.2473379118, -0.2803749758, 0.0339722132],
    [0.5000000000, -0.2870798091, 0.0248149665],
    [0.7526620882, -0.2803749758, 0.0339722132],
    [1.0001275135, -0.2671253072, 0.0447136370],
    [0.0009727861, -0.5295833004, 0.0655537018],
    [0.2492001768, -0.5332708717, 0.0665858828],
    [0.5000000000, -0.5353365990, 0.0676538775],
    [0.7507998232, -0.5332708717, 0.0665858828],
    [0.9990272139, -0.5295833004, 0.0655537018],
    [0.0024751952, -0.7854586012, 0.1041300674],
    [0.2506609564, -0.7870618248, 0.0972289960],
    [0.5000000000, -0.7882344105, 0.0918975669],
    [0.7493390436, -0.7870618248, 0.0972289960],
    [0.9975248048, -0.7854586012, 0.1041300674],
    [0.0018824110, -1.0413886605, 0.0993290006],
    [0.2507913641, -1.0418092702, 0.0982526086],
    [0.5000000000, -1.0424781734, 0.0971109076],
    [0.7492086359, -1.0418092702, 0.0982526086],
    [0.9981175890, -1.0413886605, 0.0993290006],
];

/// Symplectic Euler, h = 1/1200 s, t = 0.5 s.
const CLOTH_SYMPLECTIC: [[f64; 3]; 25] = [
    [0.0000000000, 0.0000000000, 0.0000000000],
    [0.2497580966, -0.0289973176, 0.0404714311],
    [0.5000000000, -0.0351805285, 0.0467659627],
    [0.7502419034, -0.0289973176, 0.0404714311],
    [1.0000000000, 0.0000000000, 0.0000000000],
    [-0.0007129795, -0.2685845671, 0.0451091712],
    [0.2471100498, -0.2798887812, 0.0432741281],
    [0.5000000000, -0.2855229837, 0.0347106654],
    [0.7528899502, -0.2798887812, 0.0432741281],
    [1.0007129795, -0.2685845671, 0.0451091712],
    [0.0015959959, -0.5327539147, 0.0543573155],
    [0.2493879519, -0.5345045284, 0.0644824390],
    [0.5000000000, -0.5352886301, 0.0731785201],
    [0.7506120481, -0.5345045284, 0.0644824390],
    [0.9984040041, -0.5327539147, 0.0543573155],
    [0.0034476609, -0.7889143459, 0.0994195737],
    [0.2512103527, -0.7891785459, 0.0935011311],
    [0.5000000000, -0.7895833111, 0.0893801467],
    [0.7487896473, -0.7891785459, 0.0935011311],
    [0.9965523391, -0.7889143459, 0.0994195737],
    [0.0040442138, -1.0454453784, 0.0822828316],
    [0.2520581082, -1.0444652037, 0.0800954675],
    [0.5000000000, -1.0447233705, 0.0785639107],
    [0.7479418918, -1.0444652037, 0.0800954675],
    [0.9959557862, -1.0454453784, 0.0822828316],
];

/// Static 9×9 sheet: column, row and position of one octant; the rest follows by symmetry.
const STATIC: [(usize, usize, [f64; 3]); 15] = [
    (0, 0, [0.0000000000, 0.0000000000, 0.0000000000]),
    (1, 0, [0.1253112864, -0.0285629342, 0.0015613657]),
    (2, 0, [0.2495172251, -0.0551066776, 0.0008368874]),
    (3, 0, [0.3742704004, -0.0745803834, 0.0002914301]),
    (4, 0, [0.5000000000, -0.0819826727, 0.0001002440]),
    (1, 1, [0.1252171329, -0.0456385589, 0.1252171329]),
    (2, 1, [0.2493456680, -0.0674157691, 0.1249852573]),
    (3, 1, [0.3742613128, -0.0838136016, 0.1247312695]),
    (4, 1, [0.5000000000, -0.0900138805, 0.1246463793]),
    (2, 2, [0.2492769504, -0.0831291760, 0.2492769504]),
    (3, 2, [0.3743009634, -0.0957733602, 0.2492779250]),
    (4, 2, [0.5000000000, -0.1004802924, 0.2492951582]),
    (3, 3, [0.3743996894, -0.1049312482, 0.3743996894]),
    (4, 3, [0.5000000000, -0.1083311604, 0.3744458962]),
    (4, 4, [0.5000000000, -0.1111941051, 0.5000000000]),
];

/// The built-in scene after `steps` steps of `h` seconds.
fn run(scene: &str, method: Method, steps: u32, h: f32) -> Vec<DVec3> {
    let model = scenes::named(scene).unwrap().compile().unwrap();
    let mut sim = Sim::new(model, method).unwrap();
    for _ in 0..steps {
        let done = sim.advance(h);
        let failed =
            [Warning::RolledBack, Warning::NotConverged].map(|w| done.warnings.contains(w));
        assert_eq!(failed, [false; 2]);
    }
    wide(&sim.state().x)
}

/// m = 1, k = 40, L = 1 from the horizontal, h = 1/60, 60 steps.
///
/// Sixty roundings of 6e-8, all to one side, are 4e-6; seen: 4e-7.
#[test]
fn spring_pendulum_follows_the_printed_steps() {
    for (id, x, y) in [
        ("backward-euler", -0.615840748657, -1.282652109932),
        ("symplectic-euler", -0.676143947022, -1.260437484183),
    ] {
        let end = run("pendulum", tight(id), 60, 1.0 / 60.0)[1];
        let error = (end - dvec3(x, y, 0.0)).length();
        println!("{id}: {error:.1e} m");
        assert!(error < 4e-6, "{id}: {end}, off by {error:e}");
    }
}

/// The references' "midpoint" is the implicit rule, x' = x + h (v + v')/2, v' = v + h a((x + x')/2):
/// their number is reproduced by it. The engine's `midpoint` is the explicit rule, which is another
/// second-order method: it is held to the same sixty steps in f64.
#[test]
fn spring_pendulum_midpoint_is_the_explicit_rule() {
    let h = 1.0 / 60.0;
    let pull = |x: DVec3| -40.0 * (1.0 - 1.0 / x.length()) * x - dvec3(0.0, 9.81, 0.0);
    let (mut x, mut v) = (DVec3::X, DVec3::ZERO);
    let (mut implicit_x, mut implicit_v) = (x, v);
    for _ in 0..60 {
        let (middle_x, middle_v) = (x + 0.5 * h * v, v + 0.5 * h * pull(x));
        (x, v) = (x + h * middle_v, v + h * pull(middle_x));
        let mut after = implicit_v;
        // A contraction by k h²/4 = 3e-3 a time.
        for _ in 0..20 {
            after = implicit_v + h * pull(implicit_x + 0.25 * h * (implicit_v + after));
        }
        (implicit_x, implicit_v) = (implicit_x + 0.5 * h * (implicit_v + after), after);
    }
    let printed = dvec3(-0.653234791344, -1.289903778887, 0.0);
    assert!((implicit_x - printed).length() < 1e-11, "{implicit_x}");
    let end = run("pendulum", tight("midpoint"), 60, 1.0 / 60.0)[1];
    println!("midpoint: {:.1e} m", (end - x).length());
    assert!((end - x).length() < 4e-6, "{end}");
}

/// Errors against the exact solution at t = 1 s, over steps where truncation is far above 1e-6.
#[test]
fn integrators_converge_with_their_order() {
    let exact = dvec3(-0.6541826826175853, -1.2883520055523883, 0.0);
    for (id, order, steps) in [
        ("explicit-euler", 1.0, [960u32, 1920, 3840]),
        ("symplectic-euler", 1.0, [120, 240, 480]),
        ("backward-euler", 1.0, [480, 960, 1920]),
        ("midpoint", 2.0, [60, 120, 240]),
        ("muslin", 2.0, [120, 240, 480]),
        ("rk4", 4.0, [10, 20, 40]),
    ] {
        let error =
            steps.map(|n| (run("pendulum", tight(id), n, 1.0 / n as f32)[1] - exact).length());
        for pair in error.windows(2) {
            let measured = (pair[0] / pair[1]).log2();
            println!("{id}: {measured:.3} from {:.1e} to {:.1e}", pair[0], pair[1]);
            assert!((measured - order).abs() < 0.1 * order, "{id}: {measured}, {error:?}");
        }
    }
}

fn cloth_errors(id: &str, steps: u32, h: f32, expected: &[[f64; 3]; 25]) -> f64 {
    let x = run("golden-5x5", tight(id), steps, h);
    x.iter().zip(expected).fold(0.0, |m, (x, e)| f64::max(m, (*x - DVec3::from(*e)).length()))
}

/// The references allow f32 1e-4 m; 240 roundings of 6e-8 to one side are 1.4e-5 (seen: 4e-7).
#[test]
fn golden_cloth_follows_backward_euler() {
    let h = 1.0 / 240.0;
    let error = cloth_errors("backward-euler", 120, h, &CLOTH_BACKWARD);
    println!("t = 0.5: {error:.1e} m");
    assert!(error < 2e-5, "{error:e}");
    for (steps, node) in [
        (120, dvec3(0.998117588956, -1.041388660465, 0.099329000646)),
        (240, dvec3(0.999098668551, -0.155037715740, -0.988334405482)),
    ] {
        let end = run("golden-5x5", tight("backward-euler"), steps, h)[24];
        println!("node 24 after {steps} steps: {:.1e} m", (end - node).length());
        assert!((end - node).length() < 2e-5, "{steps}: {end}");
    }
}

/// 1200 roundings of 6e-8 to one side are 7e-5 (seen: 1e-6).
#[test]
fn golden_cloth_follows_symplectic_euler() {
    let h = 1.0 / 1200.0;
    let error = cloth_errors("symplectic-euler", 600, h, &CLOTH_SYMPLECTIC);
    println!("t = 0.5: {error:.1e} m");
    assert!(error < 1e-4, "{error:e}");
    let node = dvec3(0.9951367819410825, -0.07253175176111659, -0.9754002224457635);
    let end = run("golden-5x5", tight("symplectic-euler"), 1200, h)[24];
    println!("node 24 at t = 1: {:.1e} m", (end - node).length());
    assert!((end - node).length() < 1e-4, "{end}");
}

/// 9×9 masses on four corners, settled in drag. Positions below 1 m are known to 3e-8 m, which a
/// spring of 200 N/m turns into 6e-6 N, which the softest mode (0.83 N/m) turns into 7e-6 m.
#[test]
fn static_sheet_settles_where_it_should() {
    let corners = [
        Place::FirstCorner,
        Place::FirstRowLastColumn,
        Place::LastRowFirstColumn,
        Place::LastCorner,
    ];
    let cloth = Cloth {
        springs: Springs { structural: 200.0, shear: 100.0, ..Springs::default() },
        particle_mass: Some(0.0024691358024691358),
        pins: corners.map(pin).into(),
        ..Sheet::square(1.0, 9)
    };
    let air = Air { drag: 10.0, ..Air::default() };
    let scene = Scene { cloth: vec![cloth], air, ..Scene::default() };
    for id in ["baraff-witkin-1998", "backward-euler"] {
        let mut sim = Sim::new(scene.compile().unwrap(), tight(id)).unwrap();
        // The slowest mode decays by e^(-5 t) or faster.
        for _ in 0..600 {
            sim.advance(1.0 / 60.0);
        }
        let x = wide(&sim.state().x);
        let mut worst = 0.0f64;
        for (i, j, [px, py, pz]) in STATIC {
            for (a, b, x0, z0) in [(i, j, px, pz), (j, i, pz, px)] {
                for (column, at_x) in [(a, x0), (8 - a, 1.0 - x0)] {
                    for (row, at_z) in [(b, z0), (8 - b, 1.0 - z0)] {
                        let error = (x[9 * row + column] - dvec3(at_x, py, at_z)).length();
                        worst = worst.max(error);
                    }
                }
            }
        }
        println!("{id}: {worst:.1e} m");
        assert!(worst < 7e-6, "{id}: {worst:e}");
    }
}
