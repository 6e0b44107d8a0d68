//! Tests of products and sweeps, in one strip and in several.

use super::*;

/// A net of unlike blocks with far links, some strong; one row is held.
fn example(strips: usize) -> (Sliced, Vec<[u32; 2]>, Vec<Sym3>, Vec<Sym3>) {
    let (columns, rows) = (19, 17);
    let n = columns * rows;
    let mut links = Vec::new();
    let mut strong = Vec::new();
    let mut link = |a: usize, row: usize, column: usize, is_strong: bool| {
        if row < rows && column < columns {
            links.push([a as u32, (row * columns + column) as u32]);
            strong.push(is_strong);
        }
    };
    for i in 0..n {
        let (row, column) = (i / columns, i % columns);
        link(i, row, column + 1, true);
        link(i, row + 1, column, true);
        link(i, row + 1, column + 1, true);
        link(i, row, column + 2, false);
        link(i, row + 2, column, false);
        if i % 5 == 0 {
            link(i, row + 3, (7 * column + 3) % columns, true);
        }
    }
    let block = |k: usize| {
        let mut block = Sym3::scalar(0.3 + (k % 4) as f32);
        block += Sym3::outer(8.0, Vec3::new(0.4, (k % 3) as f32 - 1.0, 0.2 * (k % 7) as f32));
        block
    };
    let held = |[a, b]: &[u32; 2]| *a == 40 || *b == 40;
    let blocks = links.iter().enumerate();
    let blocks = blocks.map(|(k, ends)| if held(ends) { Sym3::ZERO } else { block(k) }).collect();
    let own = (0..n).map(|i| if i == 40 { Sym3::ZERO } else { block(3 * i) }).collect::<Vec<_>>();
    (Sliced::in_strips(strips, n, &links, &strong), links, own, blocks)
}

fn filled(strips: usize) -> (Sliced, Vec<[u32; 2]>, Vec<Sym3>, Vec<Sym3>) {
    let (mut matrix, links, own, blocks) = example(strips);
    matrix.fill(Par::Serial, [&own, &[]], [&blocks, &[]]);
    matrix.invert(Par::Serial);
    (matrix, links, own, blocks)
}

fn random(seed: u32, n: usize) -> Vec<Vec3> {
    let value = |i: u32| {
        let bits = (i + 1).wrapping_mul(seed).wrapping_mul(2_654_435_761);
        (bits >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let vector = |i: u32| Vec3::new(value(3 * i), value(3 * i + 1), value(3 * i + 2));
    (0..n as u32).map(|i| if i == 40 { Vec3::ZERO } else { vector(i) }).collect()
}

fn vector(matrix: &Sliced, values: &[Vec3]) -> Vec<f32> {
    let mut vector = vec![0.0; matrix.vector_len()];
    matrix.set(Par::Serial, &mut vector, |i| values[i].to_array());
    vector
}

fn values(matrix: &Sliced, vector: &[f32]) -> Vec<Vec3> {
    let mut values = vec![Vec3::ZERO; matrix.places().len()];
    matrix.give_out(Par::Serial, vector, &mut values);
    values
}

fn largest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).fold(0.0, |most, (a, b)| most.max(a.distance(*b)))
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum()
}

#[test]
fn products_are_sums_over_links() {
    for strips in [1, 2, 5] {
        let (matrix, links, own, blocks) = filled(strips);
        let x = random(3, own.len());
        let mut expected: Vec<Vec3> = own.iter().zip(&x).map(|(own, x)| *own * *x).collect();
        for (&[a, b], block) in links.iter().zip(&blocks) {
            let given = *block * (x[a as usize] - x[b as usize]);
            expected[a as usize] += given;
            expected[b as usize] -= given;
        }
        let mut product = vec![f32::NAN; matrix.vector_len()];
        matrix.apply(Par::Serial, &vector(&matrix, &x), &mut product);
        let error = largest(&values(&matrix, &product), &expected);
        assert!(error < 1e-4, "{strips}: {error}");
    }
}

#[test]
fn a_forward_sweep_tells_what_it_leaves() {
    for strips in [1, 2, 5] {
        let (matrix, _, own, _) = filled(strips);
        let b = random(5, own.len());
        // What was there before does not matter.
        let [mut x, mut r] =
            [random(13, own.len()), random(17, own.len())].map(|v| vector(&matrix, &v));
        matrix.forward_from_zero(Par::Serial, &vector(&matrix, &b), &mut x, &mut r);
        let mut product = vec![0.0; matrix.vector_len()];
        matrix.apply(Par::Serial, &x, &mut product);
        let (done, left) = (values(&matrix, &product), values(&matrix, &r));
        let left: Vec<Vec3> = b.iter().zip(&left).map(|(b, left)| *b - *left).collect();
        let error = largest(&done, &left);
        assert!(error < 1e-4, "{strips}: {error}");
        assert!(largest(&values(&matrix, &r), &b) > 0.1);
    }
}

#[test]
fn a_backward_sweep_mirrors_a_forward_one_and_keeps_a_solution() {
    for strips in [1, 2, 5] {
        let (matrix, _, own, _) = filled(strips);
        let [a, b] = [random(7, own.len()), random(11, own.len())].map(|v| vector(&matrix, &v));
        let zero = vec![0.0; matrix.vector_len()];
        let (mut forward, mut r) = (zero.clone(), zero.clone());
        matrix.forward_from_zero(Par::Serial, &a, &mut forward, &mut r);
        let mut backward = zero.clone();
        matrix.before_backward(Par::Serial, &b, &backward, &mut r);
        matrix.backward(Par::Serial, &mut r, &mut backward);
        let (one, other) = (dot(&forward, &b), dot(&a, &backward));
        assert!((one - other).abs() < 1e-4 * one.abs().max(1.0), "{strips}: {one} {other}");
        // Where A x = b a sweep changes nothing.
        let (mut product, mut x) = (zero.clone(), a.clone());
        matrix.apply(Par::Serial, &a, &mut product);
        matrix.before_backward(Par::Serial, &product, &x, &mut r);
        matrix.backward(Par::Serial, &mut r, &mut x);
        let error = largest(&values(&matrix, &x), &values(&matrix, &a));
        assert!(error < 1e-4, "{strips}: {error}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for strips in [1, 2, 5] {
        let run = |par: Par| {
            let (mut matrix, _, own, blocks) = example(strips);
            matrix.fill(par, [&own, &[]], [&blocks, &[]]);
            matrix.invert(par);
            let b = vector(&matrix, &random(5, own.len()));
            let [mut x, mut r, mut product] = [0; 3].map(|_| vec![0.0; matrix.vector_len()]);
            matrix.forward_from_zero(par, &b, &mut x, &mut r);
            matrix.apply(par, &x, &mut product);
            let left = r.clone();
            matrix.before_backward(par, &b, &x, &mut r);
            matrix.backward(par, &mut r, &mut x);
            [x, left, product].map(|vector| vector.iter().map(|v| v.to_bits()).collect::<Vec<_>>())
        };
        assert!(run(Par::Serial) == pool.install(|| run(Par::Rayon)), "{strips}");
    }
}
