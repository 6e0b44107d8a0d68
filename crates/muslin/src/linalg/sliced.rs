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

use super::Sym3;
use super::pattern::{LaneLists, NONE, Pattern, Vectors, load, planes};
use crate::lanes::{LANES, Lanes};
use crate::par::{BLOCK, Par, widest};
use glam::Vec3;
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
    /// Links to rows of earlier colours, and to those of the same and of later ones: each sweep of a cycle reads one
    /// of them from one end to the other.
    earlier: Half,
    later: Half,
    /// What the diagonal has beyond the links' blocks.
    own: Vec<Blocks>,
    inverse: Vec<Blocks>,
    /// New values of a colour.
    new: Vec<f32>,
}

/// Some of each row's links: a block for each entry of a pattern.
#[derive(Clone, Debug, Default)]
struct Half {
    pattern: Pattern,
    blocks: Vec<Blocks>,
}

impl Half {
    /// Takes over link blocks.
    fn fill(&mut self, par: Par, links: &[Sym3]) {
        let sources = self.pattern.sources();
        par.blocks(&mut self.blocks, |block, blocks| {
            for (entry, sources) in blocks.iter_mut().zip(&sources[block * BLOCK..]) {
                for (lane, &link) in sources.iter().enumerate().filter(|(_, l)| **l != NONE) {
                    for (out, m) in entry.iter_mut().zip(links[link as usize].0) {
                        out[lane] = m;
                    }
                }
            }
        });
    }

    /// Adds Σ B x_j for a slice, or Σ B (x_i − x_j) with x_i = `here`.
    #[inline(always)]
    fn add_products<const FROM_HERE: bool>(
        &self,
        slice: usize,
        x: [&[f32]; 3],
        here: &Vectors,
        sum: &mut Vectors,
    ) {
        self.pattern.each(
            slice,
            x,
            #[inline(always)]
            |entry, v| {
                let v = if FROM_HERE { difference(here, &v) } else { v };
                add(sum, &multiply(&self.blocks[entry], &v));
            },
        );
    }
}

/// Which entries a product takes.
#[derive(Clone, Copy)]
enum Part {
    Earlier,
    All,
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
        for rows in rows.chunks_exact(LANES) {
            let (mut earlier, mut later): (LaneLists, LaneLists) = Default::default();
            for (lane, &row) in rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
                for &(other, link) in &neighbours[row as usize] {
                    let before = colour[other as usize] < colour[row as usize];
                    let list = if before { &mut earlier[lane] } else { &mut later[lane] };
                    list.push((sliced.places[other as usize], link));
                }
            }
            sliced.earlier.pattern.push(&mut earlier, size);
            sliced.later.pattern.push(&mut later, size);
        }
        sliced.rows = rows;
        for half in [&mut sliced.earlier, &mut sliced.later] {
            half.blocks = vec![[[0.0; LANES]; 6]; half.pattern.sources().len()];
        }
        sliced.own = vec![[[0.0; LANES]; 6]; size / LANES];
        sliced.inverse = sliced.own.clone();
        sliced.new = vec![0.0; 3 * size];
        sliced
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
        (self.earlier.blocks.len() + self.later.blocks.len() + self.own.len()) as f64
    }

    /// Takes over link and diagonal blocks, given by the numbers of the outside. A zero diagonal block
    /// holds its row.
    pub fn fill(&mut self, par: Par, diagonal: &[Sym3], links: &[Sym3]) {
        self.earlier.fill(par, links);
        self.later.fill(par, links);
        let rows = &self.rows;
        par.blocks(&mut self.inverse, |block, slices| {
            into_lanes(&rows[block * BLOCK * LANES..], diagonal, slices);
            widest(Invert(slices));
        });
    }

    /// Takes over what the diagonal blocks have beyond the links' blocks: what a product needs.
    pub fn fill_own(&mut self, par: Par, own: &[Sym3]) {
        let rows = &self.rows;
        par.blocks(&mut self.own, |block, slices| {
            into_lanes(&rows[block * BLOCK * LANES..], own, slices);
        });
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
        self.run(par, 0..self.own.len(), Job::Product, x, out);
    }

    /// One forward sweep from zero, colour by colour: x = (D + L)⁻¹ b.
    pub fn forward_from_zero(&mut self, par: Par, b: &[f32], x: &mut [f32]) {
        self.sweep(par, b, x, Part::Earlier, false);
    }

    /// What is left of b after [`Sliced::forward_from_zero`]: −(U + W) x.
    pub fn left_by_forward(&self, par: Par, x: &[f32], r: &mut [f32]) {
        self.run(par, 0..self.own.len(), Job::Left, x, r);
    }

    /// One backward sweep from the current values.
    pub fn backward(&mut self, par: Par, b: &[f32], x: &mut [f32]) {
        self.sweep(par, b, x, Part::All, true);
    }

    fn sweep(&mut self, par: Par, b: &[f32], x: &mut [f32], part: Part, reversed: bool) {
        let size = self.size();
        let mut new = std::mem::take(&mut self.new);
        let count = self.colours.len();
        for c in 0..count {
            let slices = self.colours[if reversed { count - 1 - c } else { c }].clone();
            let rows = slices.len() * LANES;
            let first = slices.start * LANES;
            self.run(par, slices, Job::Relax(part, b), x, &mut new[..3 * rows]);
            for plane in 0..3 {
                x[plane * size + first..][..rows].copy_from_slice(&new[plane * rows..][..rows]);
            }
        }
        self.new = new;
    }

    /// Does a job for a range of slices; the planes of `out` have a place for each of them.
    fn run(&self, par: Par, slices: Range<usize>, job: Job<'_>, x: &[f32], out: &mut [f32]) {
        let rows = slices.len() * LANES;
        let (px, rest) = out.split_at_mut(rows);
        let (py, pz) = rest.split_at_mut(rows);
        par.blocks3(px, py, &mut pz[..rows], |block, px, py, pz| {
            let first = slices.start + block * (BLOCK / LANES);
            widest(Slices { matrix: self, first, job, x, out: [px, py, pz] });
        });
    }

    /// The new values of eight rows.
    #[inline(always)]
    fn done(&self, slice: usize, job: Job<'_>, x: [&[f32]; 3]) -> Vectors {
        match job {
            Job::Product => {
                let here = load(x, slice * LANES);
                let mut sum = NOWHERE;
                self.earlier.add_products::<true>(slice, x, &here, &mut sum);
                self.later.add_products::<true>(slice, x, &here, &mut sum);
                let mut all = multiply(&self.own[slice], &here);
                add(&mut all, &sum);
                all
            }
            Job::Left => {
                let mut sum = NOWHERE;
                self.later.add_products::<false>(slice, x, &NOWHERE, &mut sum);
                sum
            }
            Job::Relax(part, b) => {
                let mut sum = NOWHERE;
                self.earlier.add_products::<false>(slice, x, &NOWHERE, &mut sum);
                if let Part::All = part {
                    self.later.add_products::<false>(slice, x, &NOWHERE, &mut sum);
                }
                add(&mut sum, &load(planes(b), slice * LANES));
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

/// Blocks by the numbers of the outside, put where their rows are.
fn into_lanes(rows: &[u32], blocks: &[Sym3], slices: &mut [Blocks]) {
    for (slice, rows) in slices.iter_mut().zip(rows.chunks_exact(LANES)) {
        for (lane, &row) in rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
            for (out, m) in slice.iter_mut().zip(blocks[row as usize].0) {
                out[lane] = m;
            }
        }
    }
}

/// What to compute.
#[derive(Clone, Copy)]
enum Job<'a> {
    /// A x.
    Product,
    /// −(U + W) x.
    Left,
    /// D⁻¹ (b − the other terms).
    Relax(Part, &'a [f32]),
}

/// A stretch of slices for one thread.
struct Slices<'a> {
    matrix: &'a Sliced,
    first: usize,
    job: Job<'a>,
    x: &'a [f32],
    out: [&'a mut [f32]; 3],
}

impl Slices<'_> {
    #[inline(always)]
    fn each(self, job: Job<'_>) {
        let [px, py, pz] = self.out;
        let x = planes(self.x);
        let out = px.chunks_exact_mut(LANES).zip(py.chunks_exact_mut(LANES));
        for (k, ((px, py), pz)) in out.zip(pz.chunks_exact_mut(LANES)).enumerate() {
            let value = self.matrix.done(self.first + k, job, x);
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
            Job::Product => self.each(Job::Product),
            Job::Left => self.each(Job::Left),
            Job::Relax(Part::Earlier, b) => self.each(Job::Relax(Part::Earlier, b)),
            Job::Relax(Part::All, b) => self.each(Job::Relax(Part::All, b)),
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
