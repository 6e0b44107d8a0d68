//! A symmetric matrix of 3×3 blocks, stored for vector units: eight rows at a time.
//!
//! ```text
//!   slice of rows r … r+7:   entry k:   blocks xx yy zz xy yz zx of the k-th neighbours, eight lanes each
//!                                       columns c … c+7, one load per component, or eight by index
//! ```
//!
//! Rows are numbered colour by colour. No two rows of a colour are joined by a *strong* link, so a
//! Gauss–Seidel sweep updates a colour at once; a *weak* link inside a colour (the far corners of a
//! hinge) is lagged, which a sweep may do as long as the diagonal counts it. On a grid a colour is a
//! lattice, and the neighbours of eight rows in sequence are in sequence too.
//!
//! A product is own_i x_i + Σ B_ij (x_i − x_j): summed up on the diagonal, stiff blocks would round away what
//! a row has of its own. Sweeps take the sum; they only have to come close.
//!
//! Vectors are three planes x, y, z of `size` numbers each, one after the other. Rows that pad a
//! colour to whole slices hold zeros.

use super::pattern::{LaneLists, NONE, Pattern, Vectors, load, planes, planes_mut};
use super::Sym3;
use crate::lanes::{LANES, Lanes};
use crate::par::{BLOCK, Par, widest};
use glam::{Mat4, Vec3, Vec4};
use std::ops::Range;

/// Six numbers of a symmetric block for eight rows.
type Blocks = [Lanes; 6];

/// For products that need no x_i.
const NOWHERE: Vectors = [[0.0; LANES]; 3];

/// The matrix.
#[derive(Clone, Debug, Default)]
pub struct Sliced {
    /// Where each row of the outside is.
    places: Vec<u32>,
    /// Which row of the outside is at each place, or [`NONE`].
    rows: Vec<u32>,
    /// Slices of each colour.
    colours: Vec<Range<usize>>,
    /// Links to rows of earlier colours, of the same, and of later ones: each sweep of a cycle reads some of them from
    /// one end to the other.
    earlier: Part,
    same: Part,
    later: Part,
    /// What the diagonal has beyond the links' blocks.
    own: Vec<Blocks>,
    inverse: Vec<Blocks>,
}

/// Some of each row's links: a block for each entry of a pattern.
#[derive(Clone, Debug, Default)]
struct Part {
    pattern: Pattern,
    blocks: Vec<Blocks>,
}

impl Part {
    /// Takes over link blocks.
    fn fill(&mut self, par: Par, links: [&[Sym3]; 2]) {
        let sources = self.pattern.sources();
        par.blocks(&mut self.blocks, |block, blocks| {
            let sources = &sources[block * BLOCK..][..blocks.len()];
            widest(Fill { blocks, sources, lists: links });
        });
    }

    /// Adds the blocks of a slice.
    #[inline(always)]
    fn add_blocks(&self, slice: usize, sum: &mut Blocks) {
        for block in &self.blocks[self.pattern.entries(slice)] {
            for (sum, block) in sum.iter_mut().zip(block) {
                for lane in 0..LANES {
                    sum[lane] += block[lane];
                }
            }
        }
    }

    /// Adds Σ B x_j for a slice, or Σ B (x_i − x_j) with x_i = `here`; `x` are the rows from `from` on.
    #[inline(always)]
    fn add_products<const FROM_HERE: bool>(
        &self,
        slice: usize,
        x: [&[f32]; 3],
        from: usize,
        here: &Vectors,
        sum: &mut Vectors,
    ) {
        self.pattern.each(
            slice,
            &self.blocks,
            x,
            from,
            #[inline(always)]
            |block, v| {
                let v = if FROM_HERE { difference(here, &v) } else { v };
                add(sum, &multiply(block, &v));
            },
        );
    }
}

impl Sliced {
    /// Storage for `n` rows joined by `links`; `strong` tells which of them colours must respect.
    pub fn new(n: usize, links: &[[u32; 2]], strong: &[bool]) -> Self {
        let mut neighbours: Vec<Vec<(u32, u32)>> = vec![Vec::new(); n];
        for (link, &[a, b]) in links.iter().enumerate() {
            neighbours[a as usize].push((b, link as u32));
            neighbours[b as usize].push((a, link as u32));
        }
        let colour = colours(&neighbours, strong);
        let count = colour.iter().max().map_or(0, |c| *c as usize + 1);
        let mut sliced = Self { places: vec![0; n], ..Self::default() };
        let mut rows: Vec<u32> = Vec::new();
        for c in 0..count {
            let first = rows.len() / LANES;
            rows.extend((0..n as u32).filter(|i| colour[*i as usize] == c as u32));
            rows.resize(rows.len().next_multiple_of(LANES), NONE);
            sliced.colours.push(first..rows.len() / LANES);
        }
        for (place, &row) in rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
            sliced.places[row as usize] = place as u32;
        }
        let size = rows.len();
        for slices in sliced.colours.clone() {
            let own = slices.start * LANES..slices.end * LANES;
            for rows in rows[own.clone()].chunks_exact(LANES) {
                let mut parts: [LaneLists; 3] = Default::default();
                for (lane, &row) in rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
                    for &(other, link) in &neighbours[row as usize] {
                        let part = colour[other as usize].cmp(&colour[row as usize]) as i8 + 1;
                        parts[part as usize][lane].push((sliced.places[other as usize], link));
                    }
                }
                // Sweeps have earlier and later rows apart from those of a colour.
                let ranges = [0..own.start, own.clone(), own.end..size];
                for ((part, lanes), range) in
                    sliced.parts_mut().into_iter().zip(&mut parts).zip(ranges)
                {
                    part.pattern.push(lanes, range);
                }
            }
        }
        sliced.rows = rows;
        for part in sliced.parts_mut() {
            part.blocks = vec![[[0.0; LANES]; 6]; part.pattern.sources().len()];
        }
        sliced.own = vec![[[0.0; LANES]; 6]; size / LANES];
        sliced.inverse = sliced.own.clone();
        sliced
    }

    fn parts_mut(&mut self) -> [&mut Part; 3] {
        [&mut self.earlier, &mut self.same, &mut self.later]
    }

    /// Rows, padding included: the length of a plane.
    pub fn size(&self) -> usize {
        self.rows.len()
    }

    /// Where each row of the outside is in a plane.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Numbers a product reads.
    pub fn work(&self) -> f64 {
        let entries = [&self.earlier, &self.same, &self.later].map(|part| part.blocks.len());
        (entries.iter().sum::<usize>() + self.own.len()) as f64
    }

    /// Takes over what the diagonal has beyond the blocks of links, and these, by the numbers of the outside. Both are
    /// sums of two lists, which may end early. [`Sliced::invert`] ends it.
    pub fn fill(&mut self, par: Par, own: [&[Sym3]; 2], links: [&[Sym3]; 2]) {
        self.parts_mut().into_iter().for_each(|part| part.fill(par, links));
        let rows = &self.rows;
        par.blocks(&mut self.own, |block, own_blocks| {
            let first = block * BLOCK * LANES;
            let sources = rows[first..][..own_blocks.len() * LANES].as_chunks().0;
            widest(Fill { blocks: own_blocks, sources, lists: own });
        });
        let (mut inverse, matrix) = (std::mem::take(&mut self.inverse), &*self);
        par.blocks(&mut inverse, |block, out| {
            widest(SumDiagonal { matrix, first: block * BLOCK, out });
        });
        self.inverse = inverse;
    }

    /// Adds to a diagonal block before it is inverted.
    pub fn add_to_diagonal(&mut self, row: usize, more: Sym3) {
        let place = self.places[row] as usize;
        for (out, m) in self.inverse[place / LANES].iter_mut().zip(more.0) {
            out[place % LANES] += m;
        }
    }

    /// Inverts the diagonal blocks; a zero block holds its row.
    pub fn invert(&mut self, par: Par) {
        par.blocks(&mut self.inverse, |_, slices| widest(Invert(slices)));
    }

    /// `plane form = values`.
    pub fn take_in(&self, par: Par, values: &[Vec3], planes: &mut [f32]) {
        let (px, rest) = planes.split_at_mut(self.size());
        let (py, pz) = rest.split_at_mut(self.size());
        par.blocks3(px, py, pz, |block, px, py, pz| {
            let rows = &self.rows[block * BLOCK..];
            let planes = px.iter_mut().zip(py).zip(pz).zip(rows);
            for (((x, y), z), &row) in planes.filter(|(_, row)| **row != NONE) {
                [*x, *y, *z] = values[row as usize].to_array();
            }
        });
    }

    /// `values = plane form`.
    pub fn give_out(&self, par: Par, planes: &[f32], values: &mut [Vec3]) {
        let size = self.size();
        par.blocks(values, |block, values| {
            for (value, &place) in values.iter_mut().zip(&self.places[block * BLOCK..]) {
                let place = place as usize;
                *value = Vec3::new(planes[place], planes[size + place], planes[2 * size + place]);
            }
        });
    }

    /// `out = A x`.
    pub fn apply(&self, par: Par, x: &[f32], out: &mut [f32]) {
        self.run(par, &(0..self.own.len()), Job::Product(planes(x)), planes_mut(out));
    }

    /// One forward sweep from zero, colour by colour: x = (D + L)⁻¹ b.
    pub fn forward_from_zero(&self, par: Par, b: &[f32], x: &mut [f32]) {
        for slices in &self.colours {
            // All earlier rows come before those of this colour.
            let start = slices.start * LANES;
            let [(ex, px), (ey, py), (ez, pz)] = planes_mut(x).map(|x| x.split_at_mut(start));
            let job = Job::Forward { b: planes(b), earlier: [ex, ey, ez] };
            self.run(par, slices, job, [px, py, pz]);
        }
    }

    /// What is left of b after [`Sliced::forward_from_zero`]: −(U + W) x.
    pub fn left_by_forward(&self, par: Par, x: &[f32], r: &mut [f32]) {
        self.run(par, &(0..self.own.len()), Job::Left(planes(x)), planes_mut(r));
    }

    /// One backward sweep from the values `x` to `new`.
    pub fn backward(&self, par: Par, b: &[f32], x: &[f32], new: &mut [f32]) {
        for slices in self.colours.iter().rev() {
            let end = slices.end * LANES;
            let [(px, lx), (py, ly), (pz, lz)] = planes_mut(new).map(|x| x.split_at_mut(end));
            let job = Job::Backward { b: planes(b), x: planes(x), later: [lx, ly, lz], end };
            let start = slices.start * LANES;
            let out = [&mut px[start..], &mut py[start..], &mut pz[start..]];
            self.run(par, slices, job, out);
        }
    }

    /// Does a job for a range of slices, whose rows are the first of `out`.
    fn run(&self, par: Par, slices: &Range<usize>, job: Job<'_>, out: [&mut [f32]; 3]) {
        let rows = slices.len() * LANES;
        let [px, py, pz] = out;
        par.blocks3(&mut px[..rows], &mut py[..rows], &mut pz[..rows], |block, px, py, pz| {
            let first = slices.start + block * (BLOCK / LANES);
            widest(Slices { matrix: self, first, job, out: [px, py, pz] });
        });
    }

    /// The new values of eight rows.
    #[inline(always)]
    fn done(&self, slice: usize, job: Job<'_>) -> Vectors {
        let mut sum = NOWHERE;
        match job {
            Job::Product(x) => {
                let here = load(x, slice * LANES);
                self.earlier.add_products::<true>(slice, x, 0, &here, &mut sum);
                self.same.add_products::<true>(slice, x, 0, &here, &mut sum);
                self.later.add_products::<true>(slice, x, 0, &here, &mut sum);
                let mut all = multiply(&self.own[slice], &here);
                add(&mut all, &sum);
                all
            }
            Job::Left(x) => {
                self.same.add_products::<false>(slice, x, 0, &NOWHERE, &mut sum);
                self.later.add_products::<false>(slice, x, 0, &NOWHERE, &mut sum);
                sum
            }
            Job::Forward { b, earlier } => {
                self.earlier.add_products::<false>(slice, earlier, 0, &NOWHERE, &mut sum);
                add(&mut sum, &load(b, slice * LANES));
                multiply(&self.inverse[slice], &sum)
            }
            Job::Backward { b, x, later, end } => {
                self.earlier.add_products::<false>(slice, x, 0, &NOWHERE, &mut sum);
                self.same.add_products::<false>(slice, x, 0, &NOWHERE, &mut sum);
                self.later.add_products::<false>(slice, later, end, &NOWHERE, &mut sum);
                add(&mut sum, &load(b, slice * LANES));
                multiply(&self.inverse[slice], &sum)
            }
        }
    }
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

#[inline(always)]
fn multiply(m: &Blocks, v: &Vectors) -> Vectors {
    let [xx, yy, zz, xy, yz, zx] = m;
    let [x, y, z] = v;
    let mut out = [[0.0; LANES]; 3];
    for l in 0..LANES {
        out[0][l] = xx[l] * x[l] + xy[l] * y[l] + zx[l] * z[l];
        out[1][l] = xy[l] * x[l] + yy[l] * y[l] + yz[l] * z[l];
        out[2][l] = zx[l] * x[l] + yz[l] * y[l] + zz[l] * z[l];
    }
    out
}

#[inline(always)]
fn add(a: &mut Vectors, b: &Vectors) {
    for (a, b) in a.iter_mut().zip(b) {
        for l in 0..LANES {
            a[l] += b[l];
        }
    }
}

#[inline(always)]
fn difference(a: &Vectors, b: &Vectors) -> Vectors {
    let mut out = [[0.0; LANES]; 3];
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        for l in 0..LANES {
            out[l] = a[l] - b[l];
        }
    }
    out
}

/// Sums of two lists of blocks, either of which may end early, into lanes.
struct Fill<'a> {
    blocks: &'a mut [Blocks],
    sources: &'a [[u32; LANES]],
    lists: [&'a [Sym3]; 2],
}

impl pulp::NullaryFnOnce for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let [first, second] = self.lists;
        let halves_of = |list: &[Sym3], source: u32| {
            list.get(source as usize).map_or([Vec4::ZERO; 2], Sym3::halves)
        };
        for (entry, sources) in self.blocks.iter_mut().zip(self.sources) {
            for half in [0, LANES / 2] {
                let sum = |lane: usize| {
                    let source = sources[half + lane];
                    let ([a, b], [c, d]) = (halves_of(first, source), halves_of(second, source));
                    [a + c, b + d]
                };
                let rows = [sum(0), sum(1), sum(2), sum(3)];
                let lanes = |half: usize| {
                    let [a, b, c, d] = rows.map(|row| row[half]);
                    Mat4::from_cols(a, b, c, d).transpose()
                };
                let (low, high) = (lanes(0), lanes(1));
                let numbers =
                    [low.x_axis, low.y_axis, low.z_axis, low.w_axis, high.z_axis, high.w_axis];
                for (out, numbers) in entry.iter_mut().zip(numbers) {
                    numbers.write_to_slice(&mut out[half..half + LANES / 2]);
                }
            }
        }
    }
}

/// Diagonal blocks: what rows have of their own and the blocks of all their links.
struct SumDiagonal<'a> {
    matrix: &'a Sliced,
    first: usize,
    out: &'a mut [Blocks],
}

impl pulp::NullaryFnOnce for SumDiagonal<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { matrix, first, out } = self;
        for (k, out) in out.iter_mut().enumerate() {
            let mut sum = matrix.own[first + k];
            matrix.earlier.add_blocks(first + k, &mut sum);
            matrix.same.add_blocks(first + k, &mut sum);
            matrix.later.add_blocks(first + k, &mut sum);
            *out = sum;
        }
    }
}

/// What to compute.
#[derive(Clone, Copy)]
enum Job<'a> {
    /// A x.
    Product([&'a [f32]; 3]),
    /// −(U + W) x.
    Left([&'a [f32]; 3]),
    /// D⁻¹ (b + …) with what earlier rows have become.
    Forward { b: [&'a [f32]; 3], earlier: [&'a [f32]; 3] },
    /// D⁻¹ (b + …) with what earlier rows and those of the same colour were, and what `later` ones, from `end` on, have
    /// become.
    Backward { b: [&'a [f32]; 3], x: [&'a [f32]; 3], later: [&'a [f32]; 3], end: usize },
}

/// A stretch of slices for one thread.
struct Slices<'a> {
    matrix: &'a Sliced,
    first: usize,
    job: Job<'a>,
    out: [&'a mut [f32]; 3],
}

impl Slices<'_> {
    #[inline(always)]
    fn each(self, job: Job<'_>) {
        let [px, py, pz] = self.out;
        let out = px.chunks_exact_mut(LANES).zip(py.chunks_exact_mut(LANES));
        for (k, ((px, py), pz)) in out.zip(pz.chunks_exact_mut(LANES)).enumerate() {
            let value = self.matrix.done(self.first + k, job);
            px.copy_from_slice(&value[0]);
            py.copy_from_slice(&value[1]);
            pz.copy_from_slice(&value[2]);
        }
    }
}

impl pulp::NullaryFnOnce for Slices<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        // Chosen outside the loop, so that each loop is compiled for its own.
        match self.job {
            Job::Product(x) => self.each(Job::Product(x)),
            Job::Left(x) => self.each(Job::Left(x)),
            Job::Forward { b, earlier } => self.each(Job::Forward { b, earlier }),
            Job::Backward { b, x, later, end } => self.each(Job::Backward { b, x, later, end }),
        }
    }
}

/// Inverts diagonal blocks; zero where the block is zero.
struct Invert<'a>(&'a mut [Blocks]);

impl pulp::NullaryFnOnce for Invert<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for out in self.0 {
            let d = *out;
            let mut doubtful = [false; LANES];
            for l in 0..LANES {
                let m: [f64; 6] = std::array::from_fn(|k| f64::from(d[k][l]));
                let [xx, yy, zz, xy, yz, xz] = m;
                let (cxx, cxy, cxz) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
                let det = xx * cxx + xy * cxy + xz * cxz;
                let minor = xx * yy - xy * xy;
                doubtful[l] = !((xx > 0.0) & (minor > 0.0) & (det > 0.0));
                let s = 1.0 / det;
                let (cyy, cyz) = (xx * zz - xz * xz, xy * xz - xx * yz);
                let values = [cxx, cyy, minor, cxy, cyz, cxz];
                for (out, value) in out.iter_mut().zip(values) {
                    out[l] = (value * s) as f32;
                }
            }
            if doubtful.contains(&true) {
                for l in (0..LANES).filter(|l| doubtful[*l]) {
                    let m = Sym3(std::array::from_fn(|k| d[k][l]));
                    let inverse = if m == Sym3::ZERO { m } else { m.inverse() };
                    for (out, value) in out.iter_mut().zip(inverse.0) {
                        out[l] = value;
                    }
                }
            }
        }
    }
}
