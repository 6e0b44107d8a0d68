//! Sparse Cholesky in double precision (faer), with the symbolic work and all storage kept.
//!
//! A matrix whose blocks are multiples of the identity (Desbrun 1999: J ≈ k I) is factored as
//! an n×n matrix with three right-hand sides, otherwise as 3n×3n with one.

use super::{System, Topology};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{LltRef, SymbolicCholesky, factorize_symbolic_cholesky};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par as FaerPar, Side};
use glam::Vec3;

/// A factor and the pattern it came from.
pub struct Cholesky {
    /// 1: one row per particle and three right-hand sides; 3: three rows per particle.
    rows_per_particle: usize,
    pattern: SymbolicSparseColMat<usize>,
    /// Where each contribution of [`for_each_entry`] is added, in order.
    slots: Vec<u32>,
    values: Vec<f64>,
    symbolic: SymbolicCholesky<usize>,
    factor: Vec<f64>,
    buffer: MemBuffer,
    rhs: Vec<f64>,
    free: Vec<f32>,
    factored: bool,
}

impl Cholesky {
    /// Analyses the pattern of a system with `parts` rank-one terms per element. `one_row`: every
    /// block is a multiple of the identity.
    /// `None` when the factor does not fit in memory.
    pub fn new(
        particle_count: usize,
        topology: &Topology,
        parts: usize,
        one_row: bool,
    ) -> Option<Self> {
        let rows_per_particle = if one_row { 1 } else { 3 };
        let n = particle_count * rows_per_particle;
        let empty = System::new(particle_count, topology, parts);
        let mut places = Vec::new();
        for_each_entry(&empty, topology, rows_per_particle, |row, column, _| {
            places.push((column, row));
        });
        let mut unique = places.clone();
        unique.sort_unstable();
        unique.dedup();
        let mut column_starts = vec![0usize; n + 1];
        unique.iter().for_each(|&(column, _)| column_starts[column + 1] += 1);
        (0..n).for_each(|c| column_starts[c + 1] += column_starts[c]);
        let slots = places
            .iter()
            .map(|place| unique.binary_search(place).map_or(0, |slot| slot as u32))
            .collect();
        let rows: Vec<usize> = unique.iter().map(|&(_, row)| row).collect();
        let values = vec![0.0; rows.len()];
        let pattern = SymbolicSparseColMat::new_checked(n, n, column_starts, None, rows);
        let (ordering, parameters) = (Default::default(), Default::default());
        let symbolic =
            factorize_symbolic_cholesky(pattern.as_ref(), Side::Lower, ordering, parameters)
                .ok()?;
        let columns = 3 / rows_per_particle;
        let scratch = symbolic
            .factorize_numeric_llt_scratch::<f64>(FaerPar::Seq, Default::default())
            .or(symbolic.solve_in_place_scratch::<f64>(columns, FaerPar::Seq));
        Some(Self {
            rows_per_particle,
            pattern,
            slots,
            values,
            factor: vec![0.0; symbolic.len_val()],
            buffer: MemBuffer::try_new(scratch).ok()?,
            symbolic,
            rhs: vec![0.0; 3 * particle_count],
            free: Vec::new(),
            factored: false,
        })
    }

    /// Whether a factor for this set of free particles is at hand.
    pub fn is_current(&self, free: &[f32]) -> bool {
        self.factored && self.free == free
    }

    /// Forgets the factor, because the matrix changed.
    pub fn forget(&mut self) {
        self.factored = false;
    }

    /// Factors A over the free particles; false if it is not positive definite.
    pub fn factor(&mut self, system: &System, topology: &Topology, free: &[f32]) -> bool {
        self.values.fill(0.0);
        let k = self.rows_per_particle;
        let (values, slots) = (&mut self.values, &self.slots);
        let mut entry = 0;
        for_each_entry(system, topology, k, |row, column, value| {
            let (i, j) = (row / k, column / k);
            let value = if free[i] != 0.0 && free[j] != 0.0 {
                f64::from(value)
            } else {
                f64::from(u8::from(row == column))
            };
            values[slots[entry] as usize] += value;
            entry += 1;
        });
        self.free.clear();
        self.free.extend_from_slice(free);
        let matrix = SparseColMatRef::new(self.pattern.as_ref(), &self.values);
        self.factored = self
            .symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                matrix,
                Side::Lower,
                Default::default(),
                FaerPar::Seq,
                MemStack::new(&mut self.buffer),
                Default::default(),
            )
            .is_ok();
        self.factored
    }

    /// `x = A⁻¹ b` with the factor at hand.
    pub fn solve(&mut self, b: &[Vec3], x: &mut [Vec3]) {
        let n = b.len();
        let k = self.rows_per_particle;
        // Column-major: x, y, z columns of a scalar matrix, or one interleaved column.
        let place = |i: usize, axis: usize| if k == 1 { axis * n + i } else { 3 * i + axis };
        for (i, b) in b.iter().enumerate() {
            (0..3).for_each(|axis| self.rhs[place(i, axis)] = f64::from(b[axis]));
        }
        let rhs = MatMut::from_column_major_slice_mut(&mut self.rhs, n * k, 3 / k);
        LltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            rhs,
            FaerPar::Seq,
            MemStack::new(&mut self.buffer),
        );
        for (i, x) in x.iter_mut().enumerate() {
            *x = Vec3::from_array(std::array::from_fn(|axis| self.rhs[place(i, axis)] as f32));
        }
    }
}

/// Calls `entry(row, column, value)` for every contribution to the lower triangle of A.
fn for_each_entry(
    system: &System,
    topology: &Topology,
    k: usize,
    mut entry: impl FnMut(usize, usize, f32),
) {
    // Places of a symmetric block's six numbers.
    const FULL: [[usize; 3]; 3] = [[0, 3, 5], [3, 1, 4], [5, 4, 2]];
    for (i, block) in system.diagonal.iter().enumerate() {
        for r in 0..k {
            (0..=r).for_each(|c| entry(i * k + r, i * k + c, block.0[FULL[r][c]]));
        }
    }
    for (&[a, b], block) in topology.links.ends().iter().zip(&system.link_blocks) {
        let (i, j) = (a.max(b) as usize, a.min(b) as usize);
        for r in 0..k {
            (0..k).for_each(|c| entry(i * k + r, j * k + c, -block.0[FULL[r][c]]));
        }
    }
    for (element, particles) in topology.elements.iter().enumerate() {
        // With one row per particle the three axes are alike: the first term says it all.
        let terms = if k == 1 { 1 } else { system.parts };
        let terms = &system.elements[element * system.parts..][..terms];
        for p in 0..4 {
            for q in 0..p {
                let (p, q) = if particles[p] > particles[q] { (p, q) } else { (q, p) };
                let (i, j) = (particles[p] as usize, particles[q] as usize);
                for r in 0..k {
                    for c in 0..k {
                        let value = terms.iter().map(|t| t.scale * t.g[p][r] * t.g[q][c]).sum();
                        entry(i * k + r, j * k + c, value);
                    }
                }
            }
        }
    }
}
