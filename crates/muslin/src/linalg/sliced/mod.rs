//! A symmetric matrix of 3×3 blocks, stored for vector units: eight rows at a time.
//!
//! ```text
//!   slice of rows r … r+7:   entry k:   blocks xx yy zz xy yz zx of the k-th neighbours, eight lanes each
//!                                       columns c … c+7, one load per component, or eight by index
//! ```
//!
//! Rows are cut into *strips* of some thousand in sequence, a strip's rows numbered colour by colour. No two rows of a
//! colour are joined by a *strong* link, so that eight rows can be computed at once. On a grid a colour is a lattice, and
//! the neighbours of eight rows in sequence are in sequence too.
//!
//! A = D + L + U + W: L are the links to earlier rows of the strip, U those to later ones, W those *beside*: to other
//! strips, and to rows of the same colour (the far corners of a hinge) that are less than `NEAR` away. L and U, nearly
//! all links, are stored once, at the later row: a sweep or product takes from earlier rows what it needs and adds to
//! them what they are due. W is stored at both ends and lagged by sweeps, which is safe as long as D counts it. So
//! strips do not wait for each other: one thread each.
//!
//! A product is own_i x_i + Σ B_ij (x_i − x_j): summed up on the diagonal, stiff blocks would round away what
//! a row has of its own. Sweeps take the sum; they only have to come close.
//!
//! Vectors are strip after strip, each as three planes x, y, z of `stride` numbers. Rows that pad a colour to whole
//! slices, and a strip to the length of the others, hold zeros.

mod kernels;
#[cfg(test)]
mod tests;

use super::Sym3;
use super::pattern::{LaneLists, NONE, Pattern, Vectors};
use crate::lanes::{LANES, Lanes};
use crate::par::{BLOCK, Par, widest};
use glam::Vec3;
use kernels::{AddBeside, Backward, Fill, Forward, Invert, Product, add, multiply};

/// Rows of a strip at least, where there are so many: few are at an end, and large cloth has strips for many threads.
const STRIP: usize = 6400;

/// Rows of one colour that are nearer are not told of each other in a sweep, which would wait for each slice.
const NEAR: u32 = 4 * LANES as u32;

/// Six numbers of a symmetric block for eight rows.
type Blocks = [Lanes; 6];

/// The matrix.
#[derive(Clone, Debug, Default)]
pub struct Sliced {
    /// Where the x of each row of the outside is in a vector.
    places: Vec<u32>,
    /// Rows of a strip, padding included.
    stride: usize,
    strips: Vec<Strip>,
}

/// What one thread sweeps.
#[derive(Clone, Debug, Default)]
struct Strip {
    /// Which row of the outside each row is, or [`NONE`].
    rows: Vec<u32>,
    /// Links to earlier rows of the strip.
    inner: Part,
    /// Links to near rows of the same colour and to other strips, from both ends.
    beside: Part,
    /// What the diagonal has beyond the links' blocks.
    own: Vec<Blocks>,
    /// The diagonal, as six planes.
    diagonal: Vec<f32>,
    inverse: Vec<Blocks>,
}

/// Some of each row's links: a block for each entry of a pattern.
#[derive(Clone, Debug, Default)]
struct Part {
    pattern: Pattern,
    blocks: Vec<Blocks>,
}

impl Part {
    /// Adds Σ B x_j for a slice.
    #[inline(always)]
    fn add_products<const BACK: bool>(&self, slice: usize, x: [&[f32]; 3], sum: &mut Vectors) {
        self.pattern.each::<_, BACK>(
            slice,
            &self.blocks,
            x,
            #[inline(always)]
            |block, v| add(sum, &multiply(block, &v)),
        );
    }

    /// Adds B x_i to each row that a slice is linked to; `x` are the x_i.
    #[inline(always)]
    fn spread_products(&self, slice: usize, x: &Vectors, out: &mut [&mut [f32]; 3]) {
        self.pattern.spread(
            slice,
            &self.blocks,
            out,
            #[inline(always)]
            |block| multiply(block, x),
        );
    }
}

impl Sliced {
    /// Storage for `n` rows joined by `links`; `strong` tells which of them colours must respect.
    pub fn new(n: usize, links: &[[u32; 2]], strong: &[bool]) -> Self {
        Self::in_strips((n / STRIP).max(1), n, links, strong)
    }

    fn in_strips(strips: usize, n: usize, links: &[[u32; 2]], strong: &[bool]) -> Self {
        let mut neighbours: Vec<Vec<(u32, u32)>> = vec![Vec::new(); n];
        for (link, &[a, b]) in links.iter().enumerate() {
            neighbours[a as usize].push((b, link as u32));
            neighbours[b as usize].push((a, link as u32));
        }
        let colour = colours(&neighbours, strong);
        let mut sliced = Self::numbered(strips, &colour);
        let (size, stride) = (sliced.vector_len(), sliced.stride);
        let places = &sliced.places;
        for (k, strip) in sliced.strips.iter_mut().enumerate() {
            let own = 3 * k * stride..3 * (k + 1) * stride;
            for eight in strip.rows.chunks_exact(LANES) {
                let mut inner: LaneLists = Default::default();
                let mut beside: LaneLists = Default::default();
                for (lane, &row) in eight.iter().enumerate().filter(|(_, row)| **row != NONE) {
                    let (row, here) = (row as usize, places[row as usize]);
                    for &(other, link) in &neighbours[row] {
                        let (other, there) = (other as usize, places[other as usize]);
                        let near = here.abs_diff(there) < NEAR && colour[other] == colour[row];
                        if near || !own.contains(&(there as usize)) {
                            beside[lane].push((there, link));
                        } else if there < here {
                            inner[lane].push((there - own.start as u32, link));
                        }
                    }
                }
                strip.inner.pattern.push(&mut inner, stride);
                strip.beside.pattern.push(&mut beside, size - 2 * stride);
            }
            for part in [&mut strip.inner, &mut strip.beside] {
                part.blocks = vec![[[0.0; LANES]; 6]; part.pattern.sources().len()];
            }
            strip.own = vec![[[0.0; LANES]; 6]; stride / LANES];
            strip.inverse = strip.own.clone();
            strip.diagonal = vec![0.0; 6 * stride];
        }
        sliced
    }

    /// Where rows are: cut into strips, and colour by colour in each.
    fn numbered(strips: usize, colour: &[u32]) -> Self {
        let n = colour.len();
        let count = colour.iter().max().map_or(0, |c| c + 1);
        let mut sliced = Self { places: vec![0; n], ..Self::default() };
        for k in 0..strips {
            let own = (k * n).div_ceil(strips)..((k + 1) * n).div_ceil(strips);
            let mut rows = Vec::new();
            for c in 0..count {
                rows.extend(own.clone().filter(|i| colour[*i] == c).map(|i| i as u32));
                rows.resize(rows.len().next_multiple_of(LANES), NONE);
            }
            sliced.stride = sliced.stride.max(rows.len());
            sliced.strips.push(Strip { rows, ..Strip::default() });
        }
        let stride = sliced.stride;
        for (k, strip) in sliced.strips.iter_mut().enumerate() {
            strip.rows.resize(stride, NONE);
            for (i, &row) in strip.rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
                sliced.places[row as usize] = (3 * k * stride + i) as u32;
            }
        }
        sliced
    }

    /// Length of a vector, padding included.
    pub fn vector_len(&self) -> usize {
        3 * self.stride * self.strips.len()
    }

    /// From the x of a row to its y and from there to its z; three of them are a strip.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Where the x of each row of the outside is in a vector.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Which row of the outside each row is, strip after strip, or `u32::MAX`.
    pub fn rows(&self) -> impl Iterator<Item = u32> {
        self.strips.iter().flat_map(|strip| strip.rows.iter().copied())
    }

    /// Blocks a product reads.
    pub fn work(&self) -> f64 {
        let blocks =
            |strip: &Strip| strip.inner.blocks.len() + strip.beside.blocks.len() + strip.own.len();
        self.strips.iter().map(blocks).sum::<usize>() as f64
    }

    /// Takes over what the diagonal has beyond the blocks of links, and these, by the numbers of the outside. Both are
    /// sums of two lists, which may end early. [`Sliced::invert`] ends it.
    pub fn fill(&mut self, par: Par, own: [&[Sym3]; 2], links: [&[Sym3]; 2]) {
        par.each(&mut self.strips, |_, strip| widest(Fill { strip, own, links }));
    }

    /// Adds to a diagonal block before it is inverted.
    pub fn add_to_diagonal(&mut self, row: usize, more: Sym3) {
        let (place, stride) = (self.places[row] as usize, self.stride);
        let diagonal = &mut self.strips[place / (3 * stride)].diagonal;
        for (plane, m) in diagonal.chunks_exact_mut(stride).zip(more.0) {
            plane[place % (3 * stride)] += m;
        }
    }

    /// Inverts the diagonal blocks; a zero block holds its row.
    pub fn invert(&mut self, par: Par) {
        par.each(&mut self.strips, |_, strip| widest(Invert(strip)));
    }

    /// Sets a vector to the values of the rows of the outside.
    pub fn set(&self, par: Par, vector: &mut [f32], value: impl Fn(usize) -> [f32; 3] + Sync) {
        self.each_strip(par, vector, |k, [px, py, pz]| {
            let places = px.iter_mut().zip(py).zip(pz).zip(&self.strips[k].rows);
            for (((x, y), z), &row) in places.filter(|(_, row)| **row != NONE) {
                [*x, *y, *z] = value(row as usize);
            }
        });
    }

    /// `values = vector`.
    pub fn give_out(&self, par: Par, vector: &[f32], values: &mut [Vec3]) {
        let stride = self.stride;
        par.blocks(values, |block, values| {
            for (value, &place) in values.iter_mut().zip(&self.places[block * BLOCK..]) {
                let x = place as usize;
                *value = Vec3::new(vector[x], vector[x + stride], vector[x + 2 * stride]);
            }
        });
    }

    /// Calls `work(strip, planes)` for each strip of a vector.
    pub fn each_strip(
        &self,
        par: Par,
        vector: &mut [f32],
        work: impl Fn(usize, [&mut [f32]; 3]) + Sync,
    ) {
        par.pieces(3 * self.stride, vector, |k, vector| work(k, planes_mut(vector)));
    }

    /// `out = A x`.
    pub fn apply(&self, par: Par, x: &[f32], out: &mut [f32]) {
        self.each_strip(par, out, |k, out| {
            let (x, everywhere) = (self.strip(k, x), self.planes(x));
            widest(Product { strip: &self.strips[k], x, everywhere, out });
        });
    }

    /// One forward sweep from zero: x = (D + L)⁻¹ b, and what is left of b: r = −(U + W) x.
    pub fn forward_from_zero(&self, par: Par, b: &[f32], x: &mut [f32], r: &mut [f32]) {
        par.pieces2(3 * self.stride, x, r, |k, x, r| {
            let (b, x, r) = (self.strip(k, b), planes_mut(x), planes_mut(r));
            widest(Forward { strip: &self.strips[k], b, x, r });
        });
        let x = self.planes(x);
        self.each_strip(par, r, |k, r| {
            widest(AddBeside { strip: &self.strips[k], b: None, x, r });
        });
    }

    /// What a backward sweep starts with: r = b − W x.
    pub fn before_backward(&self, par: Par, b: &[f32], x: &[f32], r: &mut [f32]) {
        let x = self.planes(x);
        self.each_strip(par, r, |k, r| {
            let b = Some(self.strip(k, b));
            widest(AddBeside { strip: &self.strips[k], b, x, r });
        });
    }

    /// One backward sweep: x = (D + U)⁻¹ (r − L x). Then r has no meaning.
    pub fn backward(&self, par: Par, r: &mut [f32], x: &mut [f32]) {
        par.pieces2(3 * self.stride, x, r, |k, x, r| {
            widest(Backward { strip: &self.strips[k], x: planes_mut(x), r: planes_mut(r) });
        });
    }

    /// The planes of a strip.
    fn strip<'a>(&self, strip: usize, vector: &'a [f32]) -> [&'a [f32]; 3] {
        let first = strip * 3 * self.stride;
        [0, 1, 2].map(|plane| &vector[first + plane * self.stride..][..self.stride])
    }

    /// The planes of all strips: the place of an x is that of its y in the second and of its z in the third.
    pub fn planes<'a>(&self, vector: &'a [f32]) -> [&'a [f32]; 3] {
        let size = vector.len() - 2 * self.stride;
        [0, 1, 2].map(|plane| &vector[plane * self.stride..][..size])
    }
}

/// The planes of a strip that is written.
fn planes_mut(strip: &mut [f32]) -> [&mut [f32]; 3] {
    let (px, rest) = strip.split_at_mut(strip.len() / 3);
    let (py, pz) = rest.split_at_mut(px.len());
    [px, py, pz]
}

/// The smallest colour no strongly linked row before has.
fn colours(neighbours: &[Vec<(u32, u32)>], strong: &[bool]) -> Vec<u32> {
    let mut colour = vec![NONE; neighbours.len()];
    let mut used: Vec<u32> = Vec::new();
    for (i, list) in neighbours.iter().enumerate() {
        used.clear();
        let strong = list.iter().filter(|(_, link)| strong[*link as usize]);
        used.extend(strong.map(|(other, _)| colour[*other as usize]));
        colour[i] = (0..).find(|c| !used.contains(c)).unwrap_or(0);
    }
    colour
}
