//! Springs between two particles.
//!
//! ```text
//!   d = x_b − x_a,  r = |d|,  n = d / r,  L rest length, k stiffness
//!   linear         f_a = k (r − L) n                    Kang & Cho Eq. 9, Kim Eq. 1
//!   tension only   f_a = k max(r − L, 0) n              Choi & Ko, Kim Eq. 6
//! ```
//!
//! Both are `max(k (r − L), floor) n` with floor −∞ or 0. Every Jacobian model of the papers is
//!
//! ```text
//!   J = ∂f_a/∂x_b = along · n nᵀ + across · (I − n nᵀ)
//!
//!   exact      along = k       across = k (1 − L/r)            Kang & Cho Eq. 10 corrected, Kim Eq. 7
//!   psd        along = k       across = k max(1 − L/r, 0)      the geometric term kept, made semi-definite
//!   rank-one   along = k       across = 0                      Kang & Cho Eq. 11
//!   scalar     along = k       across = k                      Desbrun 1999, Kang 2000
//!   smoothed   as exact for r > L; along = k f, across = 0 for α L ≤ r ≤ L; else 0
//!              f = (r/L − α)/(1 − α), α = 0.8                  Kim Eq. 9 corrected
//! ```
//!
//! exact and psd are 0 where a tension-only spring is slack.

use crate::linalg::Sym3;
use crate::mesh::Links;
use crate::mesh::links::{CHUNK, PairKernel};
use crate::model::Springs;
use crate::par::{BLOCK, Par, larger, widest};
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Model of ∂f/∂x; formulas above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Jacobian {
    /// The derivative itself; indefinite when springs are compressed.
    Exact,
    /// The derivative with its negative part removed.
    Psd,
    /// k n nᵀ (Kang & Cho Eq. 11).
    RankOne,
    /// k I (Desbrun 1999, Kang 2000): a constant matrix.
    Scalar,
    /// Kim Eq. 9.
    Smoothed,
}

/// Kim's threshold α: below α L the smoothed Jacobian is zero.
pub const SMOOTHING_START: f32 = 0.8;

/// Distances below this fraction of the rest length count as zero: the direction is lost.
const COINCIDENT: f32 = 1e-6;

/// Pull between the ends, positive when stretched. [N]
#[inline(always)]
pub fn tension(k: f32, rest_length: f32, r: f32, floor: f32) -> f32 {
    larger(k * (r - rest_length), floor)
}

/// Elastic energy. [J]
pub fn energy(k: f32, rest_length: f32, r: f64, floor: f32) -> f64 {
    let stretch = r - f64::from(rest_length);
    let counted = if floor == 0.0 { stretch.max(0.0) } else { stretch };
    0.5 * f64::from(k) * counted * counted
}

/// (along, across) of a Jacobian model.
#[inline(always)]
pub fn stiffness(model: Jacobian, k: f32, rest_length: f32, r: f32, floor: f32) -> (f32, f32) {
    let slack = floor == 0.0 && r < rest_length;
    let shortest = larger(COINCIDENT * rest_length, f32::MIN_POSITIVE);
    let across = k * (1.0 - rest_length / larger(r, shortest));
    match model {
        Jacobian::Scalar => (k, k),
        Jacobian::RankOne => (k, 0.0),
        Jacobian::Exact if slack => (0.0, 0.0),
        Jacobian::Exact => (k, across),
        Jacobian::Psd if slack => (0.0, 0.0),
        Jacobian::Psd => (k, larger(across, 0.0)),
        Jacobian::Smoothed if r > rest_length => (k, across),
        Jacobian::Smoothed => {
            let f = (r / rest_length - SMOOTHING_START) / (1.0 - SMOOTHING_START);
            (k * f.clamp(0.0, 1.0), 0.0)
        }
    }
}

/// `along · n nᵀ + across · (I − n nᵀ)` for the direction of `d`.
pub fn block(along: f32, across: f32, d: Vec3) -> Sym3 {
    rank_one_update(across, (along - across) / d.length_squared().max(f32::MIN_POSITIVE), d)
}

/// `across · I + s · d dᵀ`.
#[inline(always)]
fn rank_one_update(across: f32, s: f32, d: Vec3) -> Sym3 {
    let e = s * d;
    Sym3([
        across + e.x * d.x,
        across + e.y * d.y,
        across + e.z * d.z,
        e.x * d.y,
        e.y * d.z,
        e.z * d.x,
    ])
}

/// Adds the spring forces.
pub fn add(
    total: &mut [Vec3],
    links: &Links,
    springs: &Springs,
    floors: &[f32],
    par: Par,
    x: &[Vec3],
) {
    let kernel = Pull {
        x: bytemuck::cast_slice(x),
        stiffness: &springs.stiffness,
        rest_length: &springs.rest_length,
        floors,
    };
    links.accumulate(par, total, &kernel);
}

struct Pull<'a> {
    x: &'a [f32],
    stiffness: &'a [f32],
    rest_length: &'a [f32],
    floors: &'a [f32],
}

impl PairKernel for Pull<'_> {
    // Three flat loops, each of which the compiler turns into vector code.
    #[inline(always)]
    fn eval(&self, a: usize, b: usize, link: usize, out: &mut [f32]) {
        let len = out.len() / 3;
        let (xa, xb) = (&self.x[3 * a..][..3 * len], &self.x[3 * b..][..3 * len]);
        let mut pulls = [0.0f32; CHUNK];
        let pulls = &mut pulls[..len];
        out.iter_mut().zip(xa).zip(xb).for_each(|((d, a), b)| *d = b - a);
        let constants = self.stiffness[link..][..len]
            .iter()
            .zip(&self.rest_length[link..][..len])
            .zip(&self.floors[link..][..len]);
        for ((pull, d), ((k, rest), floor)) in
            pulls.iter_mut().zip(out.chunks_exact(3)).zip(constants)
        {
            let r = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
            // Coincident ends have no direction: d is zero, and a finite factor keeps it zero.
            *pull = tension(*k, *rest, r, *floor) / larger(r, 1e-18);
        }
        for (d, pull) in out.chunks_exact_mut(3).zip(&*pulls) {
            d[0] *= pull;
            d[1] *= pull;
            d[2] *= pull;
        }
    }
}

/// Fills the block of every link: h² J of its Jacobian model plus h times its dampers.
#[allow(clippy::too_many_arguments)]
pub fn fill_blocks(
    blocks: &mut [Sym3],
    links: &Links,
    springs: &Springs,
    floors: &[f32],
    par: Par,
    jacobian: Jacobian,
    h: f32,
    x: &[Vec3],
) {
    par.blocks(blocks, |block, blocks| {
        let first = block * BLOCK;
        widest(FillBlocks { blocks, first, links, springs, floors, jacobian, h, x });
    });
}

struct FillBlocks<'a> {
    /// Of the links from `first` on.
    blocks: &'a mut [Sym3],
    first: usize,
    links: &'a Links,
    springs: &'a Springs,
    floors: &'a [f32],
    jacobian: Jacobian,
    h: f32,
    x: &'a [Vec3],
}

impl FillBlocks<'_> {
    /// Undamped springs, the usual case, do not fetch their damping constants.
    #[inline(always)]
    fn fill(self, jacobian: Jacobian) {
        if self.springs.is_damped {
            self.fill_with::<true>(jacobian);
        } else {
            self.fill_with::<false>(jacobian);
        }
    }

    #[inline(always)]
    fn fill_with<const DAMPED: bool>(self, jacobian: Jacobian) {
        let Self { blocks, first, links, springs, floors, h, x, .. } = self;
        let mut between = [Vec3::ZERO; CHUNK];
        let mut terms = [(0.0f32, 0.0f32); CHUNK];
        for run in links.runs_within(first..first + blocks.len()) {
            let (a, b) = (run.a as usize, run.b as usize);
            let (link, len) = (run.link as usize, run.len as usize);
            for start in (0..len).step_by(CHUNK) {
                let n = (len - start).min(CHUNK);
                let (between, terms) = (&mut between[..n], &mut terms[..n]);
                let ends = x[a + start..][..n].iter().zip(&x[b + start..][..n]);
                between.iter_mut().zip(ends).for_each(|(d, (a, b))| *d = *b - *a);
                let constants = springs.stiffness[link + start..][..n]
                    .iter()
                    .zip(&springs.rest_length[link + start..][..n])
                    .zip(&floors[link + start..][..n]);
                // across and (along − across)/r² of each spring: the loop with the divisions.
                for (t, ((term, d), ((k, rest), floor))) in
                    terms.iter_mut().zip(&*between).zip(constants).enumerate()
                {
                    let squared = d.length_squared();
                    let k = h * h * k;
                    let (mut along, mut across) =
                        stiffness(jacobian, k, *rest, squared.sqrt(), *floor);
                    if DAMPED {
                        let relative = h * springs.relative_damping[link + start + t];
                        along += h * springs.damping[link + start + t] + relative;
                        across += relative;
                    }
                    *term = (across, (along - across) / larger(squared, f32::MIN_POSITIVE));
                }
                let blocks = &mut blocks[link + start - first..][..n];
                for ((out, d), (across, s)) in blocks.iter_mut().zip(&*between).zip(&*terms) {
                    *out = rank_one_update(*across, *s, *d);
                }
            }
        }
    }
}

impl pulp::NullaryFnOnce for FillBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        // The model is chosen outside the loop, so that each loop is compiled for its own.
        match self.jacobian {
            Jacobian::Exact => self.fill(Jacobian::Exact),
            Jacobian::Psd => self.fill(Jacobian::Psd),
            Jacobian::RankOne => self.fill(Jacobian::RankOne),
            Jacobian::Scalar => self.fill(Jacobian::Scalar),
            Jacobian::Smoothed => self.fill(Jacobian::Smoothed),
        }
    }
}
