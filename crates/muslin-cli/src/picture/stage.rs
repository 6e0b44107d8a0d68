//! Draws the states of one model: what is constant about the pictures, and the drawing itself.

use super::bodies;
use super::camera::Camera;
use super::colour::{self, BODY, Encoder, PIN, linear};
use super::extent::Extent;
use super::ground::Ground;
use super::light::{Shadows, shade};
use super::raster::Canvas;
use glam::Vec3;
use muslin::Model;

/// Each pixel is the mean of this many in both directions.
const FINE: usize = 2;
/// Cloth that fills less of the height than this gets a lower picture,
const USED: f32 = 0.58;
/// but not lower than this share of its width.
const LOWEST: f32 = 0.45;

/// Cosine between two triangles of the rest shape below which the edge between them is a crease.
const SMOOTH: f32 = 0.85;

/// A triangle this many times longer than at the start is torn.
const TORN: f32 = 6.0;
/// Torn triangles that are drawn at most.
const SHARDS: usize = 60;

/// A triangle and its cloth.
type Piece = ([u32; 3], usize);

/// A finished picture.
pub struct Image {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// sRGB, row by row.
    pub pixels: Vec<[u8; 3]>,
}

/// Everything that is the same in all pictures of a model.
pub struct Stage<'a> {
    model: &'a Model,
    camera: Camera,
    ground: Ground,
    size: (usize, usize),
    extent: Extent,
    encoder: Encoder,
    /// Springs drawn as lines: those of cloths without triangles, with the cloth.
    wires: Vec<([u32; 2], usize)>,
    /// Springs between two pins, drawn as rods.
    rods: Vec<[u32; 2]>,
    /// Pins that belong to no rod.
    dots: Vec<u32>,
    /// Whether the side of each cloth that is mostly seen is the back of its triangles.
    flipped: Vec<bool>,
    /// Whether each particle is pinned.
    is_held: Vec<bool>,
    /// Triangles of the bodies.
    bodies: Vec<[u32; 3]>,
}

impl<'a> Stage<'a> {
    /// A stage on which all the given states can be seen. What is wide and low gets a picture
    /// that is wide and low.
    pub fn new<'x>(
        model: &'a Model,
        states: impl Iterator<Item = &'x [Vec3]> + Clone,
        mut size: (usize, usize),
    ) -> Self {
        let extent = Extent::new(model, states.clone());
        let points = &extent.points;
        let mut camera = Camera::framing(points, size);
        let rows = points.iter().map(|p| camera.project(*p).y);
        let used = rows.clone().fold(0.0, f32::max) - rows.fold(f32::INFINITY, f32::min);
        if used < USED * size.1 as f32 {
            let lowest = (LOWEST * size.0 as f32) as usize;
            size.1 = ((used / USED) as usize).clamp(lowest.min(size.1), size.1).next_multiple_of(2);
            camera = Camera::framing(points, size);
        }
        let (wires, rods, dots) = lines(model);
        Self {
            ground: Ground::new(&camera, (extent.low, extent.high), size),
            flipped: flipped(model, &camera, states),
            is_held: held(model),
            bodies: bodies::triangles(model),
            extent,
            camera,
            model,
            size,
            encoder: Encoder::new(),
            wires,
            rods,
            dots,
        }
    }

    /// Width and height of the pictures.
    pub fn size(&self) -> (usize, usize) {
        self.size
    }

    /// Draws one state: its particles, then the vertices of its bodies ([`bodies::points`]).
    pub fn draw(&self, x: &[Vec3]) -> Image {
        self.draw_in(x, None)
    }

    /// Draws one state coloured by how much its structural springs are stretched, `full` being the
    /// strain of the last colour.
    pub fn draw_strain(&self, x: &[Vec3], full: f32) -> Image {
        let shares: Vec<f32> = strains(self.model, x).iter().map(|s| s / full).collect();
        self.draw_in(x, Some(&shares))
    }

    /// Draws one state, in the cloths' colours or by a share of the strain scale for each particle.
    fn draw_in(&self, x: &[Vec3], shares: Option<&[f32]>) -> Image {
        let x = &self.extent.contain(x)[..];
        let camera = self.camera.finer(FINE as f32);
        let (width, height) = self.size;
        let mut canvas = Canvas::new((FINE * width, FINE * height));
        let pieces = self.pieces(x);
        let mut triangles: Vec<[u32; 3]> = pieces.iter().map(|(triangle, _)| *triangle).collect();
        let cloths = triangles.len();
        triangles.extend(&self.bodies);
        let shadows = Shadows::new(x, &triangles);
        self.draw_cloths(
            &mut canvas,
            &camera,
            x,
            &shadows,
            (&pieces, &triangles[..cloths]),
            shares,
        );
        self.draw_bodies(&mut canvas, &camera, x, &shadows);
        self.draw_lines(&mut canvas, &camera, x);

        // Average what was drawn finely over the background.
        let wires: Vec<[u32; 2]> = self.wires.iter().map(|(ends, _)| *ends).collect();
        let background = self.ground.draw(x, &triangles, &wires);
        let mut pixels = Vec::with_capacity(width * height);
        for row in 0..height {
            for column in 0..width {
                let behind = background[row * width + column];
                let mut sum = Vec3::ZERO;
                for fine_row in FINE * row..FINE * (row + 1) {
                    for fine_column in FINE * column..FINE * (column + 1) {
                        let index = fine_row * FINE * width + fine_column;
                        let seen = canvas.depth[index].is_finite();
                        sum += if seen { canvas.colour[index] } else { behind };
                    }
                }
                pixels.push(self.encoder.encode(sum / (FINE * FINE) as f32));
            }
        }
        Image { width, height, pixels }
    }

    /// The triangles to draw, with their cloths: all of a sound cloth, and a few of those that a
    /// run that blew up has torn across the picture.
    fn pieces(&self, x: &[Vec3]) -> Vec<Piece> {
        let longest = |at: &[Vec3], [a, b, c]: [u32; 3]| {
            let [a, b, c] = [a, b, c].map(|i| at[i as usize]);
            a.distance(b).max(b.distance(c)).max(c.distance(a))
        };
        let (mut pieces, mut torn) = (Vec::new(), Vec::new());
        for (index, cloth) in self.model.cloths.iter().enumerate() {
            for triangle in &self.model.triangles[cloth.triangles.clone()] {
                let start = longest(&self.model.start_x, *triangle);
                let is_torn = longest(x, *triangle) > TORN * start;
                if is_torn { &mut torn } else { &mut pieces }.push((*triangle, index));
            }
        }
        let stride = torn.len().div_ceil(SHARDS).max(1);
        pieces.extend(torn.into_iter().step_by(stride));
        pieces
    }

    fn draw_cloths(
        &self,
        canvas: &mut Canvas,
        camera: &Camera,
        x: &[Vec3],
        shadows: &Shadows,
        (pieces, triangles): (&[Piece], &[[u32; 3]]),
        shares: Option<&[f32]>,
    ) {
        let normals = normals(x, &self.model.rest_x, triangles);
        let seen: Vec<Vec3> = x.iter().map(|p| camera.project(*p)).collect();
        let near = 0.02 * self.extent.side();
        for ((triangle, index), [n0, n1, n2]) in pieces.iter().zip(normals) {
            let (front, back) = colour::cloth(*index);
            let corners = triangle.map(|i| i as usize);
            let [x0, x1, x2] = corners.map(|i| x[i]);
            if corners.iter().any(|i| seen[*i].z < near) {
                continue;
            }
            // A piece that is held all over is part of the clamp.
            let is_clamp = corners.iter().all(|i| self.is_held[*i]);
            canvas.triangle(corners.map(|i| seen[i]), |[u, v, w]| {
                let p = u * x0 + v * x1 + w * x2;
                let to_viewer = (camera.eye - p).normalize();
                // The flat triangle decides which side is seen: a smooth normal may point
                // away at the edge of a fold.
                let is_front = (x1 - x0).cross(x2 - x0).dot(to_viewer) >= 0.0;
                let smooth = (u * n0 + v * n1 + w * n2).normalize_or_zero();
                let normal = if is_front { smooth } else { -smooth };
                let albedo = match (shares, is_front != self.flipped[*index]) {
                    _ if is_clamp => linear(PIN),
                    (Some(share), _) => {
                        let [a, b, c] = corners.map(|i| share[i]);
                        colour::scale(u * a + v * b + w * c)
                    }
                    (None, true) => front,
                    (None, false) => back,
                };
                let lit = shadows.lit(p, normal);
                shade(albedo, normal, to_viewer, lit, true)
            });
        }
    }

    fn draw_bodies(&self, canvas: &mut Canvas, camera: &Camera, x: &[Vec3], shadows: &Shadows) {
        let near = 0.02 * self.extent.side();
        for (corners, [n0, n1, n2]) in self.bodies.iter().zip(normals(x, x, &self.bodies)) {
            let [x0, x1, x2] = corners.map(|i| x[i as usize]);
            let seen = [x0, x1, x2].map(|p| camera.project(p));
            if seen.iter().any(|p| p.z < near) {
                continue;
            }
            canvas.triangle(seen, |[u, v, w]| {
                let p = u * x0 + v * x1 + w * x2;
                let normal = (u * n0 + v * n1 + w * n2).normalize_or_zero();
                let lit = shadows.lit(p, normal);
                shade(linear(BODY), normal, (camera.eye - p).normalize(), lit, false)
            });
        }
    }

    fn draw_lines(&self, canvas: &mut Canvas, camera: &Camera, x: &[Vec3]) {
        let at = |i: &u32| x[*i as usize];
        let painted = |albedo: Vec3| {
            let toward = camera.axes()[2];
            move |normal: Vec3| shade(albedo, normal, toward, 1.0, false)
        };
        let (pin, side) = (linear(PIN), self.extent.side());
        for [a, b] in &self.rods {
            canvas.capsule(camera, [at(a), at(b)], 0.0028 * side, painted(pin));
        }
        let mut dot_size = 0.011 * side;
        for (ends, cloth) in &self.wires {
            let (front, _) = colour::cloth(*cloth);
            let [a, b] = [at(&ends[0]), at(&ends[1])];
            let [rest_a, rest_b] = ends.map(|end| self.model.start_x[end as usize]);
            let bead = (0.28 * rest_a.distance(rest_b)).min(0.03 * side);
            dot_size = dot_size.max(1.1 * bead);
            let wire = (0.5 * bead).min(0.005 * side);
            canvas.capsule(camera, [a, b], wire, painted(0.6 * front));
            for end in [a, b] {
                canvas.capsule(camera, [end, end], bead, painted(front));
            }
        }
        for dot in &self.dots {
            canvas.capsule(camera, [at(dot), at(dot)], dot_size, painted(pin));
        }
    }
}

/// Mean stretch of the structural springs at each particle; compression counts as none.
fn strains(model: &Model, x: &[Vec3]) -> Vec<f32> {
    let mut sums = vec![(0.0, 0.0f32); x.len()];
    let springs = &model.springs;
    for (s, [a, b]) in model.topology.links.ends().iter().enumerate() {
        if springs.structural[s] && springs.rest_length[s] > 0.0 {
            let [a, b] = [*a as usize, *b as usize];
            let strain = (x[a].distance(x[b]) / springs.rest_length[s] - 1.0).max(0.0);
            for end in [a, b] {
                sums[end] = (sums[end].0 + strain, sums[end].1 + 1.0);
            }
        }
    }
    sums.iter().map(|(sum, count)| sum / count.max(1.0)).collect()
}

/// Area-weighted normals at the corners of each triangle. Where the rest shape has a crease, the
/// triangles of one side do not count for the other.
fn normals(x: &[Vec3], rest: &[Vec3], triangles: &[[u32; 3]]) -> Vec<[Vec3; 3]> {
    let face = |at: &[Vec3], triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|i| at[i as usize]);
        (b - a).cross(c - a)
    };
    let faces: Vec<(Vec3, Vec3)> =
        triangles.iter().map(|t| (face(x, t), face(rest, t).normalize_or_zero())).collect();
    let mut around = vec![Vec::new(); x.len()];
    for (t, triangle) in triangles.iter().enumerate() {
        triangle.iter().for_each(|corner| around[*corner as usize].push(t));
    }
    let corner = |t: usize, corner: u32| {
        let smooth = |other: &&usize| faces[**other].1.dot(faces[t].1) > SMOOTH;
        let same_side = around[corner as usize].iter().filter(smooth);
        same_side.map(|other| faces[*other].0).sum::<Vec3>().normalize_or_zero()
    };
    triangles.iter().enumerate().map(|(t, corners)| corners.map(|c| corner(t, c))).collect()
}

/// Which cloths show the viewer more of the back of their triangles than of the front.
fn flipped<'x>(
    model: &Model,
    camera: &Camera,
    states: impl Iterator<Item = &'x [Vec3]>,
) -> Vec<bool> {
    let mut front = vec![0.0; model.cloths.len()];
    for x in states {
        for (sum, cloth) in front.iter_mut().zip(&model.cloths) {
            for triangle in &model.triangles[cloth.triangles.clone()] {
                let [a, b, c] = triangle.map(|i| x[i as usize]);
                *sum += (b - a).cross(c - a).dot(camera.eye - a);
            }
        }
    }
    front.iter().map(|sum| *sum < 0.0).collect()
}

/// Which particles are pinned.
fn held(model: &Model) -> Vec<bool> {
    let mut is_held = vec![false; model.particle_count()];
    for pin in &model.pins {
        is_held[pin.particle as usize] = true;
    }
    is_held
}

/// The springs drawn as wires and as rods, and the pins drawn as dots.
#[allow(clippy::type_complexity)]
fn lines(model: &Model) -> (Vec<([u32; 2], usize)>, Vec<[u32; 2]>, Vec<u32>) {
    let is_pinned = held(model);
    let mut in_rod = vec![false; model.particle_count()];
    let (mut wires, mut rods) = (Vec::new(), Vec::new());
    let springs = model.topology.links.ends().iter().zip(&model.springs.structural);
    for (ends, _) in springs.filter(|(_, structural)| **structural) {
        if ends.iter().all(|end| is_pinned[*end as usize]) {
            ends.iter().for_each(|end| in_rod[*end as usize] = true);
            rods.push(*ends);
        }
        let holds = |range: &std::ops::Range<usize>| range.contains(&(ends[0] as usize));
        let cloth = model.cloths.iter().position(|cloth| holds(&cloth.particles));
        if let Some(cloth) = cloth.filter(|c| model.cloths[*c].triangles.is_empty()) {
            wires.push((*ends, cloth));
        }
    }
    let pins = model.pins.iter().map(|pin| pin.particle);
    let dots = pins.filter(|particle| !in_rod[*particle as usize]).collect();
    (wires, rods, dots)
}
