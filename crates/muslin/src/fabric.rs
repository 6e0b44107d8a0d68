//! Fabrics in SI units, and the papers' spring constants as fabrics of their own.
//!
//! A plausible fabric has a bending length (B/σg)^⅓ of 1 to 3.5 cm. KES figures are Kawabata
//! Evaluation System measurements; 618 measured fabrics have medians σ = 0.197 kg/m² and
//! B = 1.38e-5 N·m (5–95 %: 1e-6 … 1.1e-4). Stretch runs from about 500 N/m (silk) over 15 000
//! (denim) to 58 000 (leather). Where only a range is known the source says "estimate".

use crate::scene::{Cloth, Material, Springs};

/// What a cloth is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fabric {
    /// Name for scene files.
    pub name: &'static str,
    /// Where the figures come from.
    pub source: &'static str,
    /// The figures.
    pub made_of: MadeOf,
}

/// SI figures or raw springs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MadeOf {
    /// Continuum figures: independent of the grid.
    Continuum {
        /// σ [kg/m²]
        density: f64,
        /// Eh [N/m]
        stretch: f64,
        /// B [N·m]
        bending: f64,
    },
    /// Spring constants for one particular grid, unit masses.
    Springs {
        /// The constants.
        springs: Springs,
        /// −C v on every particle. [N·s/m]
        absolute_damping: f64,
    },
}

const fn continuum(
    name: &'static str,
    density: f64,
    stretch: f64,
    bending: f64,
    source: &'static str,
) -> Fabric {
    Fabric { name, source, made_of: MadeOf::Continuum { density, stretch, bending } }
}

const fn rubin(
    name: &'static str,
    structural: f64,
    shear: f64,
    bend: f64,
    source: &'static str,
) -> Fabric {
    let springs = Springs {
        structural,
        shear,
        bend,
        type1: 0.0,
        type2: 0.0,
        structural_damping: 2.0,
        shear_damping: 2.0,
        bend_damping: 3.0,
        relative_damping: 0.0,
        tension_only: false,
        hinge: 0.0,
    };
    Fabric { name, source, made_of: MadeOf::Springs { springs, absolute_damping: 0.35 } }
}

/// The one list of fabrics.
pub const FABRICS: &[Fabric] = &[
    continuum("cotton", 0.1238, 4000.0, 1.157e-5, "σ, B: KES, cotton broadcloth; Eh: estimate"),
    continuum(
        "silk",
        0.06,
        500.0,
        2.0e-6,
        "Eh: lower end of measured range; σ, B: estimate, bending length 1.5 cm",
    ),
    continuum("wool", 0.1629, 3000.0, 6.57e-6, "σ, B: KES, wool tropical; Eh: estimate"),
    continuum(
        "denim",
        0.40,
        15_000.0,
        1.0e-4,
        "Eh: measured range; σ, B: estimate, bending length 2.9 cm",
    ),
    continuum(
        "leather",
        0.60,
        58_000.0,
        1.6e-4,
        "Eh: measured range; σ, B: estimate, bending length 3.0 cm",
    ),
    continuum("polyester", 0.1165, 5000.0, 7.55e-6, "σ, B: KES, polyester tropical; Eh: estimate"),
    continuum(
        "polyester-faille",
        0.1043,
        4000.0,
        1.863e-6,
        "σ, B: KES, polyester faille; Eh: estimate",
    ),
    continuum("linen", 0.18, 8000.0, 3.0e-5, "estimate, bending length 2.6 cm"),
    continuum(
        "median",
        0.197,
        5000.0,
        1.38e-5,
        "σ, B: medians of 618 measured fabrics; Eh: estimate",
    ),
    rubin("rubin-t-shirt", 22.0, 13.0, 10.0, "Rubin 2005 §7.1.1 as printed, for 8×8 unit masses"),
    rubin(
        "rubin-leather",
        22.0,
        40.0,
        6.0,
        "Rubin 2005 §7.1.1 in words: high shear, low to moderate bend; numbers ours",
    ),
    rubin(
        "rubin-silk",
        22.0,
        3.0,
        1.0,
        "Rubin 2005 §7.1.1 in words: low shear and bend; numbers ours",
    ),
    rubin(
        "rubin-metal",
        22.0,
        80.0,
        6.0,
        "Rubin 2005 §7.1.1 in words: very high shear; numbers ours",
    ),
];

impl Fabric {
    /// The fabric of this name.
    pub fn named(name: &str) -> Option<Self> {
        FABRICS.iter().find(|f| f.name == name).copied()
    }

    /// Cotton broadcloth.
    pub fn cotton() -> Self {
        FABRICS[0]
    }

    /// A fabric from its three figures: σ in kg/m², Eh in N/m, B in N·m.
    pub fn new(density: f64, stretch: f64, bending: f64) -> Self {
        continuum("custom", density, stretch, bending, "given by the user")
    }

    /// Fills what a cloth leaves open with this fabric's figures.
    pub fn apply(self, cloth: &mut Cloth) {
        match self.made_of {
            MadeOf::Continuum { density, stretch, bending } => {
                let own = cloth.material;
                cloth.material = Material {
                    density: own.density.or(Some(density)),
                    stretch: own.stretch.or(Some(stretch)),
                    bending: own.bending.or(Some(bending)),
                    damping: own.damping,
                };
            }
            MadeOf::Springs { springs, absolute_damping } => {
                if !cloth.springs.any() {
                    cloth.springs = springs;
                }
                if cloth.absolute_damping == 0.0 {
                    cloth.absolute_damping = absolute_damping;
                }
                cloth.particle_mass = cloth.particle_mass.or(Some(1.0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fabrics_have_plausible_bending_lengths() {
        for fabric in FABRICS {
            if let MadeOf::Continuum { density, bending, .. } = fabric.made_of {
                let centimetres = 100.0 * (bending / (density * 9.81)).cbrt();
                assert!((1.0..3.5).contains(&centimetres), "{}: {centimetres} cm", fabric.name);
            }
        }
    }
}
