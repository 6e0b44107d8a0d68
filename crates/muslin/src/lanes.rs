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

    /// Those at eight places.
    #[inline(always)]
    pub fn take<const RUN: bool>(&self, places: &[u32; LANES]) -> Vectors {
        let [x, y, z] = &self.0;
        Vectors([take::<RUN>(x, places), take::<RUN>(y, places), take::<RUN>(z, places)])
    }

    /// Puts vectors at the places of lanes that `count`: those with all bits set.
    #[inline(always)]
    pub fn put<const RUN: bool>(
        &mut self,
        places: &[u32; LANES],
        count: &[u32; LANES],
        new: &Vectors,
    ) {
        let [x, y, z] = &mut self.0;
        put::<RUN>(x, places, count, &new.0[0]);
        put::<RUN>(y, places, count, &new.0[1]);
        put::<RUN>(z, places, count, &new.0[2]);
    }
}

/// The numbers at eight places, which follow one another if it is a `RUN`.
#[inline(always)]
pub fn take<const RUN: bool>(plane: &[f32], places: &[u32; LANES]) -> Lanes {
    let mut eight = [0.0; LANES];
    if RUN {
        eight.copy_from_slice(&plane[places[0] as usize..][..LANES]);
    } else {
        (0..LANES).for_each(|lane| eight[lane] = plane[places[lane] as usize]);
    }
    eight
}

#[inline(always)]
fn put<const RUN: bool>(
    plane: &mut [f32],
    places: &[u32; LANES],
    count: &[u32; LANES],
    new: &Lanes,
) {
    if RUN {
        let eight = &mut plane[places[0] as usize..][..LANES];
        for lane in 0..LANES {
            let bits = (new[lane].to_bits() & count[lane]) | (eight[lane].to_bits() & !count[lane]);
            eight[lane] = f32::from_bits(bits);
        }
    } else {
        (0..LANES).for_each(|lane| plane[places[lane] as usize] = new[lane]);
    }
}
