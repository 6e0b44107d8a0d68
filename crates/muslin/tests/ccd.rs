//! Continuous detection against the exact answers of a public set of queries (Wang et al. 2021, "A large-scale
//! benchmark and an inclusion-based algorithm for continuous collision detection"; sample queries, MIT).
//!
//! The set is not part of the source tree. Where it is not found the test says so and checks nothing.

use muslin::DVec3;
use muslin::collide::cloth::pair::{Kind, first_meeting, nearest};
use std::path::{Path, PathBuf};

/// `MUSLIN_CCD`, or where it lies beside a checkout.
fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/ccd");
    let named = std::env::var_os("MUSLIN_CCD").map(PathBuf::from);
    named.into_iter().chain([beside]).find(|path| path.is_dir())
}

struct Query {
    from: [DVec3; 4],
    to: [DVec3; 4],
    meets: bool,
}

/// Eight rows per query: three fractions and the answer; four corners at the start, four at the end.
fn queries(file: &Path) -> Vec<Query> {
    let text = std::fs::read_to_string(file).unwrap();
    let rows: Vec<(DVec3, bool)> = (text.lines())
        .map(|line| {
            let numbers: Vec<f64> = line.split(',').map(|n| n.trim().parse().unwrap()).collect();
            let point =
                DVec3::from_array(std::array::from_fn(|k| numbers[2 * k] / numbers[2 * k + 1]));
            (point, numbers[6] != 0.0)
        })
        .collect();
    let query = |rows: &[(DVec3, bool)]| Query {
        from: std::array::from_fn(|k| rows[k].0),
        to: std::array::from_fn(|k| rows[4 + k].0),
        meets: rows[0].1,
    };
    rows.chunks_exact(8).map(query).collect()
}

/// The first time at which the corners lie in one plane and the primitives touch, by bisection of the cubic
/// between the ends of 4096 intervals: not exact, but nothing of the engine's way.
fn first_touch(kind: Kind, query: &Query) -> Option<f64> {
    let at = |t: f64| -> [DVec3; 4] {
        std::array::from_fn(|k| query.from[k] + t * (query.to[k] - query.from[k]))
    };
    let volume = |t: f64| {
        let x = at(t);
        (x[1] - x[0]).cross(x[2] - x[0]).dot(x[3] - x[0])
    };
    let steps = 4096;
    (0..steps).find_map(|k| {
        let (mut low, mut high) =
            (f64::from(k) / f64::from(steps), f64::from(k + 1) / f64::from(steps));
        if volume(low) * volume(high) > 0.0 {
            return None;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if volume(low) * volume(middle) <= 0.0 { high = middle } else { low = middle }
        }
        (nearest(kind, at(high)).gap < 1e-9).then_some(high)
    })
}

#[test]
fn nothing_is_missed_and_no_time_is_late() {
    let Some(folder) = folder() else {
        eprintln!(
            "SKIPPED: no queries found; set MUSLIN_CCD to the folder with edge-edge and vertex-face"
        );
        return;
    };
    for (name, kind) in [("vertex-face", Kind::VertexTriangle), ("edge-edge", Kind::EdgeEdge)] {
        let (mut count, mut meeting, mut false_alarms, mut timed) = (0, 0, 0, 0);
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(folder.join(name)).unwrap().map(|f| f.unwrap().path()).collect();
        files.sort();
        for query in files.iter().flat_map(|file| queries(file)) {
            count += 1;
            let d = std::array::from_fn(|k| query.to[k] - query.from[k]);
            let found = first_meeting(kind, query.from, d, 0.0);
            if !query.meets {
                false_alarms += u32::from(found.is_some());
                continue;
            }
            meeting += 1;
            let time = found.unwrap_or_else(|| panic!("{name}: query {count} is missed"));
            if let Some(touch) = first_touch(kind, &query) {
                timed += 1;
                assert!(time <= touch + 1e-9, "{name}: query {count}: {time} after {touch}");
            }
        }
        println!(
            "{name}: {count} queries, {meeting} meet (none missed, {timed} times compared), {false_alarms} false alarms"
        );
        assert!(count > 0 && meeting > 0);
    }
}
