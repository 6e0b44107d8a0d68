//! Colours: linear light while drawing, sRGB bytes in files.

use glam::{Vec3, vec3};

/// Front colours of the cloths, in turn. sRGB.
const FRONTS: [[u8; 3]; 8] = [
    [214, 84, 72],   // poppy
    [44, 138, 150],  // teal
    [238, 178, 70],  // saffron
    [96, 108, 178],  // iris
    [118, 166, 104], // sage
    [206, 122, 162], // mallow
    [110, 92, 84],   // umber
    [86, 156, 206],  // sky
];

/// Pins and the rods between neighbouring pins.
pub const PIN: [u8; 3] = [58, 62, 74];

/// Bodies.
pub const BODY: [u8; 3] = [206, 204, 198];

/// Front and back of a cloth, in linear light. The back is darker and less saturated.
pub fn cloth(index: usize) -> (Vec3, Vec3) {
    let front = linear(FRONTS[index % FRONTS.len()]);
    let grey = Vec3::splat(front.dot(vec3(0.2126, 0.7152, 0.0722)));
    (front, 0.55 * front.lerp(grey, 0.12))
}

/// The scale of strain, from none to the last colour. sRGB.
pub const SCALE: [[u8; 3]; 5] =
    [[74, 108, 160], [86, 172, 180], [242, 208, 100], [230, 124, 54], [170, 28, 40]];

/// The colour of a share of the scale, in linear light.
pub fn scale(share: f32) -> Vec3 {
    let last = SCALE.len() - 1;
    let place = share.clamp(0.0, 1.0) * last as f32;
    let below = (place as usize).min(last - 1);
    linear(SCALE[below]).lerp(linear(SCALE[below + 1]), place - below as f32)
}

/// sRGB bytes to linear light.
pub fn linear(colour: [u8; 3]) -> Vec3 {
    let channel = |c: u8| {
        let c = f32::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    vec3(channel(colour[0]), channel(colour[1]), channel(colour[2]))
}

/// Linear light to sRGB bytes, by table: the power function would dominate the drawing time.
pub struct Encoder {
    table: Vec<u8>,
}

impl Encoder {
    const SIZE: usize = 8192;

    /// Builds the table.
    pub fn new() -> Self {
        let channel = |i: usize| {
            let c = i as f32 / (Self::SIZE - 1) as f32;
            let s = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
            (255.0 * s + 0.5) as u8
        };
        Self { table: (0..Self::SIZE).map(channel).collect() }
    }

    /// The bytes of a colour.
    pub fn encode(&self, colour: Vec3) -> [u8; 3] {
        let scaled = colour.clamp(Vec3::ZERO, Vec3::ONE) * (Self::SIZE - 1) as f32;
        scaled.to_array().map(|c| self.table[(c + 0.5) as usize])
    }
}
