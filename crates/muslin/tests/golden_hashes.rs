//! The bits of every built-in scene under every method, recorded in `golden/hashes.toml`.
//!
//! Plain Rust arithmetic gives the same bits on every machine, so any change of a hash is a change
//! of behaviour: look at it, then run with `MUSLIN_RECORD=1` to record it. Cholesky (faer) picks its
//! kernels by processor, so such methods are held to their lowest point instead.

use muslin::solvers::LinearSolver;
use muslin::solvers::presets::METHODS;
use muslin::{Sim, scenes::SCENES};
use std::collections::BTreeMap;

/// Frames per run: enough for every stage to act, few enough for two cores.
const FRAMES: u32 = 3;

type Golden = BTreeMap<String, BTreeMap<String, String>>;

fn path() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/hashes.toml")
}

/// FNV-1a over the bits of all positions and velocities, interface particles included.
fn hash(sim: &Sim) -> String {
    let state = sim.state();
    let interface = state.interface_x.iter().chain(&state.interface_v);
    let all = state.x.iter().chain(&state.v).chain(interface);
    let components = all.flat_map(|v| v.to_array());
    let hash = components
        .flat_map(|c| c.to_bits().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    format!("{hash:016x}")
}

fn found() -> Golden {
    let mut golden = Golden::new();
    for scene in SCENES {
        let mut description = scene.scene();
        // Large grids add time, not information.
        for cloth in description.cloth.iter_mut().filter(|c| c.mesh.is_none() && c.columns > 48) {
            (cloth.columns, cloth.rows) = (48.min(cloth.columns), 48.min(cloth.rows));
        }
        let model = description.compile().unwrap();
        for preset in METHODS {
            let method = preset.method();
            let direct = method.solver == LinearSolver::Cholesky;
            let sim = Sim::new(model.clone(), method);
            let Ok(mut sim) = sim else {
                golden
                    .entry(scene.name.into())
                    .or_default()
                    .insert(preset.id.into(), "refused".into());
                continue;
            };
            (0..FRAMES).for_each(|_| {
                sim.advance(description.dt as f32);
            });
            let value = if direct { format!("{:.4e}", sim.measure().lowest) } else { hash(&sim) };
            golden.entry(scene.name.into()).or_default().insert(preset.id.into(), value);
        }
    }
    golden
}

#[test]
fn every_scene_under_every_method_keeps_its_bits() {
    let found = found();
    if std::env::var_os("MUSLIN_RECORD").is_some() {
        let text = toml::to_string(&found).unwrap();
        std::fs::write(path(), text).unwrap();
        return;
    }
    let recorded: Golden = toml::from_str(&std::fs::read_to_string(path()).unwrap()).unwrap();
    let mut changed = Vec::new();
    for (scene, methods) in &found {
        for (method, value) in methods {
            let before = recorded.get(scene).and_then(|m| m.get(method));
            if before != Some(value) {
                changed.push(format!("{scene} / {method}: {before:?} → {value}"));
            }
        }
    }
    assert!(changed.is_empty(), "{} changed:\n{}", changed.len(), changed.join("\n"));
    assert_eq!(recorded, found, "golden/hashes.toml names scenes or methods that do not exist");
}
