//! One list of methods × one list of checks. Add a method or a check: it is tested with all others.

use muslin::Method;
use muslin::conformance::CHECKS;
use muslin::solvers::presets::METHODS;
use muslin::solvers::{Layers, Modes, SweepOrder, WeakSprings};

/// Every preset, and the choices no preset makes.
fn methods() -> Vec<Method> {
    let mut all: Vec<Method> = METHODS.iter().map(|p| p.method()).collect();
    let kim = Method::preset("kim-2006").unwrap();
    let id = |id: &str| id.to_string();
    all.push(Method { id: id("kim, colours"), order: SweepOrder::Colours, ..kim.clone() });
    all.push(Method { id: id("kim, weak implicit"), weak_springs: WeakSprings::Implicit, ..kim });
    let meshless = Method::preset("meshless").unwrap();
    for modes in [Modes::Rigid, Modes::Linear] {
        all.push(Method { id: format!("meshless, {modes:?}"), modes, ..meshless.clone() });
    }
    // Not the extruded layers: the cloth beside its hidden layer does not keep the momentum of both.
    let layers = Layers::Interface;
    all.push(Method { id: id("meshless, interface"), layers, regions: 3, ..meshless.clone() });
    all.push(Method { id: id("meshless, 4"), regions: 4, ..meshless });
    let hybrid = Method::preset("hybrid").unwrap();
    all.push(Method { id: id("hybrid, interface"), layers: Layers::Interface, ..hybrid });
    all
}

#[test]
fn every_method_passes_every_check() {
    let mut failures = Vec::new();
    for method in methods() {
        for check in CHECKS {
            if let Err(found) = (check.run)(&method) {
                failures.push(format!("{}: {}: {found}", method.id, check.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
