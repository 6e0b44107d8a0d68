//! Tests of the hierarchy.

use super::*;
use crate::linalg::{Coupling, RankOne};
use crate::mesh::Pyramid;
use crate::mesh::pyramid::{Filter, Grid};

/// A net of springs in one plane with hinges' rank-one terms, one corner held.
fn example(n: usize) -> (Topology, System, Vec<f32>) {
    let mut ends = Vec::new();
    let mut elements = Vec::new();
    for i in 0..n * n {
        let (row, column) = (i / n, i % n);
        let at = |r: usize, c: usize| (r * n + c) as u32;
        if column + 1 < n {
            ends.push([i as u32, at(row, column + 1)]);
        }
        if row + 1 < n {
            ends.push([i as u32, at(row + 1, column)]);
        }
        if row + 1 < n && column + 2 < n {
            elements.push([
                at(row, column + 1),
                at(row + 1, column + 1),
                i as u32,
                at(row, column + 2),
            ]);
        }
    }
    let topology = Topology::new(n * n, ends, elements);
    let mut system = System::new(n * n, &topology, 1);
    system.lumped.fill(1.0);
    for (block, &[a, b]) in system.link_blocks.iter_mut().zip(topology.links.ends()) {
        let direction = if b == a + 1 { Vec3::X } else { Vec3::new(0.0, 0.8, 0.6) };
        *block = Sym3::outer(300.0, direction);
        *block += Sym3::scalar(2.0);
    }
    for element in &mut system.elements {
        let n = Vec3::new(0.1, -0.6, 0.8);
        *element = RankOne { g: [-n, -n, n, n], scale: 5.0 };
    }
    system.build_diagonal(&topology, Par::Serial);
    let mut free = vec![1.0; n * n];
    free[0] = 0.0;
    (topology, system, free)
}

fn hierarchy(topology: &Topology, n: usize, with_elements: usize) -> Multigrid {
    let pyramid = Pyramid::new(&[Grid { columns: n, rows: n, first: 0 }], 40, 16);
    let last = pyramid.levels.len() - 1;
    let steps = (0..last).map(|l| pyramid.prediction(l, Filter::MEAN)).collect();
    let nodes = pyramid.levels.into_iter().map(|l| l.nodes).collect();
    Multigrid::new(topology, nodes, steps, with_elements)
}

fn random(seed: u32, free: &[f32]) -> Vec<Vec3> {
    let value = |i: u32| {
        let bits = (i + 1).wrapping_mul(seed).wrapping_mul(2_654_435_761);
        (bits >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let vector = |i: u32| Vec3::new(value(3 * i), value(3 * i + 1), value(3 * i + 2));
    (0..).zip(free).map(|(i, free)| *free * vector(i)).collect()
}

fn dot3(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.as_dvec3().dot(b.as_dvec3())).sum()
}

#[test]
fn coarse_matrices_are_galerkin_products() {
    for with_elements in [usize::MAX, 1] {
        coarse_matrices_are_products(with_elements);
    }
}

fn coarse_matrices_are_products(with_elements: usize) {
    let n = 9;
    let (topology, system, free) = example(n);
    let mut multigrid = hierarchy(&topology, n, with_elements);
    multigrid.take_elements(&system, Par::Serial, &free);
    multigrid.rebuild(&system, Par::Serial, &free);
    // w'ᵀ A' w' = (P w')ᵀ A (P w') with held rows of P w' and w' zero, on every level.
    for l in 0..multigrid.levels.len() - 1 {
        let (fine, coarse) = multigrid.levels.split_at_mut(l + 1);
        let (fine, coarse) = (&mut fine[l], &coarse[0]);
        let coarse_free: Vec<f32> = coarse.nodes.iter().map(|i| free[*i as usize]).collect();
        let w = random(7, &coarse_free);
        let mut planes = vec![0.0; coarse.matrix.vector_len()];
        coarse.matrix.set(Par::Serial, &mut planes, |i| w[i].to_array());
        let mut fine_planes = vec![0.0; fine.matrix.vector_len()];
        let Level { matrix, coarse: Some(way), .. } = &mut *fine else { unreachable!() };
        way.transfer.add_prolonged(Par::Serial, &coarse.matrix, &planes, matrix, &mut fine_planes);
        let mut up = vec![Vec3::ZERO; fine.nodes.len()];
        fine.matrix.give_out(Par::Serial, &fine_planes, &mut up);
        up.iter_mut().zip(&fine.nodes).for_each(|(up, i)| *up *= free[*i as usize]);
        let energy = |level: &Level, terms: &Terms, w: &[Vec3]| {
            let of = |m: &Sym3, w: Vec3| f64::from(w.dot(*m * w));
            let own: f64 = w.iter().zip(&terms.own).map(|(w, m)| of(m, *w)).sum();
            let links = level.links.ends.iter().zip(&terms.links);
            let links = links.map(|(&[a, b], m)| of(m, w[a as usize] - w[b as usize]));
            own + links.sum::<f64>()
        };
        let (found, expected) =
            (energy(coarse, &coarse.springs, &w), energy(fine, &fine.springs, &up));
        assert!((found / expected - 1.0).abs() < 1e-4, "level {l}: {found} {expected}");
        let of_elements = energy(coarse, &coarse.elements, &w);
        if l < with_elements {
            let expected = energy(fine, &fine.elements, &up);
            assert!(expected > 0.0);
            assert!((of_elements / expected - 1.0).abs() < 1e-4, "{l}: {of_elements} {expected}");
        } else {
            assert_eq!(of_elements, 0.0);
        }
        // The matrix is the sum.
        let mut product = planes.clone();
        coarse.matrix.apply(Par::Serial, &planes, &mut product);
        let all: f64 = planes.iter().zip(&product).map(|(w, p)| f64::from(w * p)).sum();
        assert!((all / (found + of_elements) - 1.0).abs() < 1e-4, "{l}: {all}");
        // What is handed down is the transpose of what comes back.
        let residual = random(8, &free[..fine.nodes.len()]);
        let mut fine_residual = vec![0.0; fine_planes.len()];
        fine.matrix.set(Par::Serial, &mut fine_residual, |i| residual[i].to_array());
        let mut down = vec![0.0; planes.len()];
        let Level { matrix, coarse: Some(way), .. } = &mut *fine else { unreachable!() };
        way.transfer.restrict(Par::Serial, matrix, &fine_residual, &coarse.matrix, &mut down);
        let dot =
            |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        let (one, other) = (dot(&down, &planes), dot(&fine_residual, &fine_planes));
        assert!((one - other).abs() < 1e-5 * one.abs().max(1.0), "level {l}: {one} {other}");
    }
}

#[test]
fn stiffness_never_counts_as_mass() {
    let n = 17;
    let (topology, mut system, _) = example(n);
    system.link_blocks.iter_mut().for_each(|block| block.0.iter_mut().for_each(|m| *m *= 1e6));
    system.elements.iter_mut().for_each(|element| element.scale *= 1e8);
    let mut multigrid = hierarchy(&topology, n, usize::MAX);
    multigrid.take_elements(&system, Par::Serial, &vec![1.0; n * n]);
    multigrid.rebuild(&system, Par::Serial, &vec![1.0; n * n]);
    // What moves as one has no more inertia than its particles' masses of 1, on any level.
    let level = &multigrid.levels[0];
    let (mut v, mut product) = (vec![0.0; level.b.len()], vec![0.0; level.b.len()]);
    level.matrix.set(Par::Serial, &mut v, |_| [0.1, 0.7, -0.3]);
    level.matrix.apply(Par::Serial, &v, &mut product);
    let error = v.iter().zip(&product).fold(0.0f32, |most, (v, p)| most.max((v - p).abs()));
    assert!(error < 1e-6, "{error}");
    for (l, level) in multigrid.levels.iter().enumerate() {
        let mass: f64 = level.springs.own.iter().map(|m| f64::from(m.0[0])).sum();
        assert!((mass / (n * n) as f64 - 1.0).abs() < 1e-5, "level {l}: {mass}");
    }
}

/// The example with particles far from each other pressing, one on the held one.
fn pressing_example(n: usize) -> (Topology, System, Vec<f32>) {
    let (topology, mut system, free) = example(n);
    let contact = |i: usize| {
        let across = Vec3::new(0.3, 0.2 * (i % 5) as f32 - 0.4, 0.9).normalize();
        let g = [1.0, -0.5, -0.2, -0.3].map(|w| w * across);
        let particles = [7 * i, n * n - 1 - 3 * i, 5 * i + 40, 2 * i + 90].map(|p| p as u32);
        Coupling { particles, term: RankOne { g, scale: 200.0 }, wanted: 0.0 }
    };
    let contacts: Vec<Coupling> = (0..40).map(contact).collect();
    system.take_contacts(&contacts, &free);
    (topology, system, free)
}

/// b − A x over free particles.
fn left(
    topology: &Topology,
    system: &mut System,
    free: &[f32],
    b: &[Vec3],
    x: &[Vec3],
) -> Vec<Vec3> {
    let mut product = vec![Vec3::ZERO; x.len()];
    system.apply(topology, Par::Serial, x, &mut product);
    (0..x.len()).map(|i| free[i] * (b[i] - product[i])).collect()
}

fn is_symmetric_and_positive(multigrid: &mut Multigrid, free: &[f32]) {
    let (a, b) = (random(3, free), random(11, free));
    let (mut za, mut zb) = (a.clone(), b.clone());
    multigrid.cycle(Par::Serial, &a, &mut za);
    multigrid.cycle(Par::Serial, &b, &mut zb);
    let (ab, ba) = (dot3(&za, &b), dot3(&a, &zb));
    let size = dot3(&za, &a);
    assert!(size > 0.0 && (ab - ba).abs() < 1e-4 * size, "{ab} {ba} {size}");
}

#[test]
fn the_hierarchy_solves_the_system_with_and_without_contacts() {
    let n = 17;
    for (topology, mut system, free) in [example(n), pressing_example(n)] {
        let mut multigrid = hierarchy(&topology, n, usize::MAX);
        multigrid.take_elements(&system, Par::Serial, &free);
        multigrid.rebuild(&system, Par::Serial, &free);
        is_symmetric_and_positive(&mut multigrid, &free);
        let b = random(5, &free);
        let mut x = vec![Vec3::ZERO; n * n];
        // The example's elements have one direction each, so the matrices are the same.
        let stop = Stop { tolerance: 0.0, max_iterations: 100 };
        multigrid.solve(Par::Serial, &b, stop, true, &mut x);
        let residual = left(&topology, &mut system, &free, &b, &x);
        let ratio = (dot3(&residual, &residual) / dot3(&b, &b)).sqrt();
        assert!(ratio < 1e-3, "{ratio:e}");
    }
}

#[test]
fn contacts_make_another_system() {
    let n = 17;
    let (topology, mut system, free) = pressing_example(n);
    let x = random(7, &free);
    let b = left(&topology, &mut system, &free, &vec![Vec3::ZERO; n * n], &x);
    system.take_contacts(&[], &free);
    let other =
        left(&topology, &mut system, &free, &b, &(x.iter().map(|x| -*x).collect::<Vec<_>>()));
    assert!(dot3(&other, &other) > 0.01 * dot3(&b, &b));
}

#[test]
fn iterated_cycles_converge() {
    let n = 17;
    let (topology, mut system, free) = example(n);
    let mut multigrid = hierarchy(&topology, n, usize::MAX);
    multigrid.take_elements(&system, Par::Serial, &free);
    multigrid.rebuild(&system, Par::Serial, &free);
    let b = random(11, &free);
    let (mut x, mut z) = (vec![Vec3::ZERO; n * n], vec![Vec3::ZERO; n * n]);
    let mut norms = Vec::new();
    for _ in 0..13 {
        let residual = left(&topology, &mut system, &free, &b, &x);
        norms.push(dot3(&residual, &residual).sqrt());
        multigrid.cycle(Par::Serial, &residual, &mut z);
        x.iter_mut().zip(&z).for_each(|(x, z)| *x += *z);
    }
    assert!(norms[12] < 0.1 * norms[0], "{norms:?}");
}

#[test]
fn what_was_not_finite_leaves_no_trace() {
    let n = 17;
    let (topology, system, free) = example(n);
    let mut multigrid = hierarchy(&topology, n, usize::MAX);
    multigrid.take_elements(&system, Par::Serial, &free);
    multigrid.rebuild(&system, Par::Serial, &free);
    let b = random(11, &free);
    let mut spoilt = b.clone();
    spoilt[n * n / 2] = Vec3::NAN;
    let stop = Stop { tolerance: 0.0, max_iterations: 3 };
    for alone in [true, false] {
        let mut run = |b: &[Vec3]| {
            let mut x = vec![Vec3::ZERO; n * n];
            if alone {
                multigrid.cycle(Par::Serial, b, &mut x);
            } else {
                multigrid.solve(Par::Serial, b, stop, true, &mut x);
            }
            x
        };
        let before = run(&b);
        run(&spoilt);
        assert!(run(&b) == before, "{alone}");
    }
}
