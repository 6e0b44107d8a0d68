// One pane's cloth on the stage: surface, structural edges, loose rods and pins. Frames are put
// in by exchanging the arrays behind the attributes, so nothing is copied on the way to the GPU.

import {
  BufferAttribute, BufferGeometry, CylinderGeometry, DoubleSide, DynamicDrawUsage, Group,
  InstancedMesh, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshPhysicalMaterial, MeshStandardMaterial, Quaternion,
  Raycaster, SphereGeometry, Vector3, Color,
} from 'three';
import { particlesOf, type Cloth, type Frame, type ViewMode } from './types';
import { NEAR_GROUND } from './contact';
import { Folds } from './folds';
import { layersOf, restPlaces, THREADS, WEAVE_PARS, weaveTexture } from './weave';
import { CLOTH_BACK, CLOTH_FRONT, CLOTHS, COLOUR_MAPS, colourTexture, SPRING_COLOURS } from './colours';

/** Springs that are not structural: the first `shear` carry stretch across, the others bending. */
export interface Springs {
  shear: number;
  indices: Uint32Array<ArrayBuffer>;
}

/** What all panes share, computed once per scene. */
export interface Topology {
  particles: number;
  triangles: Uint32Array;
  edges: Uint32Array;
  springs: Springs;
  /** Edges with an end on no triangle, drawn as rods; diagonals of faces are seen as wires only. */
  loose: Uint32Array;
  /** Particles at the ends of rods that belong to no triangle. */
  beads: Uint32Array;
  /** Which colour of cloth each particle has. */
  tints: Uint8Array;
  /** Where each is in the cloth at rest. [m] */
  rest: Float32Array;
}

/** Where the sun is. */
export const SUN = new Vector3(0.55, 1.25, 0.75).normalize();

/** Rods and beads are placed one by one; beyond this many only lines are drawn. */
const MOST_RODS = 6000;

export function topology(start: Float32Array, triangles: Uint32Array, edges: Uint32Array, springs: Springs, cloths: Cloth[]): Topology {
  const particles = start.length / 3;
  const tints = new Uint8Array(particles);
  let first = 0;
  const sizes = cloths.flatMap((cloth) => Array.from({ length: layersOf(cloth) }, () => particlesOf(cloth)));
  sizes.forEach((size, cloth) => tints.fill(cloth % CLOTHS.length, first, (first += size)));
  const covered = new Set<number>(triangles);
  const loose: number[] = [];
  const beads = new Set<number>();
  for (let e = 0; e + 1 < edges.length; e += 2) {
    const ends = [edges[e]!, edges[e + 1]!];
    const bare = ends.filter((end) => !covered.has(end));
    if (bare.length === 0) continue;
    loose.push(...ends);
    for (const end of bare) beads.add(end);
  }
  const few = loose.length / 2 <= MOST_RODS;
  return {
    particles,
    triangles,
    edges,
    springs,
    loose: new Uint32Array(few ? loose : []),
    beads: new Uint32Array(few ? beads : []),
    tints,
    rest: restPlaces(cloths, particles, start),
  };
}

/** Materials of all panes. */
export class Materials {
  readonly uniforms = {
    fronts: { value: CLOTHS.map(([front]) => new Color(front)) },
    backs: { value: CLOTHS.map(([, back]) => new Color(back)) },
    fill: { value: new Color('#888') },
    mode: { value: 0 },
    strainMap: { value: colourTexture(COLOUR_MAPS.strain, true) },
    speedMap: { value: colourTexture(COLOUR_MAPS.speed, false) },
    weave: { value: weaveTexture() },
    /** Pictures of the weave to a metre, and how much of it is seen. */
    tiles: { value: 1 },
    woven: { value: 1 },
  };
  // Fibres that stand out of a fabric catch light where it turns away: folds are read by that.
  readonly surface = new MeshPhysicalMaterial({
    side: DoubleSide, shadowSide: DoubleSide, roughness: 0.85, metalness: 0,
    sheen: 0.3, sheenRoughness: 0.5, sheenColor: '#fff3e4',
    polygonOffsetFactor: 1, polygonOffsetUnits: 1,
  });
  readonly lines = new LineBasicMaterial({ color: '#ffffff' });
  /** Of structural springs, those across, and those that carry bending. */
  readonly springs = SPRING_COLOURS.map(([, color]) => new LineBasicMaterial({ color }));
  readonly rod = new MeshStandardMaterial({ color: CLOTH_FRONT, roughness: 0.6 });
  readonly bead = new MeshStandardMaterial({ color: CLOTH_BACK, roughness: 0.5 });
  readonly pin = new MeshStandardMaterial({ color: '#23262d', roughness: 0.45 });

  constructor() {
    // Two-sided colour and data colours; light and shadow stay three's own.
    this.surface.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.uniforms);
      shader.vertexShader = shader.vertexShader
        .replace('#include <common>', `#include <common>
          attribute float strain; attribute float speed; attribute float tint; attribute float hollow; attribute vec3 rest;
          varying float vStrain; varying float vSpeed; varying float vHollow; varying vec3 vRest; flat varying int vTint;`)
        .replace('#include <begin_vertex>', `#include <begin_vertex>
          vStrain = strain; vSpeed = speed; vHollow = hollow; vRest = rest; vTint = int(tint + 0.5);`)
        // Each side keeps out of its own shadow towards the sun; three takes the front to be lit.
        .replace('#include <shadowmap_vertex>', `
          transformedNormal *= sign(dot(inverseTransformDirection(transformedNormal, viewMatrix), vec3(${SUN.toArray().join(', ')})));
          #include <shadowmap_vertex>`);
      shader.fragmentShader = shader.fragmentShader
        .replace('#include <common>', `#include <common>
          uniform vec3 fronts[${CLOTHS.length}]; uniform vec3 backs[${CLOTHS.length}]; uniform vec3 fill; uniform int mode;
          uniform sampler2D strainMap; uniform sampler2D speedMap;
          varying float vStrain; varying float vSpeed; varying float vHollow; flat varying int vTint;`)
        .replace('void main() {', `${WEAVE_PARS}
          void main() {`)
        .replace('#include <color_fragment>', `#include <color_fragment>
          vec3 toEye = normalize(vViewPosition);
          if (mode == 0) {
            // At the rim of a fold slivers of the other side show, a dotted line unless the sides meet there.
            float side = smoothstep(-0.15, 0.15, dot(normalize(vNormal), toEye));
            diffuseColor.rgb = mix(backs[vTint], fronts[vTint], gl_FrontFacing ? max(side, 0.5) : min(side, 0.5));
            if (woven > 0.0) {
              lookAtWeave();
              diffuseColor.rgb *= 1.0 + woven * (0.5 * threads.z + 0.3 * streaks);
            }
          }
          else if (mode == 1) diffuseColor.rgb = fill;
          else if (mode == 2) diffuseColor.rgb = texture2D(strainMap, vec2(vStrain * 0.996 + 0.002, 0.5)).rgb;
          else diffuseColor.rgb = texture2D(speedMap, vec2(vSpeed * 0.996 + 0.002, 0.5)).rgb;`)
        .replace('#include <normal_fragment_maps>', `#include <normal_fragment_maps>
          if (mode == 0 && woven > 0.0) normal = leant(normal, 0.8 * woven);`)
        // Less of the sky is seen from inside a fold.
        .replace('#include <aomap_fragment>', `
          float open = mode == 0 ? 1.0 - 0.75 * clamp(gl_FrontFacing ? vHollow : -vHollow, 0.0, 1.0) : 1.0;
          reflectedLight.indirectDiffuse *= open;
          reflectedLight.directDiffuse *= mix(1.0, open, 0.35);`)
        // Data colours keep most of their own value, so that the legend can be read off them.
        .replace('#include <opaque_fragment>', `
          // Nor are those slivers as dark as the inside of the fold.
          float rim = 1.0 - smoothstep(0.0, 0.3, abs(dot(nonPerturbedNormal, toEye)));
          outgoingLight = mix(outgoingLight, max(outgoingLight, 0.62 * diffuseColor.rgb), rim);
          // Fabric is thin: some of the sun comes through.
          float through = max(-dot(inverseTransformDirection(nonPerturbedNormal, viewMatrix), vec3(${SUN.toArray().join(', ')})), 0.0);
          outgoingLight += 0.35 * through * diffuseColor.rgb;
          if (mode >= 2) outgoingLight = mix(outgoingLight, diffuseColor.rgb, 0.65);
          if (mode == 1) outgoingLight = diffuseColor.rgb;
          #include <opaque_fragment>`);
    };
  }

  /** How thick a thread is. [m] */
  set thread(thick: number) {
    this.uniforms.tiles.value = 1 / (THREADS * thick);
  }

  set mode(mode: ViewMode) {
    // Behind its wires, and as near as it is otherwise.
    this.surface.polygonOffset = mode === 'wireframe';
    // Springs are seen through the cloth, which keeps its shadow.
    this.surface.colorWrite = this.surface.depthWrite = mode !== 'springs';
    this.uniforms.mode.value = { shaded: 0, wireframe: 1, strain: 2, speed: 3, springs: 1 }[mode];
  }
}

/** Edges looked at to find out whether a cloth has flown apart. */
const LOOKS = 4000;

const sphere = new SphereGeometry(1, 16, 12);
const cylinder = new CylinderGeometry(1, 1, 1, 10, 1, true);
const UP = new Vector3(0, 1, 0);

export class PaneCloth {
  readonly group = new Group();
  frame: Frame | null = null;
  /** Since when the cloth is too large for the stage; its last shape in sight is shown as wires. [s] */
  apart: number | null = null;
  private mode: ViewMode = 'shaded';
  private readonly geometry = new BufferGeometry();
  private readonly position: BufferAttribute;
  private readonly normal: BufferAttribute;
  private readonly strain: BufferAttribute;
  private readonly speed: BufferAttribute;
  private readonly hollow: BufferAttribute;
  private readonly folds: Folds;
  private readonly surface: Mesh;
  private readonly lineGeometry = new BufferGeometry();
  private readonly lines: LineSegments;
  /** Made when they are first looked at. */
  private springs: LineSegments | null = null;
  private readonly rods: InstancedMesh;
  private readonly beads: InstancedMesh;
  private pins: InstancedMesh | null = null;
  private pinned: number[] = [];
  private readonly matrix = new Matrix4();
  private readonly a = new Vector3();
  private readonly b = new Vector3();
  private readonly scale = new Vector3();
  private readonly turn = new Quaternion();

  constructor(
    private readonly shape: Topology,
    private readonly materials: Materials,
    private readonly rodRadius: number,
    private readonly pinRadius: number,
    /** Radius of a fold that light hardly reaches. [m] */
    private readonly tight: number,
    /** An edge longer than this belongs to a cloth that has flown apart. [m] */
    private readonly longest: number,
  ) {
    const n = shape.particles;
    this.position = new BufferAttribute(new Float32Array(3 * n), 3);
    this.normal = new BufferAttribute(new Int8Array(4 * n), 4, true);
    this.strain = new BufferAttribute(new Uint8Array(n), 1, true);
    this.speed = new BufferAttribute(new Uint8Array(n), 1, true);
    this.hollow = new BufferAttribute(new Int8Array(n), 1, true);
    this.folds = new Folds(n, shape.edges);
    for (const a of [this.position, this.normal, this.strain, this.speed, this.hollow]) a.setUsage(DynamicDrawUsage);
    this.geometry.setAttribute('position', this.position);
    this.geometry.setAttribute('normal', this.normal);
    this.geometry.setAttribute('strain', this.strain);
    this.geometry.setAttribute('speed', this.speed);
    this.geometry.setAttribute('hollow', this.hollow);
    this.geometry.setAttribute('rest', new BufferAttribute(shape.rest, 3));
    this.geometry.setAttribute('tint', new BufferAttribute(shape.tints, 1));
    this.geometry.setIndex(new BufferAttribute(shape.triangles, 1));
    this.surface = new Mesh(this.geometry, materials.surface);
    this.surface.castShadow = this.surface.receiveShadow = true;
    this.surface.layers.enable(NEAR_GROUND);
    this.lineGeometry.setAttribute('position', this.position);
    this.lineGeometry.setIndex(new BufferAttribute(shape.edges, 1));
    this.lines = new LineSegments(this.lineGeometry, materials.lines);
    this.rods = new InstancedMesh(cylinder, materials.rod, shape.loose.length / 2);
    this.beads = new InstancedMesh(sphere, materials.bead, shape.beads.length);
    this.rods.castShadow = this.beads.castShadow = true;
    this.group.add(this.surface, this.lines, this.rods, this.beads);
    // Bounds would have to follow every frame; the stage always shows everything anyway.
    for (const object of this.group.children) object.frustumCulled = false;
    this.group.visible = false;
  }

  setMode(mode: ViewMode): void {
    this.mode = mode;
    this.lines.visible = mode === 'wireframe' || this.apart !== null;
    const springs = mode === 'springs' && this.apart === null;
    if (springs && !this.springs) this.springs = this.drawSprings();
    if (this.springs) this.springs.visible = springs;
    this.surface.visible = this.apart === null;
  }

  /** How far along a ray the cloth is. [m] */
  distance(ray: Raycaster): number {
    // The arrays behind the geometry are exchanged in every frame.
    this.geometry.computeBoundingSphere();
    return ray.intersectObject(this.surface)[0]?.distance ?? Infinity;
  }

  get drawnSprings(): number[] {
    const groups = this.springs?.visible ? this.springs.geometry.groups : [];
    return groups.map((group) => group.count / 2).reverse();
  }

  private drawSprings(): LineSegments {
    const { edges, springs } = this.shape;
    const geometry = new BufferGeometry();
    const index = new Uint32Array(edges.length + springs.indices.length);
    index.set(edges);
    index.set(springs.indices, edges.length);
    geometry.setAttribute('position', this.position);
    geometry.setIndex(new BufferAttribute(index, 1));
    const ends = [0, edges.length, edges.length + 2 * springs.shear, index.length];
    // Bend springs lie along two structural ones, which are drawn over them where cloth is flat.
    for (const kind of [2, 1, 0]) geometry.addGroup(ends[kind]!, ends[kind + 1]! - ends[kind]!, kind);
    const lines = new LineSegments(geometry, this.materials.springs);
    lines.frustumCulled = false;
    this.group.add(lines);
    return lines;
  }

  setPins(pins: number[]): void {
    if (this.pins) {
      this.group.remove(this.pins);
      this.pins.dispose();
    }
    this.pinned = pins.filter((p) => p < this.shape.particles);
    this.pins = new InstancedMesh(sphere, this.materials.pin, this.pinned.length);
    this.pins.frustumCulled = false;
    this.pins.castShadow = true;
    this.group.add(this.pins);
    this.place();
  }

  /** Shows a frame; false if it belongs to another scene. */
  take(frame: Frame): boolean {
    if (frame.n !== this.shape.particles) return false;
    this.frame = frame;
    const apart = this.flown(frame.positions);
    if (apart !== (this.apart !== null)) {
      this.apart = apart ? frame.time : null;
      this.setMode(this.mode);
    }
    // Of a cloth that was never in sight there is nothing to show.
    if (apart) return true;
    this.exchange(this.position, frame.positions);
    this.exchange(this.normal, frame.normals);
    this.exchange(this.strain, frame.strain);
    this.exchange(this.speed, frame.speed);
    this.folds.hollows(frame.positions, frame.normals, this.tight, this.hollow.array as Int8Array);
    this.hollow.needsUpdate = true;
    this.place();
    this.group.visible = true;
    return true;
  }

  /** Whether an edge is as long as no cloth on this stage can be, or ends nowhere. */
  private flown(x: Float32Array): boolean {
    const { edges } = this.shape;
    const stride = 2 * Math.max(1, Math.ceil(edges.length / 2 / LOOKS));
    for (let e = 0; e + 1 < edges.length; e += stride) {
      const [a, b] = [3 * edges[e]!, 3 * edges[e + 1]!];
      if (!(Math.hypot(x[a]! - x[b]!, x[a + 1]! - x[b + 1]!, x[a + 2]! - x[b + 2]!) < this.longest)) return true;
    }
    return false;
  }

  private exchange(attribute: BufferAttribute, array: Float32Array | Int8Array | Uint8Array): void {
    attribute.array = array;
    attribute.needsUpdate = true;
  }

  private at(particle: number, into: Vector3): Vector3 {
    return into.fromArray(this.position.array as Float32Array, 3 * particle);
  }

  /** Puts pins, rods and beads where the particles are. */
  private place(): void {
    const ball = (mesh: InstancedMesh, i: number, particle: number, radius: number) => {
      this.turn.identity();
      mesh.setMatrixAt(i, this.matrix.compose(this.at(particle, this.a), this.turn, this.scale.setScalar(radius)));
    };
    this.pinned.forEach((p, i) => this.pins && ball(this.pins, i, p, this.pinRadius));
    if (this.pins) this.pins.instanceMatrix.needsUpdate = true;
    const { loose, beads } = this.shape;
    for (let i = 0; i < beads.length; i++) ball(this.beads, i, beads[i]!, 1.7 * this.rodRadius);
    for (let i = 0; 2 * i + 1 < loose.length; i++) {
      this.at(loose[2 * i]!, this.a);
      this.at(loose[2 * i + 1]!, this.b).sub(this.a);
      const length = this.b.length() || 1e-9;
      this.turn.setFromUnitVectors(UP, this.b.divideScalar(length));
      this.a.addScaledVector(this.b, length / 2);
      this.scale.set(this.rodRadius, length, this.rodRadius);
      this.rods.setMatrixAt(i, this.matrix.compose(this.a, this.turn, this.scale));
    }
    this.rods.instanceMatrix.needsUpdate = this.beads.instanceMatrix.needsUpdate = true;
  }

  dispose(): void {
    this.geometry.dispose();
    this.lineGeometry.dispose();
    this.springs?.geometry.dispose();
    this.rods.dispose();
    this.beads.dispose();
    this.pins?.dispose();
  }
}
