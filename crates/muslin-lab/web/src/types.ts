// What travels between the page and the workbench, as in PROTOCOL.md, and the parts of scenes
// and methods the page edits. Keys the page does not know are carried along untouched.

export type Vec3 = [number, number, number];

export interface Cloth {
  name: string;
  columns: number;
  rows: number;
  width: number;
  height: number;
  fabric?: string;
  particle_mass?: number;
  mesh?: unknown;
  /** Pairs of neighbouring particles between which the cloth is cut. */
  cuts?: [number, number][];
  [key: string]: unknown;
}

/** How many particles a cloth has. */
export function particlesOf(cloth: Cloth): number {
  const vertices = (cloth.mesh as { vertices?: unknown[] } | undefined)?.vertices;
  return vertices ? vertices.length : cloth.columns * cloth.rows;
}

export interface Scene {
  name: string;
  about: string;
  dt: number;
  substeps: number;
  gravity: Vec3;
  air: { wind: Vec3; [key: string]: unknown };
  cloth: Cloth[];
  [key: string]: unknown;
}

export interface Method {
  id: string;
  integrator: string;
  solver: string;
  guess: string;
  preconditioner: string;
  [key: string]: unknown;
}

export interface Catalogue {
  type: 'catalogue';
  scenes: { name: string; about: string }[];
  methods: { id: string; about: string; method: Method }[];
  fabrics: { name: string; about: string }[];
  version: string;
}

export interface PaneInfo {
  method: Method;
  particles: number;
  springs: number;
  hinges: number;
  turns: number;
  triangles: number;
  limit: number | null;
}

export interface Opened {
  type: 'opened';
  scene: Scene;
  panes: PaneInfo[];
  pins: number[];
  dt: number;
  substeps: number;
  size: [Vec3, Vec3];
  colliders?: Collider[];
}

/** A solid body; vertices are in its own frame, three numbers each, and triangles turn outwards. */
export interface Collider {
  position: Vec3;
  rotation: [number, number, number, number];
  vertices: number[];
  triangles: number[];
  movable: boolean;
}

export interface Report {
  type: 'report';
  pane: number;
  time: number;
  playing: boolean;
  rate: number;
  ms: number;
  /** Where `ms` went. */
  stages: { forces: number; solve: number; rest: number };
  energy: { kinetic: number; elastic: number; gravity: number; total: number };
  max_strain: number;
  mean_strain: number;
  max_speed: number;
  lowest: number;
  /** Particles on bodies, and cloth on cloth. */
  contacts?: number;
  self_contacts?: number;
  iterations: number;
  residual: number | null;
  strain_left?: number | null;
  tethered?: number;
  limited?: number;
  stiffness_number: number;
  limit: number | null;
  error: number | null;
  warnings: { kind: string; remedy: string }[];
}

export interface Refused {
  type: 'refused';
  /** The command it answers, if that had a name. */
  command: string | null;
  message: string;
}

/** A run so far, as a file for `muslin run`. */
/** Where the bodies are. */
export interface Bodies {
  type: 'bodies';
  poses: { position: Vec3; rotation: [number, number, number, number] }[];
}

export interface Saved {
  type: 'saved';
  name: string;
  text: string;
}

export type FromWorkbench = Catalogue | Opened | Report | Refused | Saved | Bodies;

export type ToWorkbench =
  | { type: 'open'; scene: string; methods: string[] }
  | { type: 'load'; scene: Scene; methods: Method[]; keep: boolean }
  | { type: 'play'; playing: boolean }
  | { type: 'step' }
  | { type: 'reset' }
  | { type: 'inputs'; gravity: Vec3; wind: Vec3 }
  | { type: 'pull'; hand?: number; particle: number; target: Vec3; stiffness: number }
  | { type: 'release'; hand?: number }
  | { type: 'collider'; collider: number; position: Vec3; rotation: [number, number, number, number] }
  | { type: 'pin'; particle: number; held: boolean }
  | { type: 'save'; pane: number }
  | { type: 'taken' };

/** One pane's particles at one time; the arrays are views into the received message. */
export interface Frame {
  pane: number;
  n: number;
  time: number;
  positions: Float32Array;
  normals: Int8Array;
  strain: Uint8Array;
  speed: Uint8Array;
}

export type ViewMode = 'shaded' | 'wireframe' | 'strain' | 'speed' | 'springs';
export const VIEW_MODES: ViewMode[] = ['shaded', 'wireframe', 'strain', 'speed', 'springs'];
