//! Binary messages: topology and frames, as `PROTOCOL.md` lays them out.

use glam::Vec3;
use muslin::{Model, State};

/// Strain at which the strain byte is full.
const FULL_STRAIN: f32 = 0.2;

fn words(kind: u32, numbers: impl Iterator<Item = u32>) -> Vec<u8> {
    std::iter::once(kind).chain(numbers).flat_map(u32::to_le_bytes).collect()
}

/// Corners of every triangle.
pub fn triangles(model: &Model) -> Vec<u8> {
    let count = std::iter::once(model.triangles.len() as u32);
    words(1, count.chain(model.triangles.iter().flatten().copied()))
}

/// Ends of every structural spring.
pub fn edges(model: &Model) -> Vec<u8> {
    let structural = model.topology.links.ends().iter().zip(&model.springs.structural);
    let ends: Vec<u32> = structural.filter(|(_, s)| **s).flat_map(|(ends, _)| *ends).collect();
    words(2, std::iter::once(ends.len() as u32 / 2).chain(ends))
}

/// Ends of the springs that are not structural: first those that carry stretch across (shear and the like), then
/// those that carry bending.
pub fn springs(model: &Model) -> Vec<u8> {
    let springs = &model.springs;
    let family = |strong: bool| {
        let all = model.topology.links.ends().iter().enumerate();
        let own = all.filter(move |(s, _)| !springs.structural[*s] && springs.strong[*s] == strong);
        own.map(|(_, ends)| *ends)
    };
    let counts = [true, false].map(|strong| family(strong).count() as u32);
    words(5, counts.into_iter().chain(family(true).chain(family(false)).flatten()))
}

/// Vertices of a body that bends, as it is now.
pub fn bent(body: usize, vertices: &[Vec3]) -> Vec<u8> {
    let mut out = words(4, [body as u32, vertices.len() as u32].into_iter());
    out.extend(vertices.iter().flat_map(|v| v.to_array()).flat_map(f32::to_le_bytes));
    out
}

/// What a frame is computed with; kept to spare allocations.
#[derive(Default)]
pub struct Scratch {
    normals: Vec<Vec3>,
    strain: Vec<f32>,
}

/// Positions, normals, strain and speed of one pane.
pub fn frame(scratch: &mut Scratch, pane: usize, model: &Model, state: &State) -> Vec<u8> {
    let n = state.x.len();
    let mut out = Vec::with_capacity(24 + 18 * n + 4);
    for word in [3, pane as u32, n as u32, 0] {
        out.extend(word.to_le_bytes());
    }
    out.extend(state.time.to_le_bytes());
    for x in &state.x {
        x.to_array().iter().for_each(|c| out.extend(c.to_le_bytes()));
    }
    set_normals(&mut scratch.normals, model, &state.x);
    for normal in &scratch.normals {
        let byte = |c: f32| (127.0 * c) as i8 as u8;
        out.extend([byte(normal.x), byte(normal.y), byte(normal.z), 0]);
    }
    set_strain(&mut scratch.strain, model, &state.x);
    out.extend(scratch.strain.iter().map(|s| (255.0 * (s / FULL_STRAIN).clamp(0.0, 1.0)) as u8));
    let fastest = state.v.iter().fold(f32::MIN_POSITIVE, |most, v| most.max(v.length_squared()));
    let scale = 255.0 / fastest.sqrt();
    out.extend(state.v.iter().map(|v| (scale * v.length()) as u8));
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

/// Area-weighted normals of the particles.
fn set_normals(normals: &mut Vec<Vec3>, model: &Model, x: &[Vec3]) {
    normals.clear();
    normals.resize(x.len(), Vec3::ZERO);
    for triangle in &model.triangles {
        let [a, b, c] = triangle.map(|i| x[i as usize]);
        let normal = (b - a).cross(c - a);
        triangle.iter().for_each(|&i| normals[i as usize] += normal);
    }
    normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
}

/// The largest stretch of a structural spring at each particle.
fn set_strain(strain: &mut Vec<f32>, model: &Model, x: &[Vec3]) {
    strain.clear();
    strain.resize(x.len(), 0.0);
    for (s, &[a, b]) in model.topology.links.ends().iter().enumerate() {
        let rest = model.springs.rest_length[s];
        if model.springs.structural[s] && rest > 0.0 {
            let stretch = x[a as usize].distance(x[b as usize]) / rest - 1.0;
            for end in [a, b] {
                strain[end as usize] = strain[end as usize].max(stretch);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use muslin::{Method, Sim, scenes};

    #[test]
    fn a_bent_body_is_as_its_header_says() {
        let message = bent(2, &[Vec3::X, Vec3::new(1.0, 2.0, 3.0)]);
        let word = |i: usize| u32::from_le_bytes(message[4 * i..][..4].try_into().unwrap());
        assert_eq!([word(0), word(1), word(2)], [4, 2, 2]);
        assert_eq!((f32::from_bits(word(8)), message.len()), (3.0, 12 + 24));
    }

    #[test]
    fn a_frame_has_the_size_its_header_says() {
        let model = scenes::named("golden-5x5").unwrap().compile().unwrap();
        let sim = Sim::new(model, Method::preset("implicit-euler").unwrap()).unwrap();
        let frame = frame(&mut Scratch::default(), 2, sim.model(), sim.state());
        let word = |i: usize| u32::from_le_bytes(frame[4 * i..][..4].try_into().unwrap());
        assert_eq!((word(0), word(1), word(2)), (3, 2, 25));
        assert_eq!(frame.len(), (24 + 18 * 25usize).next_multiple_of(4));
        // A flat sheet in the x–z plane has one normal.
        let normals = &frame[24 + 12 * 25..][..4 * 25];
        assert!(normals.chunks(4).all(|n| n[..3] == normals[..3]));
    }
}
