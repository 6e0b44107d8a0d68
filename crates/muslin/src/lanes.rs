//! Vectors eight at a time, by component: loops over the lanes become vector code.

use glam::Vec3;

/// Numbers at a time.
pub const LANES: usize = 8;

/// Eight numbers.
pub type Lanes = [f32; LANES];

/// Eight vectors.
#[derive(Clone, Copy, Debug)]
pub struct Vectors(pub [Lanes; 3]);

impl Vectors {
    /// All zero.
    pub const ZERO: Self = Self([[0.0; LANES]; 3]);

    /// Those at eight places of a list.
    #[inline(always)]
    pub fn gather(from: &[Vec3], places: &[u32; LANES]) -> Self {
        let mut out = Self::ZERO;
        for lane in 0..LANES {
            out.set(lane, from[places[lane] as usize]);
        }
        out
    }

    /// One of them.
    #[inline(always)]
    pub fn at(&self, lane: usize) -> Vec3 {
        Vec3::new(self.0[0][lane], self.0[1][lane], self.0[2][lane])
    }

    /// Replaces one of them.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, v: Vec3) {
        (self.0[0][lane], self.0[1][lane], self.0[2][lane]) = (v.x, v.y, v.z);
    }

    /// Puts them at eight places of a list.
    #[inline(always)]
    pub fn scatter(&self, places: &[u32; LANES], to: &mut [Vec3]) {
        for lane in 0..LANES {
            to[places[lane] as usize] = self.at(lane);
        }
    }
}
