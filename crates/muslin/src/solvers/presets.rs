//! The one list of methods. A new combination is one entry here.

use super::*;

/// A named method.
pub struct Preset {
    /// Name for the command line and scene files.
    pub id: &'static str,
    /// One sentence.
    pub about: &'static str,
    change: fn(&mut Method),
}

impl Preset {
    /// The method itself.
    pub fn method(&self) -> Method {
        let mut method = base(self.id);
        (self.change)(&mut method);
        method
    }
}

/// Linearised backward Euler, solved to a tolerance: what every preset starts from.
fn base(id: &str) -> Method {
    Method {
        id: id.into(),
        integrator: Integrator::BackwardEuler,
        springs: SpringLaw::Scene,
        strain_limit: 0.0,
        tethers: 0.0,
        budget: 0.0,
        weak_springs: WeakSprings::Implicit,
        jacobian: Jacobian::Psd,
        guess: Guess::Zero,
        levels: 4,
        filter: Filter::MinimumVariance,
        correlation: 0.95,
        solver: LinearSolver::ConjugateGradient,
        sweeps: 10,
        order: SweepOrder::Rows,
        preconditioner: Preconditioner::BlockJacobi,
        coarsening: Coarsening::Doubled,
        tolerance: 1e-3,
        max_iterations: 2000,
        newton: 1,
        momentum: MomentumCorrection::None,
        modes: Modes::Quadratic,
        alpha: 0.03,
        beta: 0.9,
        layers: Layers::Planar,
        regions: 1,
        internal: Internal::None,
    }
}

/// The method whose step counts as converged.
pub const REFERENCE: &str = "backward-euler";

/// The method to use when none is named.
pub const DEFAULT: &str = "muslin";

/// Every method Muslin knows by name.
pub const METHODS: &[Preset] = &[
    Preset {
        id: "explicit-euler",
        about: "forward Euler, Rubin Eq. 3: gains energy, needs damping and tiny steps",
        change: |m| m.integrator = Integrator::ExplicitEuler,
    },
    Preset {
        id: "symplectic-euler",
        about: "velocity first, then position (Kim Eq. 2): cheap, stable below k h²/m of about 0.5",
        change: |m| m.integrator = Integrator::SymplecticEuler,
    },
    Preset {
        id: "midpoint",
        about: "explicit midpoint, second order",
        change: |m| m.integrator = Integrator::Midpoint,
    },
    Preset {
        id: "rk4",
        about: "classical Runge–Kutta, fourth order",
        change: |m| m.integrator = Integrator::Rk4,
    },
    Preset {
        id: "muslin",
        about: "two linearisations of BDF2 by V-cycles on any mesh: stiff at any resolution, true in time",
        change: |m| {
            m.integrator = Integrator::Bdf2;
            m.solver = LinearSolver::Hierarchy;
            m.newton = 2;
            m.tolerance = 2e-5;
            m.max_iterations = 64;
        },
    },
    Preset {
        id: "implicit-euler",
        about: "one linearisation of backward Euler, semi-definite Jacobian, conjugate gradients: robust",
        change: |_| {},
    },
    Preset {
        id: "backward-euler",
        about: "the nonlinear backward Euler step by Newton and conjugate gradients: the reference",
        change: |m| {
            m.newton = 12;
            m.tolerance = 1e-5;
        },
    },
    Preset {
        id: "baraff-witkin-1998",
        about: "exact Jacobian, one linearisation, conjugate gradients with filtered pins",
        change: |m| m.jacobian = Jacobian::Exact,
    },
    Preset {
        id: "choi-ko-2002",
        about: "no force in compression, exact Jacobian, conjugate gradients",
        change: |m| {
            m.springs = SpringLaw::TensionOnly;
            m.jacobian = Jacobian::Exact;
        },
    },
    Preset {
        id: "desbrun-1999",
        about: "constant scalar Jacobian factored once, then momentum correction",
        change: |m| {
            m.jacobian = Jacobian::Scalar;
            m.solver = LinearSolver::Cholesky;
            m.momentum = MomentumCorrection::LinearAndAngular;
        },
    },
    Preset {
        id: "kang-2000",
        about: "scalar Jacobian, two Jacobi sweeps from the current velocity",
        change: |m| {
            m.jacobian = Jacobian::Scalar;
            m.guess = Guess::Velocity;
            m.solver = LinearSolver::Jacobi;
            m.sweeps = 2;
        },
    },
    Preset {
        id: "kang-cho-2002",
        about: "rank-one Jacobian, one block Jacobi sweep from the p-vector (Eq. 20)",
        change: |m| {
            m.jacobian = Jacobian::RankOne;
            m.guess = Guess::PVector;
            m.solver = LinearSolver::Jacobi;
            m.sweeps = 1;
        },
    },
    Preset {
        id: "kim-2006",
        about: "no force in compression, smoothed Jacobian, six block Gauss–Seidel sweeps in place",
        change: |m| {
            m.springs = SpringLaw::TensionOnly;
            m.weak_springs = WeakSprings::Explicit;
            m.jacobian = Jacobian::Smoothed;
            m.guess = Guess::Velocity;
            m.solver = LinearSolver::GaussSeidel;
            m.sweeps = 6;
        },
    },
    Preset {
        id: "moustakas",
        about: "exact Jacobian, conjugate gradients started from a pyramid of coarser grids; grids only",
        change: |m| {
            m.jacobian = Jacobian::Exact;
            m.guess = Guess::Pyramid;
            m.preconditioner = Preconditioner::None;
        },
    },
    Preset {
        id: "multigrid",
        about: "implicit Euler whose conjugate gradients are preconditioned by a V-cycle over the pyramid; grids only",
        change: |m| m.preconditioner = Preconditioner::VCycle,
    },
    Preset {
        id: "xpbd",
        about: "extended position-based dynamics, the method most engines use today",
        change: |m| {
            m.integrator = Integrator::Xpbd;
            m.sweeps = 10;
        },
    },
    Preset {
        id: "meshless",
        about: "shape matching with quadratic modes on a planar basis (Müller 2005, Rubin Eq. 4–6): stable at any step",
        change: |m| m.integrator = Integrator::ShapeMatching,
    },
    Preset {
        id: "hybrid",
        about: "the same with structural springs and their dampers (Rubin §6.3), substepped where they need it",
        change: |m| {
            m.integrator = Integrator::ShapeMatching;
            m.internal = Internal::Structural;
        },
    },
];
