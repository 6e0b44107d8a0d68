//! One list of methods × one list of checks. Add a method or a check: it is tested with all others.

use muslin::Method;
use muslin::conformance::CHECKS;
use muslin::solvers::presets::METHODS;
use muslin::solvers::{SweepOrder, WeakSprings};

/// Every preset, and the choices no preset makes.
fn methods() -> Vec<Method> {
    let mut all: Vec<Method> = METHODS.iter().map(|p| p.method()).collect();
    let kim = Method::preset("kim-2006").unwrap();
    let id = |id: &str| id.to_string();
    all.push(Method { id: id("kim, colours"), order: SweepOrder::Colours, ..kim.clone() });
    all.push(Method { id: id("kim, weak implicit"), weak_springs: WeakSprings::Implicit, ..kim });
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
