//! What the papers' words are taken for: the one home of all bounds in verdicts.
//!
//! A paper says “similar”, “much less”, “in real time”; a rule needs a number. Where the paper prints one, that is it. Else the number
//! is a convention, made for the word and not for what was measured:
//!
//! * two quantities that a law makes equal agree to one percent ([`EQUAL`]);
//! * what is similar, almost the same, or only slightly more differs by less than half again ([`SLIGHT`]);
//! * what is much more is at least twice as much ([`MUCH`]);
//! * between the two neither word fits. “No significant” difference is a slight one.
//!
//! Experiments take their checks from here; a test sees that none makes a bound of its own.

use super::finding::{Bound, Check};

/// Equal by a law: to this share.
const EQUAL: f64 = 0.01;
/// Similar: less than this many times.
const SLIGHT: f64 = 1.5;
/// Much more: at least this many times.
const MUCH: f64 = 2.0;

/// A word, who says it, and the number it is taken for.
pub struct Word {
    /// The word; one for each meaning.
    pub word: &'static str,
    /// The sentence it stands in; empty for a convention of ours.
    pub said: &'static str,
    /// Paper and section.
    pub by: &'static str,
    /// What it is taken for.
    pub means: &'static str,
    bound: Bound,
}

impl Word {
    /// A measurement held against the word.
    pub fn check(&self, what: impl Into<String>, value: f64) -> Check {
        Check::new(what, value, self.bound).by(self.word)
    }

    /// Whether a measurement deserves the word.
    pub fn fits(&self, value: f64) -> bool {
        self.check("", value).is_met()
    }

    /// Something that must be so, decided with [`Self::fits`].
    pub fn yes(&self, what: impl Into<String>, is_so: bool) -> Check {
        Check::yes(what, is_so).by(self.word)
    }

    /// Something that must not be so.
    pub fn no(&self, what: impl Into<String>, is_so: bool) -> Check {
        Check::no(what, is_so).by(self.word)
    }

    /// The number in signs.
    pub fn bound(&self) -> String {
        self.bound.text()
    }
}

const fn word(
    word: &'static str,
    (said, by): (&'static str, &'static str),
    means: &'static str,
    bound: Bound,
) -> Word {
    Word { word, said, by, means, bound }
}

const OURS: (&str, &str) = ("", "convention");

pub const EXACT: Word = word(
    "equal",
    OURS,
    "a ratio that mechanics or geometry makes one is one to 1 %",
    Bound::Between(1.0 - EQUAL, 1.0 + EQUAL),
);

// Kang & Cho 2002.

pub const REAL_TIME: Word = word(
    "real time",
    (
        "it was also possible to generate the real-time animation of the complex model with 3025 \
         polygons by using time-steps with the size of 1/120 second",
        "Kang & Cho, section 5",
    ),
    "a simulated second takes at most a second",
    Bound::Below(1.0),
);
pub const INTERACTIVE: Word = word(
    "interactive rate",
    (
        "efficiently generated plausible animation of dressed human at interactive rate",
        "Kang & Cho, section 5",
    ),
    "at least 15 frames are ready each second",
    Bound::Above(15.0),
);
pub const LINEAR: Word = word(
    "linearly proportional",
    (
        "the state update time of the proposed method was linearly proportional to the number of \
         the mass-points",
        "Kang & Cho, section 5",
    ),
    "the exponent of the growth is as near to one as that of the paper's own Table 4, 1.12",
    Bound::Between(0.88, 1.12),
);
pub const LINEAR_EACH: Word = word(
    "proportional to mass-points and edges",
    (
        "the time complexity of the proposed method is linearly proportional to the number of \
         mass-points and spring edges",
        "Kang & Cho, section 5",
    ),
    "the time per mass-point and edge differs between meshes by no more than in the paper's own \
     Table 4, 1.30 times",
    Bound::Below(1.305),
);
const DECLINE: (&str, &str) = (
    "without any significant decline of realism such as over-damping or over-stretching effects",
    "Kang & Cho, section 5",
);
pub const OVER_DAMPED: Word = word(
    "no over-damping",
    DECLINE,
    "kinetic energy over that of the converged step: similar, within half again",
    Bound::Between(1.0 / SLIGHT, SLIGHT),
);
pub const OVER_STRETCHED: Word = word(
    "no over-stretching",
    DECLINE,
    "mean strain over that of the converged step: at most half again",
    Bound::Below(SLIGHT),
);
pub const PLAUSIBLE: Word = word(
    "plausible",
    (
        "efficiently generated plausible animation of dressed human at interactive rate",
        "Kang & Cho, section 5",
    ),
    "no point of the garment is ever inside the body [mm]",
    Bound::Below(0.0),
);
pub const LARGE_STEPS: Word = word(
    "large steps",
    ("the proposed method is stable enough to use large steps", "Kang & Cho, section 5"),
    "κ = k h²/m of 1000, where steps are forty times those of the explicit method",
    Bound::Above(1000.0),
);

// Kim 2006.

pub const STABLE: Word = word(
    "stable",
    ("Our method is stable like an implicit method", "Kim, Figure 4"),
    "bounded, and no particle is ever more than twice as fast as the fastest of the implicit method",
    Bound::Below(MUCH),
);
pub const SIMILAR: Word = word(
    "similar",
    ("Our method worked similar to the implicit method", "Kim, section 5"),
    "the sheet has fallen as far as with the implicit method, within half again",
    Bound::Between(1.0 / SLIGHT, SLIGHT),
);
pub const SLIGHTLY_SLOW: Word = word(
    "slightly slow",
    ("except the velocity is slightly slow in our method", "Kim, section 5"),
    "the sheet has fallen less far, but more than two thirds of the way of the implicit method",
    Bound::Between(1.0 / SLIGHT, 1.0),
);
pub const ELONGATION: Word = word(
    "no limiting of elongation",
    (
        "we do not need any post-step of limiting spring elongation, which was the case in [17]",
        "Kim, section 5",
    ),
    "no spring is stretched by more than 10 %, where Provot 1995, cited there as [17], begins to limit",
    Bound::Below(10.0),
);
pub const MUCH_LESS_DAMPING: Word = word(
    "much less damping",
    ("it has much less damping than other semi-implicit methods", "Kim, section 5"),
    "the others are at least twice as far behind the implicit method",
    Bound::Above(MUCH),
);
pub const FOUR_TIMES: Word = word(
    "four times as fast",
    (
        "our method is equally stable and four times as fast as the implicit method in this example",
        "Kim, section 5",
    ),
    "an implicit step takes at least four times as long",
    Bound::Above(4.0),
);
pub const CONVERGES: Word = word(
    "converges",
    (
        "Our method actually converges to the solution of the implicit method if we iterate it \
         until converges",
        "Kim, section 3",
    ),
    "after some hundred sweeps the error is below 1 % of the change of velocity",
    Bound::Below(EQUAL),
);
pub const DAMPS: Word = word(
    "damping force",
    (
        "This will make a damping force that resists bending, wrinkling, overall rotating motion, \
         and even translational motion in the direction of plane normal",
        "Kim, section 4.1",
    ),
    "more than 1 % of gravity is lost",
    Bound::Below(1.0 - EQUAL),
);

// Moustakas et al.

pub const GAIN: Word = word(
    "computational gain",
    (
        "The hierarchical representation and simulation of deformable objects decreases \
         significantly the computational cost. In every case, the proposed method is more efficient.",
        "Moustakas et al., section 5",
    ),
    "the least mean gain of Tables 1 and 2, 14 %, is reached in every case",
    Bound::Above(14.0),
);
pub const OPTIMAL: Word = word(
    "optimal levels",
    ("4 or 5 levels of hierarchy lead to optimal results", "Moustakas et al., section 5"),
    "their gain is at least that of 3 levels",
    Bound::Above(0.0),
);
pub const DIGITS: Word = word(
    "printed digits",
    ("λ = 0.95 is assumed, equation (21) gives", "Moustakas et al., section 4.3"),
    "a coefficient agrees with the solution to its fourth decimal",
    Bound::Below(5e-5),
);

// Rubin 2005.

pub const AS_CHEAP: Word = word(
    "greater computational efficiency",
    (
        "the Meshless Deformations technique does achieve a greater computational efficiency than \
         Mass-Spring Systems",
        "Rubin, section 7",
    ),
    "the cost over that of springs is at most half again the printed ratio",
    Bound::Below(SLIGHT),
);
pub const LESS_COSTLY: Word = word(
    "less costly",
    (
        "The hybrid approach is only slightly less costly than a mass-spring system.",
        "Rubin, section 7",
    ),
    "it costs no more than the springs",
    Bound::Below(1.0),
);
const MELTED: (&str, &str) = (
    "The cloth model now looks more like melted plastic than a cloth. After increasing the spring \
     and damping constants the cloth model now behaves more realistically.",
    "Rubin, section 7.1.1",
);
pub const MELTS: Word =
    word("melted plastic", MELTED, "the strain is at least twice as large", Bound::Above(MUCH));
pub const MORE_REALISTIC: Word = word(
    "more realistically",
    MELTED,
    "the strain is at most half as large",
    Bound::Below(1.0 / MUCH),
);
pub const SILK: Word = word(
    "silk like",
    (
        "using low shearing and bending coefficients and a moderate structural coefficient gives a \
         more silk like appearance",
        "Rubin, section 7.1.1",
    ),
    "shears at least twice as much as cotton",
    Bound::Above(MUCH),
);
pub const LEATHER: Word = word(
    "leather",
    (
        "Using a high shearing coefficient and a low to moderate bending coefficient gives results \
         similar to the material of leather.",
        "Rubin, section 7.1.1",
    ),
    "shears at most half as much as cotton",
    Bound::Below(1.0 / MUCH),
);
pub const METAL: Word = word(
    "metal",
    (
        "when shear is very high, structural is moderate and bend is low to moderate the simulation \
         produces an animation more like metal than that of a cloth",
        "Rubin, section 7.1.1",
    ),
    "shears and bends at most half as much as cotton",
    Bound::Below(1.0 / MUCH),
);
pub const AS_CLOSE: Word = word(
    "as close as possible",
    (
        "The blue particles are then made as close as possible to the initial red particles.",
        "Rubin, section 6.2.1",
    ),
    "single precision leaves a digit of the fit: a condition number below 1/ε = 8.4e6",
    Bound::Below(1.0 / f32::EPSILON as f64),
);
pub const OSCILLATES: Word = word(
    "oscillate",
    ("causing it to oscillate around its goal position", "Rubin, section 6.2.3"),
    "the motion turns back more often than an overshoot and its return: three times or more",
    Bound::Above(3.0),
);
const INTERFACE: (&str, &str) = (
    "the result is the smooth and continuous motion of the cloth model in response to user applied \
     forces",
    "Rubin, section 6.2.3",
);
pub const CONTINUOUS: Word = word(
    "continuous",
    INTERFACE,
    "the motion turns back at most twice: an overshoot and its return",
    Bound::Below(2.0),
);
pub const SMOOTH: Word = word(
    "smooth",
    INTERFACE,
    "the roughness is at most half of that without interface particles",
    Bound::Below(1.0 / MUCH),
);
const SPRINGS: (&str, &str) = (
    "By adding structural springs the distance between particles is controlled and this improves the \
     quality of the animation.",
    "Rubin, section 6.3",
);
pub const CONTROLLED: Word = word(
    "controlled",
    SPRINGS,
    "the spread of the distances is at most half of that without springs",
    Bound::Below(1.0 / MUCH),
);
pub const IMPROVES: Word = word(
    "improves",
    SPRINGS,
    "the spread of the distances is smaller by more than 1 %",
    Bound::Below(1.0 - EQUAL),
);
pub const RIGID: Word = word(
    "a lot less bending",
    (
        "Approximately the same deformation is applied by the user, but as can be seen a lot less \
         bending is allowed to occur.",
        "Rubin, section 7",
    ),
    "the sheet bends at most half as much",
    Bound::Below(1.0 / MUCH),
);
pub const UNCONDITIONAL: Word = word(
    "unconditional stability",
    (
        "the meshless deformations technique guarantees unconditional stability",
        "Rubin, section 5.2.3",
    ),
    "whatever the step, the sheet never gets larger than half again",
    Bound::Below(SLIGHT),
);

// Jeong & Lee.

pub const RECOVERS: Word = word(
    "suffices for a stable model",
    (
        "the jelly cube model in Fig. 2 suffices for a stable spring model as we intended",
        "Jeong & Lee, section 4",
    ),
    "the cube comes back to its shape, to 1 % of an edge",
    Bound::Below(EQUAL),
);
const CREASES: (&str, &str) = (
    "creases that were impossible for the previous techniques without any geometrical procedure",
    "Jeong & Lee, section 4",
);
pub const IMPOSSIBLE: Word = word(
    "impossible",
    CREASES,
    "without 3D springs the sheet stays flat: the angle over 180° is one to 1 %",
    Bound::Above(1.0 - EQUAL),
);
pub const UNDIRECTED: Word = word(
    "without direction",
    CREASES,
    "creases fall on their side less often than midway between chance and always, 75 %",
    Bound::Below(75.0),
);
pub const HOLDS_ITSELF: Word = word(
    "a bar attached to a wall",
    ("Figure 7 shows a bar attached to a wall under gravity.", "Jeong & Lee, section 4"),
    "its tip sinks at most half as far as that of a bar that has no stiffness",
    Bound::Below(1.0 / MUCH),
);
pub const AT_REST: Word = word(
    "at rest",
    OURS,
    "nothing moves by more than 1 % of an edge in a second",
    Bound::Below(EQUAL),
);
pub const ALMOST_THE_SAME: Word = word(
    "almost the same computation",
    (
        "our 3D spring requires almost the same computation as the conventional spring in the jelly \
         cube case",
        "Jeong & Lee, section 4",
    ),
    "it takes at most half again as long",
    Bound::Below(SLIGHT),
);

/// Every word, for the page.
pub const ALL: &[&Word] = &[
    &EXACT,
    &AT_REST,
    &REAL_TIME,
    &INTERACTIVE,
    &LINEAR,
    &LINEAR_EACH,
    &OVER_DAMPED,
    &OVER_STRETCHED,
    &PLAUSIBLE,
    &LARGE_STEPS,
    &STABLE,
    &SIMILAR,
    &SLIGHTLY_SLOW,
    &ELONGATION,
    &MUCH_LESS_DAMPING,
    &FOUR_TIMES,
    &CONVERGES,
    &DAMPS,
    &GAIN,
    &OPTIMAL,
    &DIGITS,
    &AS_CHEAP,
    &LESS_COSTLY,
    &MELTS,
    &MORE_REALISTIC,
    &SILK,
    &LEATHER,
    &METAL,
    &AS_CLOSE,
    &OSCILLATES,
    &CONTINUOUS,
    &SMOOTH,
    &CONTROLLED,
    &IMPROVES,
    &RIGID,
    &UNCONDITIONAL,
    &RECOVERS,
    &IMPOSSIBLE,
    &UNDIRECTED,
    &HOLDS_ITSELF,
    &ALMOST_THE_SAME,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_one_meaning_and_a_source() {
        let mut seen = std::collections::HashSet::new();
        for Word { word, said, by, means, .. } in ALL {
            assert!(seen.insert(*word), "{word} twice");
            assert_eq!(said.is_empty(), *by == "convention", "{word}: a quotation needs its place");
            assert!(!means.is_empty() && !word.contains(['"', '<', '&', '#']), "{word}");
        }
    }

    /// What is similar is not much more, and the scale is the same whichever way a ratio is taken.
    #[test]
    fn the_scale_of_words_is_consistent() {
        const { assert!(EQUAL < SLIGHT - 1.0 && SLIGHT < MUCH) };
        for ratio in [0.5, 0.7, 1.0, 1.4, 2.0] {
            assert_eq!(SIMILAR.fits(ratio), SIMILAR.fits(1.0 / ratio), "{ratio}");
            assert_eq!(MELTS.fits(ratio), MORE_REALISTIC.fits(1.0 / ratio), "{ratio}");
            assert!(!(ALMOST_THE_SAME.fits(ratio) && MELTS.fits(ratio)), "{ratio}");
        }
        assert!(EXACT.fits(1.01) && !EXACT.fits(1.011) && !EXACT.fits(f64::NAN));
    }

    /// Bounds live here: no experiment makes one of its own.
    #[test]
    fn experiments_make_no_bounds() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/reproduce");
        let mut files = 0;
        for entry in std::fs::read_dir(folder).expect("the folder of experiments") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if ["words.rs", "finding.rs"].contains(&name.as_str()) {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("text");
            for own in ["Bound::", "Check::new", "Check {"] {
                assert!(!text.contains(own), "{name} has {own}: its number belongs into words.rs");
            }
            files += 1;
        }
        assert!(files > 10, "{files}");
    }
}
