//! The way between a level and the next.

use crate::lanes::{LANES, Lanes};
use crate::linalg::pattern::{LaneLists, NONE, Pattern, Vectors, load, planes, planes_mut};
use crate::mesh::Interpolation;
use crate::par::{BLOCK, Par, widest};

/// Interpolation and its transpose. Coarse vectors are read and written in the order of the nodes, in which the
/// neighbours of a grid's fine rows are in sequence; `places` leads from there to the order of the coarse matrix.
#[derive(Clone, Debug)]
pub struct Transfer {
    prolong: Weights,
    restrict: Weights,
    places: Vec<u32>,
    /// Planes by node, filled up to whole slices.
    by_node: Vec<f32>,
}

impl Transfer {
    /// From rows of weights by node; `fine` and `coarse` are the places of nodes, `size` the number of fine places.
    pub fn new(rows: &Interpolation, fine: &[u32], coarse: &[u32], size: usize) -> Self {
        let nodes = coarse.len().next_multiple_of(LANES);
        let mut prolong = vec![Vec::new(); size];
        let mut restrict = vec![Vec::new(); nodes];
        for (i, &place) in fine.iter().enumerate() {
            for &(k, weight) in rows.row(i) {
                prolong[place as usize].push((k, weight));
                restrict[k as usize].push((place, weight));
            }
        }
        Self {
            prolong: Weights::new(&prolong, nodes),
            restrict: Weights::new(&restrict, size),
            places: coarse.to_vec(),
            by_node: vec![0.0; 3 * nodes],
        }
    }

    /// `coarse = Pᵀ fine`.
    pub fn restrict(&mut self, par: Par, fine: &[f32], coarse: &mut [f32]) {
        self.restrict.apply(par, fine, &mut self.by_node, false);
        let from = planes(&self.by_node);
        let size = coarse.len() / 3;
        for (plane, from) in coarse.chunks_exact_mut(size).zip(from) {
            self.places.iter().zip(from).for_each(|(place, value)| plane[*place as usize] = *value);
        }
    }

    /// `fine += P coarse`.
    pub fn add_prolonged(&mut self, par: Par, coarse: &[f32], fine: &mut [f32]) {
        let nodes = self.by_node.len() / 3;
        for (plane, from) in self.by_node.chunks_exact_mut(nodes).zip(planes(coarse)) {
            plane.iter_mut().zip(&self.places).for_each(|(to, place)| *to = from[*place as usize]);
        }
        self.prolong.apply(par, &self.by_node, fine, true);
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
            pattern.push(&mut lanes, 0..size);
        }
        let value = |source: &u32| if *source == NONE { 0.0 } else { values[*source as usize] };
        let weights = pattern.sources().iter().map(|lanes| lanes.each_ref().map(value)).collect();
        Self { pattern, weights }
    }

    /// `out = rows · from`, or added to it.
    fn apply(&self, par: Par, from: &[f32], out: &mut [f32], add: bool) {
        let [px, py, pz] = planes_mut(out);
        par.blocks3(px, py, pz, |block, px, py, pz| {
            let first = block * (BLOCK / LANES);
            widest(Stretch { rows: self, first, from, add, out: [px, py, pz] });
        });
    }
}

/// A stretch of slices for one thread.
struct Stretch<'a> {
    rows: &'a Weights,
    first: usize,
    from: &'a [f32],
    add: bool,
    out: [&'a mut [f32]; 3],
}

impl pulp::NullaryFnOnce for Stretch<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let [px, py, pz] = self.out;
        let from = planes(self.from);
        let out = px.chunks_exact_mut(LANES).zip(py.chunks_exact_mut(LANES));
        for (k, ((px, py), pz)) in out.zip(pz.chunks_exact_mut(LANES)).enumerate() {
            let mut sum: Vectors = [[0.0; LANES]; 3];
            if self.add {
                sum = load([px, py, pz], 0);
            }
            self.rows.pattern.each(
                self.first + k,
                &self.rows.weights,
                from,
                0,
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
