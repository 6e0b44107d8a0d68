//! `muslin list`: what there is to choose from.

use crate::arguments::{ListArguments, Listed};
use crate::failure::Failure;
use crate::text::{number, print, table};
use anyhow::Context;
use muslin::fabric::{FABRICS, Fabric, MadeOf};
use muslin::scenes::SCENES;
use muslin::solvers::presets::{DEFAULT, METHODS};
use muslin::solvers::{Integrator, LinearSolver, Method};
use serde_json::{Value, json};

/// Prints a list as a table or as JSON.
pub fn list(arguments: &ListArguments) -> Result<(), Failure> {
    let text = match (arguments.what, arguments.json) {
        (Listed::Scenes, false) => scenes(),
        (Listed::Methods, false) => methods(),
        (Listed::Fabrics, false) => fabrics(),
        (what, true) => {
            let list = match what {
                Listed::Scenes => scenes_json(),
                Listed::Methods => methods_json(),
                Listed::Fabrics => FABRICS.iter().map(fabric_json).collect(),
            };
            serde_json::to_string_pretty(&list).context("cannot write JSON")? + "\n"
        }
    };
    print(&text);
    Ok(())
}

fn scenes() -> String {
    let rows: Vec<_> = SCENES.iter().map(|s| vec![s.name.to_owned(), s.about.to_owned()]).collect();
    table(&rows, |_| false)
}

fn scenes_json() -> Value {
    let one = |built_in: &muslin::scenes::BuiltIn| {
        let scene = built_in.scene();
        json!({
            "name": built_in.name,
            "about": built_in.about,
            "dt": scene.dt,
            "substeps": scene.substeps,
            "seconds": scene.seconds,
            "cloths": scene.cloth.len(),
        })
    };
    SCENES.iter().map(one).collect()
}

fn methods() -> String {
    let mut rows = Vec::new();
    for preset in METHODS {
        let default = if preset.id == DEFAULT { " (the default)" } else { "" };
        rows.push(vec![preset.id.to_owned(), format!("{}{default}", preset.about)]);
        rows.push(vec![String::new(), format!("  {}", choices(&preset.method()))]);
    }
    table(&rows, |_| false)
}

/// The choices that matter to a method, as `--set method.…` names them.
fn choices(method: &Method) -> String {
    let values = toml::Table::try_from(method).unwrap_or_default();
    let mut keys = vec!["integrator", "springs"];
    match method.integrator {
        Integrator::BackwardEuler | Integrator::Bdf2 => {
            keys.extend(["jacobian", "guess", "solver"]);
            match method.solver {
                LinearSolver::Jacobi => keys.push("sweeps"),
                LinearSolver::GaussSeidel => keys.extend(["sweeps", "order", "weak_springs"]),
                LinearSolver::ConjugateGradient => {
                    keys.extend(["preconditioner", "tolerance", "newton"]);
                }
                LinearSolver::Hierarchy => keys.extend(["tolerance", "max_iterations", "newton"]),
                LinearSolver::Cholesky => keys.push("momentum"),
            }
        }
        Integrator::Xpbd => keys.push("sweeps"),
        Integrator::ShapeMatching => {
            keys.extend(["modes", "alpha", "beta", "layers", "regions", "internal"]);
        }
        _ => {}
    }
    let bounds = ["strain_limit", "tethers", "budget"];
    keys.extend(bounds.into_iter().filter(|key| {
        values.get(*key).and_then(toml::Value::as_float).is_some_and(|value| value != 0.0)
    }));
    let shown = keys.iter().filter_map(|key| {
        let value = values.get(*key)?.to_string();
        Some(format!("{key}={}", value.trim_matches('"')))
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn methods_json() -> Value {
    let one = |preset: &muslin::solvers::presets::Preset| {
        json!({
            "id": preset.id,
            "about": preset.about,
            "default": preset.id == DEFAULT,
            "method": preset.method(),
        })
    };
    METHODS.iter().map(one).collect()
}

fn fabrics() -> String {
    let head = ["name", "kg/m²", "Eh N/m", "B N·m", "source"];
    let mut continuum = vec![head.map(str::to_owned).to_vec()];
    let head = ["name", "structural", "shear", "bend N/m", "source"];
    let mut springs = vec![head.map(str::to_owned).to_vec()];
    for fabric in FABRICS {
        let (rows, figures) = match fabric.made_of {
            MadeOf::Continuum { density, stretch, bending } => {
                (&mut continuum, [density, stretch, bending])
            }
            MadeOf::Springs { springs: s, .. } => (&mut springs, [s.structural, s.shear, s.bend]),
        };
        let mut row = vec![fabric.name.to_owned()];
        row.extend(figures.map(number));
        row.push(fabric.source.to_owned());
        rows.push(row);
    }
    let right = |column| (1..=3).contains(&column);
    format!(
        "Figures of the cloth itself, the same at any resolution:\n\n{}\n\
         Spring constants for one particular grid:\n\n{}",
        table(&continuum, right),
        table(&springs, right)
    )
}

fn fabric_json(fabric: &Fabric) -> Value {
    match fabric.made_of {
        MadeOf::Continuum { density, stretch, bending } => json!({
            "name": fabric.name,
            "source": fabric.source,
            "density": density,
            "stretch": stretch,
            "bending": bending,
        }),
        MadeOf::Springs { springs, absolute_damping } => json!({
            "name": fabric.name,
            "source": fabric.source,
            "springs": springs,
            "absolute_damping": absolute_damping,
        }),
    }
}
