//! The one list of built-in scenes. A new scene is one function and one line in [`SCENES`].

mod contact;
mod flesh;
pub mod folds;
pub mod jeong;
mod mannequin;

use crate::error::Error;
use crate::scene::{Air, Cloth, Material, Pin, Place, Scene, Sheet, Springs, Waypoint};
use glam::{DVec3, dvec3};

/// A named scene.
pub struct BuiltIn {
    /// Name for the command line.
    pub name: &'static str,
    /// One sentence.
    pub about: &'static str,
    build: fn() -> Scene,
}

impl BuiltIn {
    /// The scene itself.
    pub fn scene(&self) -> Scene {
        Scene { name: self.name.into(), about: self.about.into(), ..(self.build)() }
    }
}

/// Every built-in scene.
pub const SCENES: &[BuiltIn] = &[
    BuiltIn {
        name: "bunting",
        about: "pennants of five fabrics on a line in a gusty wind",
        build: bunting,
    },
    BuiltIn {
        name: "hang",
        about: "2 m square of 0.2 kg/m², held at two corners, falling from the horizontal",
        build: hang,
    },
    BuiltIn {
        name: "kim-2006-fall",
        about: "Kim 2006 Fig. 4: 80×80 unit masses, type 1 stiffness 50",
        build: || kim(50.0),
    },
    BuiltIn {
        name: "kim-2006-drape",
        about: "Kim 2006 Fig. 3: the same with type 1 stiffness 1000",
        build: || kim(1000.0),
    },
    BuiltIn {
        name: "kang-flag",
        about: "Kang & Cho 2002 Fig. 4: a flag of 2048 triangles in the wind, h = 1/300 s",
        build: kang_flag,
    },
    BuiltIn {
        name: "moustakas-fabric",
        about: "Moustakas et al. Fig. 3 without its sphere: 400 vertices falling about a held middle",
        build: moustakas_fabric,
    },
    BuiltIn {
        name: "moustakas-sphere",
        about: "Moustakas et al. Fig. 3: 400 vertices falling on a sphere",
        build: contact::moustakas_sphere,
    },
    BuiltIn {
        name: "moustakas-flag",
        about: "Moustakas et al. Fig. 4: a flag of 400 vertices in the wind",
        build: moustakas_flag,
    },
    BuiltIn {
        name: "rubin-hang",
        about: "Rubin 2005 §7.1.1: 8×8 unit masses, the T-shirt constants, two corners held",
        build: rubin_hang,
    },
    BuiltIn {
        name: "rubin-meshless",
        about: "Rubin 2005 §7.1.2: 6×6 unit masses upright, held at two corners, general damping 0.9",
        build: rubin_meshless,
    },
    BuiltIn {
        name: "rubin-hybrid",
        about: "Rubin 2005 §7.1.3: the same with structural damping 20",
        build: rubin_hybrid,
    },
    BuiltIn {
        name: "rubin-sphere",
        about: "Rubin 2005 Fig. 13: the T-shirt of 8×8 and of 16×16 particles falling on spheres",
        build: contact::rubin_sphere,
    },
    BuiltIn {
        name: "drape",
        about: "2 m of cotton falling on a sphere of 0.5 m radius, friction 0.4",
        build: contact::drape,
    },
    BuiltIn { name: "table", about: "a linen cloth over a round table", build: contact::table },
    BuiltIn {
        name: "square-table",
        about: "a linen cloth over a square table, its corners hanging in folds",
        build: contact::square_table,
    },
    BuiltIn {
        name: "grip",
        about: "cloth gripped by two boxes with friction 0.5, lifted and held",
        build: contact::grip,
    },
    BuiltIn {
        name: "stack",
        about: "ten layers of cotton falling on a cylinder and on each other",
        build: folds::stack,
    },
    BuiltIn {
        name: "twist",
        about: "a tube of silk twisted by four turns between its rims",
        build: || folds::twist(24, 41),
    },
    BuiltIn {
        name: "funnel",
        about: "a square of cotton pushed through a funnel by a ball",
        build: folds::funnel,
    },
    BuiltIn {
        name: "jeong-jelly",
        about: "Jeong & Lee Fig. 5: leaning jelly cubes of 12 3D springs and of 12, 20 and 28 conventional ones",
        build: jeong::jeong_jelly,
    },
    BuiltIn {
        name: "jeong-bar",
        about: "Jeong & Lee Fig. 7: ten cubes on a wall, of 3D springs and of edges only",
        build: jeong::jeong_bar,
    },
    BuiltIn {
        name: "jeong-crease",
        about: "Jeong & Lee Fig. 6: cloth with creases hanging from a table edge, beside conventional springs",
        build: jeong::jeong_crease,
    },
    BuiltIn {
        name: "pleated-skirt",
        about: "a skirt of 3D springs that remembers its pleats, swung by the waist",
        build: jeong::pleated_skirt,
    },
    BuiltIn {
        name: "dressed-walk",
        about: "a cotton skirt on a walking mannequin, its waistband on the hips",
        build: mannequin::dressed_walk,
    },
    BuiltIn {
        name: "pendulum",
        about: "one mass on a spring of 40 N/m, let go from the horizontal",
        build: pendulum,
    },
    BuiltIn {
        name: "chain",
        about: "a chain of 1.5 m whose ends are brought to 1 m apart: the catenary",
        build: chain,
    },
    BuiltIn {
        name: "golden-5x5",
        about: "25 masses with an independently computed trajectory",
        build: golden_5x5,
    },
    BuiltIn {
        name: "cantilever",
        about: "a strip clamped at one end, bending under its weight (σ g L³/B = 5)",
        build: cantilever,
    },
    BuiltIn {
        name: "curtain",
        about: "a cotton curtain on nine rings, drawn together to 60 % of its width",
        build: curtain,
    },
];

/// The scene of this name.
pub fn named(name: &str) -> Result<Scene, Error> {
    SCENES.iter().find(|s| s.name == name).map(BuiltIn::scene).ok_or_else(|| {
        let known: Vec<_> = SCENES.iter().map(|s| s.name).collect();
        let remedy = format!(
            "no such scene; choose one of {}, or give a TOML file ending in .toml",
            known.join(", ")
        );
        Error::new("scene", name, remedy)
    })
}

fn pin(place: Place) -> Pin {
    Pin { place: Some(place), ..Pin::default() }
}

fn moved(time: f64, offset: DVec3) -> Vec<Waypoint> {
    vec![Waypoint::default(), Waypoint { time, offset }]
}

fn hang() -> Scene {
    let cloth = Cloth {
        material: Material {
            density: Some(0.2),
            stretch: Some(5000.0),
            bending: Some(1e-5),
            damping: None,
        },
        pins: vec![pin(Place::FirstCorner), pin(Place::FirstRowLastColumn)],
        origin: dvec3(-1.0, 0.0, 0.0),
        ..Sheet::square(2.0, 80)
    };
    Scene { cloth: vec![cloth], ..Scene::default() }
}

fn kim(type1: f64) -> Scene {
    let cloth = Cloth {
        springs: Springs { type1, type2: 0.1, ..Springs::default() },
        particle_mass: Some(1.0),
        absolute_damping: 0.05,
        pins: vec![pin(Place::FirstCorner), pin(Place::FirstRowLastColumn)],
        ..Sheet::square(79.0, 80)
    };
    Scene {
        dt: 0.25,
        seconds: 500.0,
        gravity: dvec3(0.0, -0.03, 0.0),
        cloth: vec![cloth],
        ..Scene::default()
    }
}

fn kang_flag() -> Scene {
    let cloth = Cloth {
        down: DVec3::NEG_Y,
        springs: Springs {
            structural: 100.0,
            shear: 50.0,
            bend: 2.0,
            relative_damping: 2e-4,
            ..Springs::default()
        },
        particle_mass: Some(0.15 / (33.0 * 33.0)),
        pins: vec![pin(Place::FirstColumn)],
        ..Sheet::square(1.0, 33)
    };
    Scene {
        dt: 1.0 / 300.0,
        air: Air {
            wind: dvec3(6.0, 0.0, 0.5),
            gust: dvec3(1.0, 0.3, 1.5),
            gust_period: 0.7,
            density: 1.2,
            ..Air::default()
        },
        cloth: vec![cloth],
        ..Scene::default()
    }
}

/// The 12-neighbour net of Moustakas Fig. 1a; the paper gives no constants. Density in place of a particle
/// mass, so that any resolution is the same cloth.
fn moustakas_cloth() -> Cloth {
    Cloth {
        springs: Springs { structural: 100.0, shear: 50.0, bend: 5.0, ..Springs::default() },
        material: Material { density: Some(0.3), ..Material::default() },
        ..Sheet::square(1.0, 20)
    }
}

fn moustakas_fabric() -> Scene {
    let middle = [[0.47, 0.47], [0.53, 0.47], [0.47, 0.53], [0.53, 0.53]];
    let cloth = Cloth {
        origin: dvec3(-0.5, 0.0, -0.5),
        pins: vec![Pin { at: middle.to_vec(), ..Pin::default() }],
        ..moustakas_cloth()
    };
    Scene {
        dt: 0.01,
        seconds: 3.0,
        air: Air { drag: 0.5, ..Air::default() },
        cloth: vec![cloth],
        ..Scene::default()
    }
}

fn moustakas_flag() -> Scene {
    let cloth =
        Cloth { down: DVec3::NEG_Y, pins: vec![pin(Place::FirstColumn)], ..moustakas_cloth() };
    Scene {
        dt: 0.01,
        seconds: 4.0,
        air: Air {
            wind: dvec3(5.0, 0.0, 1.0),
            gust: dvec3(1.0, 0.0, 2.0),
            gust_period: 0.9,
            density: 1.2,
            ..Air::default()
        },
        cloth: vec![cloth],
        ..Scene::default()
    }
}

fn rubin_hang() -> Scene {
    let cloth = Cloth {
        fabric: Some("rubin-t-shirt".into()),
        pins: vec![pin(Place::FirstCorner), pin(Place::FirstRowLastColumn)],
        ..Sheet::square(7.0, 8)
    };
    Scene {
        dt: 0.01,
        seconds: 30.0,
        gravity: dvec3(0.0, -1.0, 0.0),
        cloth: vec![cloth],
        ..Scene::default()
    }
}

fn rubin_meshless() -> Scene {
    let cloth = Cloth {
        down: DVec3::NEG_Y,
        springs: Springs {
            structural: 22.0,
            shear: 13.0,
            bend: 10.0,
            structural_damping: 2.0,
            shear_damping: 2.0,
            bend_damping: 3.0,
            ..Springs::default()
        },
        particle_mass: Some(1.0),
        absolute_damping: 0.9,
        pins: vec![pin(Place::FirstCorner), pin(Place::FirstRowLastColumn)],
        ..Sheet::square(5.0, 6)
    };
    // Goals give way by g h²/α: with g = 9.8 the sheet would hang down to 2.6 times its height.
    Scene { seconds: 10.0, gravity: dvec3(0.0, -1.0, 0.0), cloth: vec![cloth], ..Scene::default() }
}

fn rubin_hybrid() -> Scene {
    let mut scene = Scene { dt: 0.01, ..rubin_meshless() };
    scene.cloth[0].springs.structural_damping = 20.0;
    scene
}

fn pendulum() -> Scene {
    let cloth = Cloth {
        springs: Springs { structural: 40.0, ..Springs::default() },
        particle_mass: Some(1.0),
        pins: vec![pin(Place::FirstCorner)],
        ..Sheet::rectangle(1.0, 0.0, 2, 1)
    };
    Scene { cloth: vec![cloth], ..Scene::default() }
}

fn chain() -> Scene {
    let closing = Pin { path: moved(1.0, dvec3(-0.5, 0.0, 0.0)), ..pin(Place::LastCorner) };
    let cloth = Cloth {
        origin: dvec3(-0.5, 0.0, 0.0),
        material: Material {
            density: Some(1.0),
            stretch: Some(1e4),
            bending: None,
            damping: Some(1e-3),
        },
        absolute_damping: 5e-4,
        pins: vec![pin(Place::FirstCorner), closing],
        ..Sheet::rectangle(1.5, 0.01, 61, 1)
    };
    Scene { seconds: 10.0, cloth: vec![cloth], ..Scene::default() }
}

fn golden_5x5() -> Scene {
    let cloth = Cloth {
        springs: Springs { structural: 100.0, shear: 50.0, ..Springs::default() },
        particle_mass: Some(0.01),
        pins: vec![pin(Place::FirstCorner), pin(Place::FirstRowLastColumn)],
        ..Sheet::square(1.0, 5)
    };
    Scene { dt: 1.0 / 240.0, seconds: 1.0, cloth: vec![cloth], ..Scene::default() }
}

fn cantilever() -> Scene {
    // σ g L³/B = 5 over the free length L, which starts a third of a cell before the second column:
    // the hinge there stands for the cell around it, and held flat it is half again as stiff.
    let (density, bending): (f64, f64) = (0.2, 1e-5);
    let free = (5.0 * bending / (density * 9.81)).cbrt();
    let columns = 37;
    let dx = free / (columns as f64 - 5.0 / 3.0);
    let cloth = Cloth {
        material: Material {
            density: Some(density),
            stretch: Some(500.0),
            bending: Some(bending),
            damping: None,
        },
        pins: vec![pin(Place::FirstTwoColumns)],
        ..Sheet::rectangle(free + dx, 10.0 * dx, columns, 11)
    };
    Scene {
        dt: 1.0 / 60.0,
        seconds: 3.0,
        air: Air { drag: 5.0, ..Air::default() },
        cloth: vec![cloth],
        ..Scene::default()
    }
}

fn curtain() -> Scene {
    let rings = 8;
    let pins = (0..=rings)
        .map(|ring| {
            let share = f64::from(ring) / f64::from(rings);
            // Every other ring a little forward: a flat sheet does not know which way to fold.
            let forward = if ring % 2 == 0 { 0.04 } else { -0.04 };
            let path = moved(2.0, dvec3(0.4 * 2.0 * (0.5 - share), 0.0, forward));
            Pin { at: vec![[share, 0.0]], path, ..Pin::default() }
        })
        .collect();
    let cloth = Cloth {
        fabric: Some("cotton".into()),
        origin: dvec3(-1.0, 0.0, 0.0),
        down: DVec3::NEG_Y,
        pins,
        ..Sheet::square(2.0, 65)
    };
    Scene {
        seconds: 6.0,
        air: Air {
            wind: DVec3::ZERO,
            gust: dvec3(0.2, 0.0, 0.6),
            gust_period: 2.0,
            density: 1.2,
            ..Air::default()
        },
        cloth: vec![cloth],
        ..Scene::default()
    }
}

fn bunting() -> Scene {
    let fabrics = ["cotton", "silk", "wool", "polyester", "linen"];
    let (width, height, rows) = (0.30, 0.42, 22);
    let cloth = fabrics.iter().enumerate().map(|(i, fabric)| {
        let left = (i as f64 - 2.5) * width;
        // A triangle pointing down: row r has rows − r particles.
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for row in 0..rows {
            let start = vertices.len();
            let below = start + rows - row;
            let down = row as f64 / (rows - 1) as f64;
            for column in 0..rows - row {
                let across = (column as f64 + 0.5 * row as f64) / (rows - 1) as f64;
                vertices.push(dvec3(left + width * across, -height * down, 0.0));
                if column + 1 < rows - row {
                    let a = start + column;
                    triangles.push([a, below + column, a + 1]);
                    if column + 2 < rows - row {
                        triangles.push([a + 1, below + column, below + column + 1]);
                    }
                }
            }
        }
        Cloth {
            name: (*fabric).into(),
            fabric: Some((*fabric).into()),
            pins: vec![Pin { particles: (0..rows).collect(), ..Pin::default() }],
            ..Sheet::mesh(vertices, triangles)
        }
    });
    Scene {
        seconds: 4.0,
        substeps: 2,
        air: Air {
            wind: dvec3(0.6, 0.0, 2.6),
            gust: dvec3(0.8, 0.0, 2.0),
            gust_period: 1.1,
            density: 1.2,
            ..Air::default()
        },
        cloth: cloth.collect(),
        ..Scene::default()
    }
}
