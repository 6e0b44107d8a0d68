//! Scene → Model: every index, mass and unit is checked here, once.

mod bending;
mod character;
mod check;
mod cloth;
mod collider;
mod cuts;

use crate::error::Error;
use crate::linalg::Topology;
use crate::mesh::Incidence;
use crate::model::{self, Air, ClothPart, Collider, Hinges, Model, Pin, Springs, Turning};
use crate::scene::{self, Cloth, Scene};
use check::Check;
use glam::{DVec3, Vec3};

/// More particles than this are refused: an index typo rather than a wish.
pub const MAX_PARTICLES: usize = 4_000_000;

/// Everything that is collected from the cloths before the topology is built.
#[derive(Default)]
struct Draft {
    rest: Vec<Vec3>,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    mass: Vec<f32>,
    absolute_damping: Vec<f32>,
    ends: Vec<[u32; 2]>,
    springs: Springs,
    hinge_corners: Vec<[u32; 4]>,
    hinges: Hinges,
    turning: Turning,
    triangles: Vec<[u32; 3]>,
    colliders: Vec<Collider>,
    pins: Vec<Pin>,
    cloths: Vec<ClothPart>,
}

/// See [`Scene::compile`].
pub fn compile(scene: &Scene) -> Result<Model, Error> {
    let check = Check::new("");
    check.range("dt", scene.dt, 1e-6, 100.0)?;
    check.range("seconds", scene.seconds, 0.0, 1e6)?;
    check.count("substeps", scene.substeps as usize, 1, 100_000)?;
    check.vector("gravity", scene.gravity, 1e6)?;
    let air = compile_air(scene)?;
    if scene.cloth.is_empty() {
        return Err(Error::new("cloth", "[]", "a scene needs at least one [[cloth]]"));
    }

    let colliders = (scene.colliders.iter().enumerate())
        .map(|(index, body)| collider::compile(body, &Check::new(&format!("collider.{index}."))))
        .collect::<Result<_, _>>()?;
    let mut draft = Draft { colliders, ..Draft::default() };
    for (index, cloth) in scene.cloth.iter().enumerate() {
        add_layers(&mut draft, cloth, &Check::new(&format!("cloth.{index}.")))?;
    }

    let self_contact = scene.self_contact.map(compile_self_contact).transpose()?;

    let n = draft.x.len();
    let springs = &mut draft.springs;
    springs.is_damped = springs.damping.iter().chain(&springs.relative_damping).any(|d| *d != 0.0);
    let lighter = |[a, b]: [u32; 2]| draft.mass[a as usize].min(draft.mass[b as usize]);
    let rates = springs.stiffness.iter().zip(&draft.ends).map(|(k, ends)| k / lighter(*ends));
    let stiffest = rates.fold(0.0, f32::max);
    let (elements, turning) = compile_turning(draft.turning, &draft.hinge_corners, n);
    let turn =
        |t: usize| turning.ends[t].map(|e| turning.stiffness[t] / turning.inertia[e as usize]);
    let stiffest = (0..turning.len()).flat_map(turn).fold(stiffest, f32::max);
    let dampers = || springs.damping.iter().zip(&springs.relative_damping).map(|(d, r)| d + r);
    let most_damped = dampers().zip(&draft.ends).map(|(d, ends)| d / lighter(*ends));
    let most_damped = most_damped.fold(0.0, f32::max);
    // Eight springs at a particle share its absolute damping.
    let own = |[a, _]: [u32; 2]| draft.absolute_damping[a as usize] / 8.0;
    let damping_time = dampers().zip(&draft.ends).zip(&springs.stiffness);
    let damping_time = damping_time.filter(|(_, k)| **k > 0.0);
    let damping_time = damping_time.map(|((d, ends), k)| (d + own(*ends)) / k);
    let damping_time = damping_time.fold(f32::INFINITY, f32::min);
    let (piece, piece_count) = pieces(n, &draft.ends, &draft.hinge_corners);
    Ok(Model {
        name: scene.name.clone(),
        dt: scene.dt,
        substeps: scene.substeps,
        seconds: scene.seconds,
        triangle_members: Incidence::new(&draft.triangles, n),
        topology: Topology::new(n + turning.inertia.len(), draft.ends, elements),
        turning,
        rest_x: draft.rest,
        start_x: draft.x,
        start_v: draft.v,
        mass: draft.mass,
        absolute_damping: draft.absolute_damping,
        springs: draft.springs,
        stiffest,
        most_damped,
        damping_time,
        hinges: draft.hinges,
        triangles: draft.triangles,
        pins: draft.pins,
        colliders: draft.colliders,
        self_contact,
        piece,
        piece_count,
        cloths: draft.cloths,
        air,
        gravity: scene.gravity.as_vec3(),
        wind: scene.air.wind.as_vec3(),
    })
}

/// Adds a cloth as many times as it has layers.
fn add_layers(draft: &mut Draft, cloth: &Cloth, check: &Check) -> Result<(), Error> {
    check.count("layers", cloth.layers, 1, 10_000)?;
    check.vector("layer_step", cloth.layer_step, 1e6)?;
    cloth::add(draft, cloth, check)?;
    for layer in 1..cloth.layers {
        let mut copy = cloth.clone();
        copy.origin += layer as f64 * cloth.layer_step;
        copy.name = format!("{} {}", cloth.name, layer + 1);
        cloth::add(draft, &copy, check)?;
    }
    Ok(())
}

/// The elements of all hinges and 3D springs. Where there are 3D springs every particle has an
/// orientation; one without any keeps the inertia 1, which nothing turns.
fn compile_turning(
    mut turning: Turning,
    hinge_corners: &[[u32; 4]],
    n: usize,
) -> (Vec<[u32; 4]>, Turning) {
    let mut elements = hinge_corners.to_vec();
    if turning.is_empty() {
        return (elements, Turning::default());
    }
    let shift = n as u32;
    elements.extend(turning.ends.iter().map(|&[a, b]| [a, b, shift + a, shift + b]));
    turning.members = Incidence::new(&turning.ends, n);
    turning.is_damped = turning.damping.iter().any(|d| *d != 0.0);
    (elements, turning)
}

fn compile_self_contact(wanted: scene::SelfContact) -> Result<model::SelfContact, Error> {
    let check = Check::new("self_contact.");
    check.range("thickness", wanted.thickness, 1e-6, 1e3)?;
    check.range("friction", wanted.friction, 0.0, 100.0)?;
    Ok(model::SelfContact { thickness: wanted.thickness, friction: wanted.friction })
}

fn compile_air(scene: &Scene) -> Result<Air, Error> {
    let (air, check) = (&scene.air, Check::new("air."));
    check.vector("wind", air.wind, 1e4)?;
    check.vector("gust", air.gust, 1e4)?;
    check.range("gust_period", air.gust_period, 1e-3, 1e6)?;
    check.range("density", air.density, 0.0, 1e5)?;
    check.range("drag_coefficient", air.drag_coefficient, 0.0, 100.0)?;
    check.range("lift_coefficient", air.lift_coefficient, 0.0, 100.0)?;
    check.range("drag", air.drag, 0.0, 1e6)?;
    if air.wind + air.gust != DVec3::ZERO && air.density == 0.0 && air.drag == 0.0 {
        let remedy = "wind does nothing without air: set air.density = 1.2 or air.drag";
        return Err(check.error("wind", air.wind, remedy));
    }
    Ok(Air {
        density: air.density as f32,
        drag_coefficient: air.drag_coefficient as f32,
        lift_coefficient: air.lift_coefficient as f32,
        drag: air.drag as f32,
        gust: air.gust.as_vec3(),
        gust_period: air.gust_period as f32,
    })
}

/// Connected pieces by union–find, numbered in particle order.
fn pieces(n: usize, ends: &[[u32; 2]], corners: &[[u32; 4]]) -> (Vec<u32>, usize) {
    fn root(parent: &mut [u32], mut i: u32) -> u32 {
        while parent[i as usize] != i {
            parent[i as usize] = parent[parent[i as usize] as usize];
            i = parent[i as usize];
        }
        i
    }
    let mut parent: Vec<u32> = (0..n as u32).collect();
    let triples = corners.iter().flat_map(|&[a, b, c, d]| [[a, b], [a, c], [a, d]]);
    for [a, b] in ends.iter().copied().chain(triples) {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent[a.max(b) as usize] = a.min(b);
    }
    let mut number = vec![u32::MAX; n];
    let mut count = 0;
    let piece = (0..n as u32)
        .map(|i| {
            let r = root(&mut parent, i) as usize;
            if number[r] == u32::MAX {
                number[r] = count;
                count += 1;
            }
            number[r]
        })
        .collect();
    (piece, count as usize)
}
