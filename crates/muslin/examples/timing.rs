use muslin::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let scene = &args[1];
    let n: usize = args[2].parse().unwrap();
    for id in &args[3..] {
        let m = Method::preset(id).unwrap();
        let mut sc = scenes::named(scene).unwrap();
        sc.cloth[0].columns = n;
        sc.cloth[0].rows = n;
        if scene.starts_with("kim") {
            sc.cloth[0].width = (n - 1) as f64;
            sc.cloth[0].height = (n - 1) as f64;
        }
        let dt = if m.integrator != solvers::Integrator::BackwardEuler
            && m.integrator != solvers::Integrator::Xpbd
        {
            0.05 * sc.dt
        } else {
            sc.dt
        } as f32;
        let dt = dt as f32;
        let mut sim = Sim::new(sc.compile().unwrap(), m).unwrap();
        let mut best = f64::MAX;
        for _ in 0..300 {
            let c = Instant::now();
            sim.advance(dt);
            best = best.min(c.elapsed().as_secs_f64());
        }
        println!(
            "{id}: {:.3} ms, {:.0} M springs/s",
            best * 1e3,
            sim.model().spring_count() as f64 / best / 1e6
        );
    }
}
