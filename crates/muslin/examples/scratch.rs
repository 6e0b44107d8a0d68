use muslin::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let k: f64 = args[1].parse().unwrap();
    let n: usize = args[2].parse().unwrap();
    for spec in &args[3..] {
        let mut parts = spec.split(':');
        let id = parts.next().unwrap();
        let mut m = Method::preset(id).unwrap();
        for p in parts {
            let (a, b) = p.split_once('=').unwrap();
            match a {
                "s" => m.sweeps = b.parse().unwrap(),
                "o" => m.order = solvers::SweepOrder::Colours,
                "t" => m.tolerance = b.parse().unwrap(),
                "j" => {
                    m.jacobian = match b {
                        "exact" => solvers::Jacobian::Exact,
                        "psd" => solvers::Jacobian::Psd,
                        "r1" => solvers::Jacobian::RankOne,
                        "sm" => solvers::Jacobian::Smoothed,
                        _ => panic!(),
                    }
                }
                "w" => m.weak_springs = solvers::WeakSprings::Explicit,
                "g" => m.guess = solvers::Guess::Zero,
                "sym" => m.springs = solvers::SpringLaw::Scene,
                "ten" => m.springs = solvers::SpringLaw::TensionOnly,
                _ => panic!(),
            }
        }
        let mut sc = scenes::named("kim-2006-fall").unwrap();
        sc.cloth[0].springs.type1 = k;
        sc.cloth[0].columns = n;
        sc.cloth[0].rows = n;
        sc.cloth[0].width = (n - 1) as f64;
        sc.cloth[0].height = (n - 1) as f64;
        let mut sim = Sim::new(sc.compile().unwrap(), m).unwrap();
        let (mut ms, mut mst) = (0f64, 0f64);
        let mut t = 0.0;
        let mut line = String::new();
        let mut it = 0;
        for s in 1..=2000 {
            let c = Instant::now();
            let a = sim.advance(0.25);
            t += c.elapsed().as_secs_f64();
            it += a.solver.iterations;
            let r = sim.measure();
            ms = ms.max(r.max_speed);
            mst = mst.max(r.max_strain);
            if a.warnings.contains(Warning::RolledBack) || r.max_speed > 1e4 {
                line += &format!(" DIVERGED at {s}");
                break;
            }
            if [400, 600, 1000, 2000].contains(&s) {
                line += &format!(" y{s}={:.2} ke={:.2}", r.lowest, r.energy.kinetic);
            }
        }
        println!(
            "{spec}: max speed {ms:.3} strain {mst:.3} ms/step {:.3} it {:.1} |{line}",
            t * 1e3 / 2000.0,
            it as f64 / 2000.0
        );
    }
}
