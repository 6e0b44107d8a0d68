// Every value the panel offers: key, words, unit, range and what it means.

import type { Cloth, Method } from './types';

interface Common { key: string; label: string; tip: string; unit?: string }

export interface NumberField extends Common {
  kind: 'number';
  /** Slider's ends; without them it spans two decades either way from the scene's own value. */
  range?: [number, number];
  logarithmic?: boolean;
  integer?: boolean;
  min?: number;
  max?: number;
  /** What an empty field means; fields without it cannot be empty. */
  empty?: string;
}
export interface VectorField extends Common { kind: 'vector'; range: [number, number] }
export interface ChoiceField extends Common { kind: 'choice'; options: [value: string, tip: string][]; empty?: string }
export interface CheckField extends Common { kind: 'check' }
export type Field = NumberField | VectorField | ChoiceField | CheckField;

type NumberExtra = Omit<NumberField, 'kind' | 'key' | 'label' | 'tip' | 'unit'>;

const number = (key: string, label: string, unit: string, tip: string, extra: NumberExtra = {}): NumberField =>
  ({ kind: 'number', key, label, unit, tip, ...extra });
const choice = (key: string, label: string, tip: string, options: [string, string][]): ChoiceField =>
  ({ kind: 'choice', key, label, tip, options });
const vector = (key: string, label: string, unit: string, tip: string, range: [number, number]): VectorField =>
  ({ kind: 'vector', key, label, unit, tip, range });

export const TIME_FIELDS: Field[] = [
  number('dt', 'Frame', 's', 'Seconds of one frame.', { logarithmic: true, min: 1e-6 }),
  number('substeps', 'Steps per frame', '', 'Steps per frame. More steps cost more and are more accurate.', { range: [1, 32], integer: true, min: 1, max: 100000 }),
];

export const AIR_FIELDS: Field[] = [
  vector('gravity', 'Gravity', 'm/s²', 'Gravity. Takes effect at once.', [-20, 20]),
  vector('air.wind', 'Wind', 'm/s', 'Wind velocity. Takes effect at once; needs an air density or a linear drag to act.', [-15, 15]),
  vector('air.gust', 'Gust', 'm/s', 'Amplitude added to the wind as a sine of time.', [-15, 15]),
  number('air.gust_period', 'Gust period', 's', 'Period of the gusts.', { range: [0.1, 10], logarithmic: true, min: 1e-6 }),
  number('air.density', 'Air density', 'kg/m³', 'Density of the air; 0 switches wind on triangles off. Real air has 1.2.', { range: [0, 3], min: 0 }),
  number('air.drag_coefficient', 'Drag coefficient', '', 'Drag coefficient of the cloth.', { range: [0, 3], min: 0 }),
  number('air.lift_coefficient', 'Lift coefficient', '', 'Lift coefficient of the cloth.', { range: [0, 3], min: 0 }),
  number('air.drag', 'Linear drag', '1/s', 'Linear drag per mass, −c m (v − wind).', { range: [0, 5], min: 0 }),
];

export interface Group { title: string; fields: Field[]; open: boolean }

/** Fields of one cloth; keys are relative to it. */
export function clothGroups(cloth: Cloth, fabrics: { name: string; about: string }[]): Group[] {
  const stiffness = (key: string, label: string, tip: string) =>
    number(`springs.${key}`, label, 'N/m', tip, { logarithmic: true, min: 0 });
  const damper = (key: string, label: string, tip: string) =>
    number(`springs.${key}`, label, 'N·s/m', tip, { logarithmic: true, min: 0 });
  const fromFabric = { empty: cloth.fabric ? 'from fabric' : 'not given', logarithmic: true, min: 0 };
  const fabric: ChoiceField = {
    kind: 'choice', key: 'fabric', label: 'Fabric', empty: 'none: figures below',
    tip: 'A named fabric; single figures below override it.',
    options: fabrics.map((f) => [f.name, f.about]),
  };
  const grid: Field[] = cloth.mesh ? [] : [
    number('columns', 'Columns', '', 'Particles along the width. Changing it starts the scene anew.', { range: [2, 120], integer: true, min: 1, max: 2000 }),
    number('rows', 'Rows', '', 'Particles along the height; 1 makes a chain. Changing it starts the scene anew.', { range: [1, 120], integer: true, min: 1, max: 2000 }),
    number('width', 'Width', 'm', 'Length along the columns.', { logarithmic: true, min: 1e-6 }),
    number('height', 'Height', 'm', 'Length along the rows.', { logarithmic: true, min: 1e-6 }),
  ];
  return [
    { title: 'Cloth', open: true, fields: [...grid, fabric] },
    { title: 'Material', open: true, fields: [
      number('material.density', 'Density', 'kg/m²', 'Mass per area σ.', fromFabric),
      number('material.stretch', 'Stretch', 'N/m', 'Membrane stiffness Eh, isotropic with Poisson’s ratio 1/3.', fromFabric),
      number('material.bending', 'Bending', 'N·m', 'Bending rigidity B of a strip.', fromFabric),
      number('material.damping', 'Damping', 's', 'Damping along springs as a time: kd = damping · k.', { ...fromFabric, empty: 'none' }),
    ] },
    { title: 'Raw springs', open: hasSprings(cloth), fields: [
      number('particle_mass', 'Particle mass', 'kg', 'Mass of every particle, in place of one from the density.', { logarithmic: true, min: 0, empty: 'from density' }),
      stiffness('structural', 'Structural', 'Between next neighbours along rows and columns, or on every edge of a mesh.'),
      stiffness('shear', 'Shear', 'Between diagonal neighbours.'),
      stiffness('bend', 'Bend', 'Between every other particle along rows and columns.'),
      stiffness('type1', 'Type 1', 'Kim’s net: all eight neighbours at distance 1. Excludes structural, shear and bend.'),
      stiffness('type2', 'Type 2', 'Kim’s net: the same eight directions at distance 2.'),
      number('springs.hinge', 'Hinge', 'N·m', 'Bending stiffness of hinges on the triangles.', { logarithmic: true, min: 0 }),
      damper('structural_damping', 'Structural damping', 'Damping along structural and type 1 springs.'),
      damper('shear_damping', 'Shear damping', 'Damping along shear springs.'),
      damper('bend_damping', 'Bend damping', 'Damping along bend and type 2 springs.'),
      damper('relative_damping', 'Relative damping', 'Damping between the ends of every spring, in all directions (Kang & Cho Eq. 24).'),
      number('absolute_damping', 'Absolute damping', 'N·s/m', '−C v on every particle (Kang & Cho Eq. 21).', { logarithmic: true, min: 0 }),
      { kind: 'check', key: 'springs.tension_only', label: 'Tension only', tip: 'No force in compression for structural, shear and type 1 springs.' },
    ] },
    { title: '3D springs', open: Number((cloth.turning as { stiffness?: number } | undefined)?.stiffness ?? 0) > 0, fields: [
      number('turning.stiffness', 'Turning', 'N·m', 'Torsional stiffness at each end of each spring; 0 makes ordinary springs.', { logarithmic: true, min: 0 }),
      number('turning.damping', 'Turning damping', 'N·m·s', 'Torsional damping.', { logarithmic: true, min: 0 }),
      choice('turning.law', 'Law', 'How the torque grows with the angle.', [
        ['printed', 'K θ sin θ, as Jeong & Lee print it: no stiffness at rest.'],
        ['linear', 'K θ.'],
        ['sine', 'K sin θ: no trigonometry needed.'],
      ]),
      number('turning.inertia', 'Inertia', 'kg·m²', 'Moment of inertia of every particle; by default 0.1 m L², L the mean length of its springs.', { logarithmic: true, min: 0, empty: '0.1 m L²' }),
    ] },
  ];
}

function hasSprings(cloth: Cloth): boolean {
  const springs = (cloth.springs ?? {}) as Record<string, unknown>;
  return cloth.particle_mass !== undefined || Object.values(springs).some((v) => typeof v === 'number' && v !== 0);
}

const SPRINGS = choice('springs', 'Spring law', 'Which spring law is in force.', [
  ['scene', 'What the scene says.'],
  ['tension-only', 'No force in compression for strong springs (Choi & Ko 2002, Kim Eq. 6).'],
]);
const SWEEPS = number('sweeps', 'Sweeps', '', 'Jacobi or Gauss–Seidel sweeps; constraint sweeps of XPBD.', { range: [1, 200], logarithmic: true, integer: true, min: 1, max: 100000 });

const BUDGET = number('budget', 'Budget', 'ms', 'Time that a frame may take, by spending less on linearisations and iterations; 0: no limit. What that leaves is the strain left, among the numbers.', { range: [0, 33], min: 0, max: 100000 });
const BOUNDS: Field[] = [
  number('strain_limit', 'Strain limit', '', 'No spring that is not for bending may stretch by more than this after a step; 0: no limit.', { range: [0, 0.2], min: 0, max: 1000 }),
  number('tethers', 'Tethers', '', 'No particle may be farther from a held one than this times the way along the cloth at rest, for example 1.02; 0: no tethers.', { range: [1, 1.2], min: 0, max: 1000 }),
];

/** The choices that matter to a method as it is set now. */
export function methodFields(method: Method): Field[] {
  return [...ownFields(method), ...BOUNDS];
}

function ownFields(method: Method): Field[] {
  if (method.integrator === 'xpbd') return [SPRINGS, SWEEPS, BUDGET];
  if (method.integrator === 'shape-matching') return SHAPE_MATCHING;
  if (method.integrator !== 'backward-euler' && method.integrator !== 'bdf2') return [SPRINGS];
  const sweeping = method.solver === 'jacobi' || method.solver === 'gauss-seidel';
  const gradients = method.solver === 'conjugate-gradient';
  const hierarchy = method.solver === 'hierarchy';
  const only = (when: boolean, ...fields: Field[]) => (when ? fields : []);
  return [
    ...only(method.solver !== 'cholesky', BUDGET),
    choice('integrator', 'Integrator', 'How time advances.', [
      ['backward-euler', 'Backward Euler: first order, damps.'],
      ['bdf2', 'BDF2, looking back two steps: second order.'],
    ]),
    choice('jacobian', 'Jacobian', 'Model of ∂f/∂x.', [
      ['exact', 'The derivative itself; indefinite when springs are compressed.'],
      ['psd', 'The derivative with its negative part removed.'],
      ['rank-one', 'k n nᵀ (Kang & Cho Eq. 11).'],
      ['scalar', 'k I (Desbrun 1999, Kang 2000): a constant matrix.'],
      ['smoothed', 'Kim Eq. 9.'],
    ]),
    choice('guess', 'Start', 'Start of the linear solve, in terms of Δv.', [
      ['zero', 'Δv = 0.'],
      ['velocity', 'v* = v, the words of Kang 2000 and Kim; in this form the same start as zero.'],
      ['p-vector', 'Δv = A_ii⁻¹ b_i, the p of Kang & Cho Eq. 18.'],
      ['previous-step', 'Δv of the previous step.'],
      ['pyramid', 'From coarser cloths, level by level (Moustakas et al.). Grids only.'],
    ]),
    ...only(method.guess === 'pyramid',
      number('levels', 'Levels', '', 'Levels of the pyramid start, the cloth itself included.', { range: [1, 12], integer: true, min: 1, max: 40 }),
      choice('filter', 'Filter', 'Prediction filter of the pyramid start.', [
        ['minimum-variance', 'Solved from Moustakas Eq. 21 for the correlation.'],
        ['printed', 'Eq. 23 as printed.'],
        ['mean', 'The mean of the four nearest.'],
      ]),
      number('correlation', 'Correlation', '', 'Correlation λ between neighbours, for which the filter is solved.', { range: [0.01, 0.99], min: 1e-6, max: 0.999999 })),
    choice('solver', 'Solver', 'How A Δv = b is solved.', [
      ['jacobi', 'Block Jacobi sweeps.'],
      ['gauss-seidel', 'Block Gauss–Seidel sweeps in place.'],
      ['conjugate-gradient', 'Conjugate gradients to the tolerance.'],
      ['hierarchy', 'Conjugate gradients with V-cycles over coarser levels of any mesh, until the strain left is below the tolerance.'],
      ['cholesky', 'Sparse Cholesky; factored once when the Jacobian is scalar, else every step.'],
    ]),
    ...only(sweeping, SWEEPS),
    ...only(method.solver === 'gauss-seidel', choice('order', 'Order', 'Order of Gauss–Seidel sweeps.', [
      ['rows', 'By particle index, on one thread.'],
      ['colours', 'Colour by colour, on all threads.'],
    ])),
    ...only(gradients, choice('preconditioner', 'Preconditioner', 'Preconditioner of conjugate gradients.', [
      ['none', 'None.'],
      ['block-jacobi', 'Inverse diagonal blocks.'],
      ['v-cycle', 'One V-cycle over the quincunx pyramid. Grids only.'],
    ])),
    ...only(gradients && method.preconditioner === 'v-cycle', choice('coarsening', 'Coarsening', 'How the levels of the V-cycle follow each other.', [
      ['quincunx', 'Every level of the quincunx pyramid: half of the particles remain each time.'],
      ['doubled', 'Every other level: a quarter remains. A few more iterations, each a good deal cheaper.'],
    ])),
    ...only(gradients || hierarchy,
      number('tolerance', 'Tolerance', '', hierarchy ? 'Strain of what is left at which the solver stops.' : 'Relative residual at which conjugate gradients stop.', { range: [1e-8, 0.1], logarithmic: true, min: 1e-12, max: 0.999 }),
      number('max_iterations', 'Most iterations', '', 'Conjugate gradients give up after this many iterations.', { range: [1, 10000], logarithmic: true, integer: true, min: 1, max: 10000000 })),
    number('newton', 'Linearisations', '', 'Linearisations per step; more than one solves the nonlinear step.', { range: [1, 20], integer: true, min: 1, max: 1000 }),
    SPRINGS,
    choice('weak_springs', 'Weak springs', 'Whether weak springs (bend, type 2) are in the system matrix.', [
      ['implicit', 'Like all others.'],
      ['explicit', 'Force only, no stiffness (Kim §3).'],
    ]),
    choice('momentum', 'Momentum', 'Momentum put back into unpinned pieces after the solve.', [
      ['none', 'None.'],
      ['linear', 'Linear momentum: cures the slow fall of truncated sweeps.'],
      ['linear-and-angular', 'Linear and angular momentum (Desbrun 1999).'],
    ]),
  ];
}

const SHAPE_MATCHING: Field[] = [
  choice('modes', 'Modes', 'How a fitted shape may deform.', [
    ['rigid', 'Turn and shift only.'],
    ['linear', 'Stretch and shear too.'],
    ['quadratic', 'Bend and twist too.'],
  ]),
  number('alpha', 'Alpha', '', 'Share of the way to its goal a particle is drawn in one step: the goals’ stiffness is alpha m/h².', { range: [0, 1], min: 0, max: 1 }),
  number('beta', 'Beta', '', 'Share of the deformed shape in the goals; the rest is the rigid one.', { range: [0, 1], min: 0, max: 1 }),
  choice('layers', 'Layers', 'Layers of particles that shape matching fits.', [
    ['planar', 'The cloth only.'],
    ['interface', 'The cloth and hidden interface particles at the same places, on which pulls act.'],
    ['extruded', 'The cloth and interface particles beside it by one particle spacing, as Rubin has it.'],
  ]),
  number('regions', 'Regions', '', 'Each cloth is covered by regions × regions overlapping fits.', { range: [1, 16], integer: true, min: 1, max: 64 }),
  choice('internal', 'Internal springs', 'Springs that act besides shape matching.', [
    ['none', 'None.'],
    ['structural', 'Structural springs and their dampers: the hybrid.'],
  ]),
];
