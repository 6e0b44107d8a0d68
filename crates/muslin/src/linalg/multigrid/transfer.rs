//! The way between a level and the next.

use crate::lanes::{LANES, Lanes};
use crate::linalg::pattern::{LaneLists, NONE, Pattern, Vectors, load};
use crate::linalg::sliced::Sliced;
use crate::mesh::Interpolation;
use crate::par::{BLOCK, Par, widest};

/// Interpolation and its transpose. Coarse vectors are read and written in the order of the nodes, in which the
/// neighbours of a grid's fine rows are in sequence, and brought from there to the order of the coarse matrix.
#[derive(Clone, Debug)]
pub struct Transfer {
    prolong: Weights,
    restrict: Weights,
    /// Planes by node, filled up to whole slices.
    by_node: [Vec<f32>; 3],
}

impl Transfer {
    /// From rows of weights by node, to vectors of the matrices `fine` and `coarse`.
    pub fn new(weights: &Interpolation, fine: &Sliced, coarse: &Sliced) -> Self {
        let nodes = coarse.places().len().next_multiple_of(LANES);
        let mut prolong = vec![Vec::new(); fine.vector_len() / 3];
        let mut restrict = vec![Vec::new(); nodes];
        for (row, node) in fine.rows().enumerate().filter(|(_, node)| *node != NONE) {
            for &(k, weight) in weights.row(node as usize) {
                prolong[row].push((k, weight));
                restrict[k as usize].push((fine.places()[node as usize], weight));
            }
        }
        Self {
            prolong: Weights::new(&prolong, nodes),
            restrict: Weights::new(&restrict, fine.vector_len() - 2 * fine.stride()),
            by_node: [0; 3].map(|_| vec![0.0; nodes]),
        }
    }

    /// `to = Pᵀ from`.
    pub fn restrict(
        &mut self,
        par: Par,
        fine: &Sliced,
        from: &[f32],
        coarse: &Sliced,
        to: &mut [f32],
    ) {
        let (restrict, from) = (&self.restrict, fine.planes(from));
        let [x, y, z] = &mut self.by_node;
        par.blocks3(x, y, z, |block, x, y, z| {
            let first = block * (BLOCK / LANES);
            widest(Stretch { rows: restrict, first, from, add: false, out: [x, y, z] });
        });
        let [x, y, z] = &self.by_node;
        coarse.set(par, to, |node| [x[node], y[node], z[node]]);
    }

    /// `to += P from`.
    pub fn add_prolonged(
        &mut self,
        par: Par,
        coarse: &Sliced,
        from: &[f32],
        fine: &Sliced,
        to: &mut [f32],
    ) {
        let [x, y, z] = &mut self.by_node;
        let from = coarse.planes(from);
        par.blocks3(x, y, z, |block, x, y, z| {
            for (out, from) in [x, y, z].into_iter().zip(from) {
                let places = &coarse.places()[block * BLOCK..];
                out.iter_mut().zip(places).for_each(|(out, place)| *out = from[*place as usize]);
            }
        });
        let [x, y, z] = &self.by_node;
        let (prolong, from) = (&self.prolong, [&x[..], &y[..], &z[..]]);
        let slices = fine.stride() / LANES;
        fine.each_strip(par, to, |strip, out| {
            let first = strip * slices;
            widest(Stretch { rows: prolong, first, from, add: true, out });
        });
    }
}

/// Rows of weights.
#[derive(Clone, Debug)]
struct Weights {
    pattern: Pattern,
    weights: Vec<Lanes>,
}

impl Weights {
    /// From (column, weight) of each row, a whole number of slices; columns are below `size`.
    fn new(rows: &[Vec<(u32, f32)>], size: usize) -> Self {
        let (mut pattern, mut values) = (Pattern::default(), Vec::new());
        for rows in rows.chunks_exact(LANES) {
            let mut lanes: LaneLists = Default::default();
            for (lane, row) in lanes.iter_mut().zip(rows) {
                for &(column, weight) in row {
                    lane.push((column, values.len() as u32));
                    values.push(weight);
                }
            }
            pattern.push(&mut lanes, size);
        }
        let value = |source: &u32| if *source == NONE { 0.0 } else { values[*source as usize] };
        let weights = pattern.sources().iter().map(|lanes| lanes.each_ref().map(value)).collect();
        Self { pattern, weights }
    }
}

/// A stretch of slices for one thread.
struct Stretch<'a> {
    rows: &'a Weights,
    first: usize,
    from: [&'a [f32]; 3],
    add: bool,
    out: [&'a mut [f32]; 3],
}

impl pulp::NullaryFnOnce for Stretch<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let [px, py, pz] = self.out;
        let out = px.chunks_exact_mut(LANES).zip(py.chunks_exact_mut(LANES));
        for (k, ((px, py), pz)) in out.zip(pz.chunks_exact_mut(LANES)).enumerate() {
            let mut sum: Vectors = [[0.0; LANES]; 3];
            if self.add {
                sum = load([px, py, pz], 0);
            }
            self.rows.pattern.each::<_, false>(
                self.first + k,
                &self.rows.weights,
                self.from,
                #[inline(always)]
                |weights, v| {
                    for (sum, v) in sum.iter_mut().zip(&v) {
                        for lane in 0..LANES {
                            sum[lane] += weights[lane] * v[lane];
                        }
                    }
                },
            );
            px.copy_from_slice(&sum[0]);
            py.copy_from_slice(&sum[1]);
            pz.copy_from_slice(&sum[2]);
        }
    }
}
