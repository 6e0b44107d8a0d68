//! What a user describes: plain data, in SI units, that reads and writes as TOML.
//!
//! Every key has a default, so a scene file holds only what differs. Nothing is checked here;
//! [`Scene::compile`] checks everything once.

mod collider;

pub use crate::model::{Bone, Channel, Character, Interpolation, Property, Shape};
pub use collider::{Collider, Key};

use crate::error::Error;
use crate::fabric::Fabric;
use crate::model::{Model, TurningLaw};
use glam::{DVec3, dvec3};
use serde::{Deserialize, Serialize};

/// A whole scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scene {
    /// Name.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// Seconds of one frame. [s]
    pub dt: f64,
    /// Steps per frame.
    pub substeps: u32,
    /// Suggested length of a run. [s]
    pub seconds: f64,
    /// Gravity. [m/s²]
    pub gravity: DVec3,
    /// The air.
    pub air: Air,
    /// The cloths.
    pub cloth: Vec<Cloth>,
    /// The bodies; a file calls each `[[collider]]`.
    #[serde(rename = "collider", skip_serializing_if = "Vec::is_empty")]
    pub colliders: Vec<Collider>,
    /// Contact of cloth with itself and with other cloth; none if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_contact: Option<SelfContact>,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            name: "untitled".into(),
            about: String::new(),
            dt: 1.0 / 60.0,
            substeps: 1,
            seconds: 5.0,
            gravity: dvec3(0.0, -9.81, 0.0),
            air: Air::default(),
            cloth: Vec::new(),
            colliders: Vec::new(),
            self_contact: None,
        }
    }
}

/// Contact of cloth with cloth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SelfContact {
    /// Distance at which the middle surfaces of two layers are stopped. [m]
    pub thickness: f64,
    /// Coulomb's coefficient of friction μ between layers.
    pub friction: f64,
}

impl Default for SelfContact {
    fn default() -> Self {
        Self { thickness: 0.003, friction: 0.3 }
    }
}

/// Wind and drag.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Air {
    /// Wind velocity. [m/s]
    pub wind: DVec3,
    /// Amplitude added to the wind as a sine of time. [m/s]
    pub gust: DVec3,
    /// Period of the gusts. [s]
    pub gust_period: f64,
    /// Density; 0 switches wind on triangles off. [kg/m³]
    pub density: f64,
    /// Drag coefficient of the cloth.
    pub drag_coefficient: f64,
    /// Lift coefficient of the cloth.
    pub lift_coefficient: f64,
    /// Linear drag per mass, −c m (v − wind). [1/s]
    pub drag: f64,
}

impl Default for Air {
    fn default() -> Self {
        Self {
            wind: DVec3::ZERO,
            gust: DVec3::ZERO,
            gust_period: 1.0,
            density: 0.0,
            drag_coefficient: 1.2,
            lift_coefficient: 0.4,
            drag: 0.0,
        }
    }
}

/// One cloth: a grid of `columns` × `rows` particles, or a triangle mesh.
///
/// What it is made of is one of: a named `fabric` (with `material` overriding single figures),
/// `material` alone, or raw `springs` with a `particle_mass`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cloth {
    /// Name.
    pub name: String,
    /// Particles along `across`.
    pub columns: usize,
    /// Particles along `down`; 1 makes a chain, `height` its width.
    pub rows: usize,
    /// Length along `across`. [m]
    pub width: f64,
    /// Length along `down`. [m]
    pub height: f64,
    /// Position of the first particle, or offset of the mesh. [m]
    pub origin: DVec3,
    /// Direction of the columns.
    pub across: DVec3,
    /// Direction of the rows.
    pub down: DVec3,
    /// How many times the cloth is there, each a cloth of its own.
    pub layers: usize,
    /// From one layer to the next. [m]
    pub layer_step: DVec3,
    /// A triangle mesh in place of the grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<Mesh>,
    /// Velocity at the start. [m/s]
    pub velocity: DVec3,
    /// Angular velocity at the start, about the cloth's centre. [rad/s]
    pub spin: DVec3,
    /// Name of a fabric, see `muslin list fabrics`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fabric: Option<String>,
    /// Fabric figures in SI units.
    pub material: Material,
    /// Raw spring constants, as the papers give them.
    pub springs: Springs,
    /// Makes the structural springs 3D springs.
    pub turning: Turning,
    /// Mass of every particle, in place of one from the density. [kg]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub particle_mass: Option<f64>,
    /// −C v on every particle (Kang & Cho Eq. 21). [N·s/m]
    pub absolute_damping: f64,
    /// Cut edges: pairs of neighbouring particles between which the cloth is cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<[usize; 2]>,
    /// Held particles.
    pub pins: Vec<Pin>,
}

impl Default for Cloth {
    fn default() -> Self {
        Self {
            name: "cloth".into(),
            columns: 32,
            rows: 32,
            width: 1.0,
            height: 1.0,
            origin: DVec3::ZERO,
            across: DVec3::X,
            down: DVec3::Z,
            layers: 1,
            layer_step: dvec3(0.0, 0.01, 0.0),
            mesh: None,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
            fabric: None,
            material: Material::default(),
            springs: Springs::default(),
            turning: Turning::default(),
            particle_mass: None,
            absolute_damping: 0.0,
            cuts: Vec::new(),
            pins: Vec::new(),
        }
    }
}

/// A mesh, given here or by a file that the front end reads. Its springs are the edges of its
/// triangles and faces, and the edges named as such.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mesh {
    /// OBJ file, relative to the scene file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Vertices at rest. [m]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vertices: Vec<DVec3>,
    /// Vertices at the start, if the mesh does not start in its rest shape. [m]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<DVec3>,
    /// Corners of each triangle.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub triangles: Vec<[usize; 3]>,
    /// Corners of each polygon, in order around it. Its diagonals are no springs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faces: Vec<Vec<usize>>,
    /// Ends of edges that belong to no face.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<[usize; 2]>,
}

/// 3D springs (Jeong & Lee): particles have an orientation and hold the directions in which their
/// structural springs leave them, as those are in the rest shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Turning {
    /// Torsional stiffness at each end of each spring; 0 makes ordinary springs. [N·m]
    pub stiffness: f64,
    /// Torsional damping. [N·m·s]
    pub damping: f64,
    /// How the torque grows with the angle.
    pub law: TurningLaw,
    /// Moment of inertia of every particle; by default 0.1 m L², L the mean length of its springs. [kg·m²]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inertia: Option<f64>,
}

/// Fabric figures; those left out come from the named fabric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Material {
    /// Mass per area σ. [kg/m²]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Membrane stiffness Eh, isotropic with Poisson's ratio 1/3. [N/m]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stretch: Option<f64>,
    /// Bending rigidity B of a strip. [N·m]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bending: Option<f64>,
    /// Damping along springs as a time: kd = damping · k. [s]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
}

/// Raw constants; equal for all springs of a family, borders included, as in the papers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Springs {
    /// Between next neighbours along rows and columns, or on every edge of a mesh. [N/m]
    pub structural: f64,
    /// Between diagonal neighbours. [N/m]
    pub shear: f64,
    /// Between every other particle along rows and columns. [N/m]
    pub bend: f64,
    /// Kim's net: all eight neighbours at distance 1. Excludes the three above. [N/m]
    pub type1: f64,
    /// Kim's net: the same eight directions at distance 2. [N/m]
    pub type2: f64,
    /// Damping along structural and type 1 springs. [N·s/m]
    pub structural_damping: f64,
    /// Damping along shear springs. [N·s/m]
    pub shear_damping: f64,
    /// Damping along bend and type 2 springs. [N·s/m]
    pub bend_damping: f64,
    /// Damping between the ends of every spring, in all directions (Kang & Cho Eq. 24). [N·s/m]
    pub relative_damping: f64,
    /// No force in compression for structural, shear and type 1 springs.
    pub tension_only: bool,
    /// Bending stiffness of hinges on the triangles. [N·m]
    pub hinge: f64,
}

impl Springs {
    /// Whether any constant is given.
    pub fn any(&self) -> bool {
        [self.structural, self.shear, self.bend, self.type1, self.type2].iter().any(|k| *k != 0.0)
    }
}

/// Held particles: a place on the grid, or indices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pin {
    /// A corner or an edge of the grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Points of the grid by their share of the width and height, 0 to 1: whatever the resolution,
    /// the nearest particle is held.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<[f64; 2]>,
    /// Particle indices within the cloth.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub particles: Vec<usize>,
    /// Waypoints; the pin moves linearly from one to the next and stays at the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Waypoint>,
    /// Name of a body that carries the particles, as a pelvis does a waistband; `path` is then in
    /// the body's coordinates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Let go from this time on. [s]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<f64>,
    /// Holds the orientation as well, where there are 3D springs: a wall rather than a pin.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clamp: bool,
}

/// Places of a grid. A corner is named by its row and column, each first or last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Row 0, column 0.
    FirstCorner,
    /// Row 0, last column.
    FirstRowLastColumn,
    /// Last row, column 0.
    LastRowFirstColumn,
    /// Last row, last column.
    LastCorner,
    /// All of row 0.
    FirstRow,
    /// All of the last row.
    LastRow,
    /// All of column 0.
    FirstColumn,
    /// All of the last column.
    LastColumn,
    /// Columns 0 and 1: a clamp that holds position and direction.
    FirstTwoColumns,
}

/// Where a pin is at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Waypoint {
    /// Time. [s]
    pub time: f64,
    /// Offset from the particle's start. [m]
    pub offset: DVec3,
}

/// Shapes to start a cloth from.
pub struct Sheet;

impl Sheet {
    /// A square of `side` metres with `n` × `n` particles, lying in the x–z plane.
    pub fn square(side: f64, n: usize) -> Cloth {
        Self::rectangle(side, side, n, n)
    }

    /// A rectangle with `columns` × `rows` particles, lying in the x–z plane.
    pub fn rectangle(width: f64, height: f64, columns: usize, rows: usize) -> Cloth {
        Cloth { columns, rows, width, height, ..Cloth::default() }
    }

    /// A mesh of polygons, whose edges become springs and whose diagonals do not.
    pub fn polygons(vertices: Vec<DVec3>, faces: Vec<Vec<usize>>) -> Cloth {
        Cloth { mesh: Some(Mesh { vertices, faces, ..Mesh::default() }), ..Cloth::default() }
    }

    /// A triangle mesh.
    pub fn mesh(vertices: Vec<DVec3>, triangles: Vec<[usize; 3]>) -> Cloth {
        Cloth { mesh: Some(Mesh { vertices, triangles, ..Mesh::default() }), ..Cloth::default() }
    }
}

/// A cloth added to a scene, to speak of its particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClothId {
    index: usize,
    columns: usize,
    rows: usize,
}

/// One particle of a cloth in a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Particle {
    cloth: usize,
    index: usize,
}

impl ClothId {
    /// The corner at the first (0) or last (1) row and column.
    pub fn corner(self, row: usize, column: usize) -> Particle {
        let row = if row == 0 { 0 } else { self.rows.saturating_sub(1) };
        let column = if column == 0 { 0 } else { self.columns.saturating_sub(1) };
        self.particle(row * self.columns + column)
    }

    /// A particle by its index within the cloth.
    pub fn particle(self, index: usize) -> Particle {
        Particle { cloth: self.index, index }
    }
}

impl Scene {
    /// An empty scene with gravity, 60 frames a second.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a cloth made of a fabric.
    pub fn add_cloth(&mut self, mut cloth: Cloth, fabric: Fabric) -> ClothId {
        fabric.apply(&mut cloth);
        let id = ClothId { index: self.cloth.len(), columns: cloth.columns, rows: cloth.rows };
        self.cloth.push(cloth);
        id
    }

    /// Holds a particle where it is.
    pub fn pin(&mut self, particle: Particle) {
        if let Some(cloth) = self.cloth.get_mut(particle.cloth) {
            cloth.pins.push(Pin { particles: vec![particle.index], ..Pin::default() });
        }
    }

    /// Adds a body; returns its index for [`crate::Inputs::colliders`].
    pub fn add_collider(&mut self, collider: Collider) -> usize {
        self.colliders.push(collider);
        self.colliders.len() - 1
    }

    /// Checks everything and turns the scene into arrays.
    pub fn compile(&self) -> Result<Model, Error> {
        crate::compile::compile(self)
    }
}
