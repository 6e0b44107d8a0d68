use muslin::*;
use std::time::Instant;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n: usize = a[1].parse().unwrap();
    let frames: usize = a[2].parse().unwrap();
    let scene_name = a.get(3).map_or("hang", |s| s.as_str());
    let threads: usize = a.get(4).map_or(1, |s| s.parse().unwrap());
    let mut scene = scenes::named(scene_name).unwrap();
    let c = &mut scene.cloth[0];
    set(c, n);
    let mut sim = Sim::new(scene.compile().unwrap(), Method::preset("muslin").unwrap()).unwrap();
    let pool = if threads > 1 {
        sim.par = muslin::Par::Rayon;
        Some(rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
    } else {
        None
    };
    let dt = sim.model().dt as f32;
    let (mut it, mut worst) = (0, 0.0f64);
    let mut st = [0.0f64; 4];
    let t = Instant::now();
    let mut low1 = 0.0f32;
    for f in 0..frames {
        let t0 = Instant::now();
        let d = match &pool {
            Some(p) => p.install(|| sim.advance(dt)),
            None => sim.advance(dt),
        };
        worst = worst.max(t0.elapsed().as_secs_f64());
        it += d.solver.iterations;
        let s = sim.stages();
        st[0] += s.forces;
        st[1] += s.solve;
        st[2] += s.iterating;
        st[3] += s.rest;
        if f == 59 {
            low1 = sim.state().x.iter().fold(0.0f32, |m, p| m.min(p.y));
        }
    }
    let fr = frames as f64;
    let ms = 1e3 * t.elapsed().as_secs_f64() / fr;
    let r = sim.step(dt);
    println!(
        "{scene_name} {n} frames {frames}: {ms:.3} ms/frame worst {:.2} it {:.2} forces {:.3} matrices {:.3} cycles {:.3} rest {:.3}; per particle {:.0} ns; cycle {:.1} ns/p; low1 {low1:.4}; mean strain {:.5} max {:.4}; energy {:?}",
        1e3 * worst,
        it as f64 / fr,
        1e3 * st[0] / fr,
        1e3 * (st[1] - st[2]) / fr,
        1e3 * st[2] / fr,
        1e3 * st[3] / fr,
        ms * 1e6 / (n * n) as f64,
        1e9 * st[2] / it as f64 / (n * n) as f64,
        r.mean_strain,
        r.max_strain,
        r.energy
    );
}
fn set(c: &mut Cloth, n: usize) {
    c.columns = n;
    c.rows = n;
}
