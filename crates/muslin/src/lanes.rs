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
}

/// A list of vectors by component, with room for eight lanes behind the last.
#[derive(Clone, Debug)]
pub struct Planes(pub [Vec<f32>; 3]);

impl Planes {
    /// So many, all zero.
    pub fn new(count: usize) -> Self {
        Self([0; 3].map(|_| vec![0.0; count + LANES]))
    }

    /// One of them.
    pub fn at(&self, place: usize) -> Vec3 {
        Vec3::new(self.0[0][place], self.0[1][place], self.0[2][place])
    }

    /// Replaces one of them.
    pub fn set(&mut self, place: usize, v: Vec3) {
        (self.0[0][place], self.0[1][place], self.0[2][place]) = (v.x, v.y, v.z);
    }

    /// All of them, to be read.
    #[inline(always)]
    pub fn view(&self) -> [&[f32]; 3] {
        let [x, y, z] = &self.0;
        // Of one length, so that one check is enough.
        let size = x.len();
        [x, &y[..size], &z[..size]]
    }

    /// All of them, to be written.
    #[inline(always)]
    pub fn view_mut(&mut self) -> [&mut [f32]; 3] {
        let [x, y, z] = &mut self.0;
        let size = x.len();
        [x, &mut y[..size], &mut z[..size]]
    }
}

/// The vectors at eight places.
#[inline(always)]
pub fn take3<const RUN: bool>([x, y, z]: [&[f32]; 3], places: &[u32; LANES]) -> Vectors {
    Vectors([take::<RUN>(x, places), take::<RUN>(y, places), take::<RUN>(z, places)])
}

/// Puts vectors there.
#[inline(always)]
pub fn put3<const RUN: bool>(
    [x, y, z]: &mut [&mut [f32]; 3],
    places: &[u32; LANES],
    new: &Vectors,
) {
    put::<RUN>(x, places, &new.0[0]);
    put::<RUN>(y, places, &new.0[1]);
    put::<RUN>(z, places, &new.0[2]);
}

/// The numbers at eight places, which follow one another if it is a `RUN`.
#[inline(always)]
pub fn take<const RUN: bool>(plane: &[f32], places: &[u32; LANES]) -> Lanes {
    let mut eight = [0.0; LANES];
    if RUN {
        eight.copy_from_slice(&plane[places[0] as usize..][..LANES]);
    } else {
        for lane in 0..LANES {
            eight[lane] = plane[places[lane] as usize];
        }
    }
    eight
}

#[inline(always)]
fn put<const RUN: bool>(plane: &mut [f32], places: &[u32; LANES], new: &Lanes) {
    if RUN {
        plane[places[0] as usize..][..LANES].copy_from_slice(new);
    } else {
        for lane in 0..LANES {
            plane[places[lane] as usize] = new[lane];
        }
    }
}
