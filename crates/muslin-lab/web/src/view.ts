// The stage: one renderer, one camera for all panes, a viewport for each. Draws only when
// something changed.

import {
  Box3, Color, DirectionalLight, Fog, HemisphereLight, Line, BufferGeometry, Float32BufferAttribute,
  LineBasicMaterial, Mesh, MeshBasicMaterial, PCFShadowMap, PerspectiveCamera, Scene as Stage,
  SphereGeometry, Vector3, WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { Contact } from './contact';
import { Materials, PaneCloth, SUN, topology, type Springs, type Topology } from './cloth';
import { Ground } from './ground';
import { type Cloth, type Frame, type Opened, type Vec3, type ViewMode } from './types';
import { byId, cssValue } from './dom';
import { Pace } from './pace';
import { Sky } from './sky';
import { surroundings } from './surroundings';

export interface Rect { x: number; y: number; width: number; height: number }

/** Pixels that the caption takes from a pane, and that lie around the tool bar. */
const ABOVE = 42;
const AROUND_BAR = 28;
/** Where a camera may begin: sides of the cloth, and heights from which lying cloth is seen too. */
const SIDES = [24, -24, 66, -66].map((degrees) => (degrees * Math.PI) / 180);
const HEIGHTS = [11, 30].map((degrees) => (degrees * Math.PI) / 180);
/** Radius of the blur of shadows, in texels of the largest map. */
const SOFT = 5;
/** Half the width that the shadow map covers, in sizes of the scene. */
const REACH = 0.8;
/** Share of its area that cloth should show; more is no better than the usual place. */
const ENOUGH = 0.42;

function corners({ min, max }: Box3): Vector3[] {
  return Array.from({ length: 8 }, (_, i) => new Vector3(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z));
}

/** The first usual place from which the cloth shows enough of its area, or the best of them. */
function lookFrom(frame: Frame, lee: Vector3): Vector3 {
  let [best, most] = [new Vector3(0, 0, 1), -1];
  for (const height of HEIGHTS) {
    for (const side of SIDES) {
      const from = new Vector3(Math.sin(side) * Math.cos(height), Math.sin(height), Math.cos(side) * Math.cos(height));
      let [shown, blown, all] = [0, 0, 0];
      for (let i = 0; i < frame.n; i++) {
        const [x, y, z] = [frame.normals[4 * i]!, frame.normals[4 * i + 1]!, frame.normals[4 * i + 2]!];
        const facing = x * from.x + y * from.y + z * from.z;
        shown += Math.abs(facing);
        all += Math.hypot(x, y, z);
        // Wind against its face lifts a cloth: then it lies, and faces up.
        const lifted = Math.min(Math.abs(x * lee.x + y * lee.y + z * lee.z) / Math.max(Math.hypot(x, y, z), 1), 1);
        blown += Math.abs((1 - lifted) * facing + lifted * Math.hypot(x, y, z) * from.y);
      }
      const share = all > 0 ? Math.min(shown / all, blown / all, ENOUGH) : ENOUGH;
      if (share > most + 1e-6) [best, most] = [from, share];
    }
  }
  return best;
}

export class View {
  readonly camera = new PerspectiveCamera(38, 1, 0.01, 100);
  readonly controls: OrbitControls;
  mode: ViewMode = 'shaded';
  pins: number[] = [];
  panes: PaneCloth[] = [];
  /** Length of the diagonal of everything, from which all sizes on stage follow. */
  size = 1;
  drawn = 0;
  /** Everything, and as far as it can be expected to hang or swing. */
  readonly box = new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
  readonly renderer: WebGLRenderer;
  readonly stage = new Stage();
  /** Called when ground, light and camera were placed for a new scene. */
  placed: () => void = () => {};
  /** Milliseconds of the last picture. */
  cost = 0;
  triangles = new Uint32Array();
  edges = new Uint32Array();
  springs: Springs = { shear: 0, indices: new Uint32Array() };

  private readonly materials = new Materials();
  private readonly contact = new Contact();
  private readonly ground = new Ground(this.contact);
  private readonly heaven = new Sky();
  /** The box around all bodies of the scene. */
  readonly bodies = new Box3();
  private readonly sun = new DirectionalLight('#fff1df', 2.5);
  private readonly sky = new HemisphereLight('#dbe6ff', '#8a7a6a', 1.2);
  /** From behind and the side: outlines and the backs of folds. */
  private readonly rim = new DirectionalLight('#d5e2ff', 1.1);
  private readonly marker: Mesh<SphereGeometry, MeshBasicMaterial>;
  private readonly string: Line<BufferGeometry, LineBasicMaterial>;
  private shape: Topology | null = null;
  private paneCount = 0;
  private particles = 0;
  private cloths: Cloth[] = [];
  /** Where the scene's wind blows to; shorter than one when it is weak. */
  private readonly lee = new Vector3();
  private frameAnew = false;
  /** What the camera has to show: where particles may be, and the corners around bodies. */
  private points: Vector3[] = [];
  /** Where the camera began. */
  private from = new Vector3(0.4, 0.2, 1).normalize();
  floor = 0;
  private floorGoal = 0;
  private floorMoved = 0;
  private dirty = true;
  private readonly pace = new Pace();
  private marked: { particle: number; target: Vector3 | null } | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: 'high-performance' });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.setScissorTest(true);
    // A picture is several passes, and more of them with several panes.
    this.renderer.info.autoReset = false;
    this.sun.castShadow = true;
    this.sun.shadow.intensity = 0.85;
    this.marker = new Mesh(new SphereGeometry(1, 20, 14), new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9, fog: false }));
    this.marker.renderOrder = 10;
    const ends = new BufferGeometry().setAttribute('position', new Float32BufferAttribute(new Float32Array(6), 3));
    this.string = new Line(ends, new LineBasicMaterial({ depthTest: false, transparent: true, fog: false }));
    this.string.renderOrder = 9;
    this.string.frustumCulled = false;
    this.stage.add(this.heaven.mesh, this.sun, this.sun.target, this.sky, this.rim, this.rim.target, this.ground.group, this.marker, this.string);
    this.stage.fog = new Fog('#000');
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxPolarAngle = 0.54 * Math.PI;
    this.controls.addEventListener('change', () => this.touch());
    this.theme();
  }

  /** Asks for a new picture. */
  touch(): void {
    this.dirty = true;
  }

  /** Takes the colours of the page's theme. */
  theme(): void {
    const haze = new Color(cssValue('--haze'));
    this.heaven.colours(haze, new Color(cssValue('--zenith')), new Color(cssValue('--ground')));
    (this.stage.fog as Fog).color.copy(haze);
    this.ground.colours(cssValue('--ground'), cssValue('--grid'), Number(cssValue('--shadow')), Number(cssValue('--checks')));
    this.materials.uniforms.fill.value.set(cssValue('--wire-fill'));
    this.materials.lines.color.set(cssValue('--wire'));
    this.materials.pin.color.set(cssValue('--pin'));
    this.marker.material.color.set(cssValue('--mark'));
    this.string.material.color.set(cssValue('--mark'));
    this.touch();
  }

  setMode(mode: ViewMode): void {
    this.mode = mode;
    this.materials.mode = mode;
    for (const pane of this.panes) pane.setMode(mode);
    this.touch();
  }

  // --- scene ---

  open(opened: Opened, frameAnew: boolean): void {
    const panes = this.paneCount;
    this.paneCount = opened.panes.length;
    // Other rectangles need another distance; the direction stays what the person chose.
    if (panes !== this.paneCount && !frameAnew) {
      this.fitCamera(this.camera.position.clone().sub(this.controls.target).normalize());
    }
    this.particles = opened.panes[0]?.particles ?? 0;
    this.cloths = opened.scene.cloth;
    const air = opened.scene.air as { wind: Vec3; gust: Vec3; density: number; drag: number };
    this.lee.fromArray(air.wind).add(new Vector3().fromArray(air.gust)).multiplyScalar(air.density + air.drag > 0 ? 1 / 4 : 0).clampLength(0, 1);
    this.pins = [...opened.pins];
    this.frameAnew ||= frameAnew;
    if (frameAnew) {
      // What follows is another scene: nothing of the old one may be drawn with its topology.
      this.triangles = this.edges = new Uint32Array();
      this.springs = { shear: 0, indices: new Uint32Array() };
      this.box.min.fromArray(opened.size[0]);
      this.box.max.fromArray(opened.size[1]);
    }
    for (const pane of this.panes) pane.setPins(this.pins);
    this.stale = true;
  }

  private stale = true;

  setTriangles(indices: Uint32Array): void {
    this.triangles = indices as Uint32Array<ArrayBuffer>;
    this.stale = true;
  }

  setEdges(indices: Uint32Array): void {
    this.edges = indices as Uint32Array<ArrayBuffer>;
    this.stale = true;
  }

  setSprings(shear: number, indices: Uint32Array): void {
    this.springs = { shear, indices: indices as Uint32Array<ArrayBuffer> };
    this.stale = true;
  }

  /** Builds what is drawn, unless particles, triangles, edges and panes are those of before. */
  private build(first: Frame): void {
    this.stale = false;
    const equal = (a: Uint32Array, b: Uint32Array) => a.length === b.length && a.every((v, i) => v === b[i]);
    const old = this.shape;
    const unchanged = old !== null && old.particles === this.particles
      && equal(old.triangles, this.triangles) && equal(old.edges, this.edges)
      && old.springs.shear === this.springs.shear && equal(old.springs.indices, this.springs.indices);
    if (!unchanged || this.frameAnew) this.shape = topology(first.positions, this.triangles, this.edges, this.springs, this.cloths);
    if (!this.shape || (unchanged && !this.frameAnew && this.panes.length === this.paneCount)) return;
    for (const pane of this.panes) {
      this.stage.remove(pane.group);
      pane.dispose();
    }
    if (this.frameAnew) this.lookAt(first);
    const around = surroundings(first.positions, this.shape.edges, this.pins, this.box, this.lee);
    // A few are marked well; of a whole row each is a small stitch.
    const [share, least, most] = this.pins.length > 16 ? [0.14, 0.0014, 0.003] : [0.22, 0.0034, 0.01];
    const pinRadius = Math.min(Math.max(share * around.meanEdge, least * this.size), most * this.size);
    this.panes = Array.from({ length: this.paneCount }, () => {
      const pane = new PaneCloth(this.shape!, this.materials, 0.004 * this.size, pinRadius, 0.03 * this.size, this.size);
      pane.setMode(this.mode);
      pane.setPins(this.pins);
      this.stage.add(pane.group);
      return pane;
    });
  }

  /** Places ground, light and camera for a new scene. */
  private lookAt(first: Frame): void {
    this.frameAnew = false;
    const around = surroundings(first.positions, this.edges, this.pins, this.box, this.lee);
    // Bodies are part of the scene, and stand on its ground.
    this.box.copy(around.box).union(this.bodies);
    this.points = [...around.points, ...(this.bodies.isEmpty() ? [] : corners(this.bodies))];
    const [centre, extent] = [this.box.getCenter(new Vector3()), this.box.getSize(new Vector3())];
    this.size = Math.max(extent.length(), 1e-3);
    // Bodies stand on the ground; cloth hangs a little above it.
    const standing = this.bodies.min.y <= around.box.min.y;
    this.floor = this.floorGoal = this.box.min.y - (standing ? 0.001 : 0.02) * this.size;
    const s = this.size;
    this.ground.place(centre.x, this.floor, centre.z, s);
    this.contact.place(centre, s);
    this.materials.thread = s / 800;
    this.sun.position.copy(centre).addScaledVector(SUN, 2.2 * s);
    this.sun.target.position.copy(centre);
    this.rim.position.copy(centre).add(new Vector3(-1, 0.45, -0.8).multiplyScalar(s));
    this.rim.target.position.copy(centre);
    const shadow = this.sun.shadow;
    const r = REACH * s;
    Object.assign(shadow.camera, { left: -r, right: r, top: r, bottom: -r, near: 0.6 * s, far: 5 * s });
    shadow.camera.updateProjectionMatrix();
    this.shadows();
    this.from = lookFrom(first, this.lee);
    this.fitCamera();
    this.placed();
  }

  /** Moves the camera to where everything just fits every pane. */
  fitCamera(from = this.from): void {
    const rect = this.rects()[0];
    if (!rect) return;
    const points = this.points.length > 0 ? this.points : corners(this.box);
    const right = new Vector3().crossVectors(new Vector3(0, 1, 0), from).normalize();
    const up = new Vector3().crossVectors(from, right);
    const tanY = Math.tan((this.camera.fov * Math.PI) / 360);
    const tanX = tanY * (rect.width / Math.max(rect.height, 1));
    // One camera for all panes, the last row of which has the tool bar.
    const below = byId('toolbar').offsetHeight + AROUND_BAR;
    const free = Math.max(1 - (ABOVE + below) / Math.max(rect.height, 1), 0.4);
    // A point at height u and depth t towards the camera is in the picture if |u − c| ≤ (d − t) tan: with the most A of
    // t tan + u and B of t tan − u the nearest camera is at d = (A + B) / (2 tan), c = (A − B) / 2. Sideways alike.
    const most = { up: -Infinity, down: -Infinity, right: -Infinity, left: -Infinity };
    for (const p of points) {
      const [t, u, r] = [p.dot(from), p.dot(up), p.dot(right)];
      most.up = Math.max(most.up, t * tanY * free + u);
      most.down = Math.max(most.down, t * tanY * free - u);
      most.right = Math.max(most.right, t * tanX + r);
      most.left = Math.max(most.left, t * tanX - r);
    }
    const depth = this.box.getCenter(new Vector3()).dot(from);
    const nearest = Math.max((most.up + most.down) / (2 * tanY * free), (most.right + most.left) / (2 * tanX));
    let distance = Math.max(nearest - depth, 0.05 * this.size);
    const centre = from.clone().multiplyScalar(depth)
      .addScaledVector(up, (most.up - most.down) / 2).addScaledVector(right, (most.right - most.left) / 2);
    distance *= 1.08;
    // The middle of the free part, between caption and tool bar, is a little above the pane's.
    centre.addScaledVector(up, -((below - ABOVE) / 2) * ((2 * distance * tanY) / (rect.height || 1)));
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(from, distance);
    this.controls.minDistance = 0.02 * this.size;
    this.controls.maxDistance = 12 * this.size;
    this.controls.update();
    this.touch();
  }

  take(frame: Frame): void {
    if (frame.n !== this.particles || frame.pane >= this.paneCount) return;
    if (this.stale) this.build(frame);
    if (this.panes[frame.pane]?.take(frame)) this.touch();
  }

  setPin(particle: number, held: boolean): void {
    this.pins = this.pins.filter((p) => p !== particle);
    if (held) this.pins.push(particle);
    for (const pane of this.panes) pane.setPins(this.pins);
    this.touch();
  }

  /** The ground makes way for cloth that hangs lower than expected; free fall is not followed. */
  seeLowest(y: number, pane: number): void {
    if (!Number.isFinite(y) || this.panes[pane]?.apart != null) return;
    const goal = Math.max(y - 0.02 * this.size, this.box.min.y - 2 * this.size);
    this.floorGoal = Math.min(this.floorGoal, goal);
  }

  /** The particle under the cursor, and where it is pulled to. */
  mark(particle: number | null, target: Vector3 | null = null): void {
    if (particle === null && this.marked === null) return;
    this.marked = particle === null ? null : { particle, target };
    this.touch();
  }

  // --- drawing ---

  /** The panes' rectangles within the canvas, in CSS pixels from the top left. */
  rects(): Rect[] {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const n = Math.max(this.paneCount, 1);
    const portrait = height > width;
    const columns = n === 4 ? 2 : n === 1 ? 1 : portrait ? 1 : n;
    const rows = Math.ceil(n / columns);
    return Array.from({ length: n }, (_, i) => ({
      x: (i % columns) * (width / columns),
      y: Math.floor(i / columns) * (height / rows),
      width: width / columns,
      height: height / rows,
    }));
  }

  resize(): void {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    // A headset has a size of its own.
    if (width === 0 || height === 0 || this.renderer.xr.isPresenting) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, this.pace.pixelRatio));
    this.renderer.setSize(width, height, false);
    this.touch();
  }

  aim(rect: Rect): void {
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.camera.aspect = rect.width / Math.max(rect.height, 1);
    // As far as can be: with a near plane at hand, depth cannot tell cloth from the body it lies on.
    this.camera.near = Math.max(distance - 3 * this.size, 0.06 * distance);
    this.camera.far = distance + 8 * this.size;
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    const fog = this.stage.fog as Fog;
    fog.near = distance + 1.2 * this.size;
    fog.far = distance + 6 * this.size;
  }

  /** Draws if there is anything new; true when it did. */
  draw(force = false): boolean {
    if (this.renderer.xr.isPresenting) return false;
    this.controls.update();
    if (Math.abs(this.floorGoal - this.floor) > 1e-4 * this.size) {
      const now = performance.now();
      // Within a fifth of a second, however long pictures take.
      this.floor += (1 - Math.exp(-Math.min(now - this.floorMoved, 200) / 130)) * (this.floorGoal - this.floor);
      this.floorMoved = now;
      this.ground.group.position.y = this.floor;
      this.dirty = true;
    }
    if (!this.dirty && !force) {
      if (!this.pace.rest()) return false;
      // Nothing moves: slow machines too have the time for a good picture of it.
      this.effort();
      this.dirty = false;
      this.render();
      return true;
    }
    this.dirty = false;
    const begun = performance.now();
    if (this.pace.drew()) this.effort();
    this.dirty = false;
    this.render();
    this.cost = performance.now() - begun;
    return true;
  }

  private render(): void {
    this.renderer.info.reset();
    this.contact.uniforms.contactStrength.value = this.pace.fine ? 1 : 0;
    const height = this.canvas.clientHeight;
    this.rects().forEach((rect, i) => {
      this.panes.forEach((pane, j) => (pane.group.visible = i === j && pane.frame !== null));
      this.aim(rect);
      this.placeMark(i);
      if (this.contact.uniforms.contactStrength.value > 0) this.contact.draw(this.renderer, this.stage, this.floor);
      const y = height - rect.y - rect.height;
      this.renderer.setViewport(rect.x, y, rect.width, rect.height);
      this.renderer.setScissor(rect.x, y, rect.width, rect.height);
      this.renderer.render(this.stage, this.camera);
    });
    this.drawn++;
  }

  /** Ground, fog and shadows for someone who stands on such a floor; null: as they were. */
  standOn(floor: number | null): void {
    const inside = floor !== null;
    const shadow = this.sun.shadow.camera;
    shadow.far = 5 * this.size + (inside ? 4 : 0);
    shadow.updateProjectionMatrix();
    const centre = this.box.getCenter(new Vector3());
    this.ground.place(centre.x, floor ?? this.floor, centre.z, inside ? Math.max(this.size, 3) : this.size);
    const fog = this.stage.fog as Fog;
    if (inside) [fog.near, fog.far] = [4 + 2 * this.size, 16 + 6 * this.size];
    this.resize();
    this.touch();
  }

  /** Draws both eyes of a headset: the first pane. */
  drawInHeadset(camera: PerspectiveCamera): void {
    if (this.pace.drew()) this.effort();
    this.panes.forEach((pane, i) => (pane.group.visible = i === 0 && pane.frame !== null));
    this.marker.visible = this.string.visible = false;
    this.renderer.info.reset();
    this.contact.uniforms.contactStrength.value = 0;
    this.renderer.render(this.stage, camera);
    this.drawn++;
  }

  /** On slow machines a plainer picture is better than a late one. */
  private effort(): void {
    this.shadows();
    this.sun.shadow.map?.dispose();
    this.sun.shadow.map = null;
    this.sun.castShadow = this.pace.shadowSize > 0;
    this.materials.uniforms.woven.value = this.pace.fine ? 1 : 0;
    this.resize();
  }

  /** How soft shadows are, and how far a surface stays out of its own. */
  private shadows(): void {
    const { shadow } = this.sun;
    const map = Math.max(this.pace.shadowSize, 1);
    shadow.mapSize.setScalar(map);
    // As wide on the ground whatever the map; narrower than two texels, edges show their steps.
    shadow.radius = Math.max((SOFT * map) / 2048, 2);
    // A sample as far away as the blur reaches, on a surface however steep, is then above that surface.
    shadow.normalBias = (shadow.radius + 1.5) * ((2 * REACH * this.size) / map);
    shadow.bias = -0.0003;
  }

  private placeMark(pane: number): void {
    const frame = this.panes[pane]?.frame;
    const shown = this.marked !== null && frame !== null && frame !== undefined && this.marked.particle < frame.n;
    this.marker.visible = shown;
    this.string.visible = shown && this.marked?.target != null;
    if (!shown || !this.marked) return;
    const at = this.marker.position.fromArray(frame.positions, 3 * this.marked.particle);
    this.marker.scale.setScalar(0.0075 * this.camera.position.distanceTo(at) * (this.paneCount > 1 ? 1.3 : 1));
    if (this.marked.target) {
      const ends = this.string.geometry.getAttribute('position');
      ends.setXYZ(0, at.x, at.y, at.z);
      ends.setXYZ(1, this.marked.target.x, this.marked.target.y, this.marked.target.z);
      ends.needsUpdate = true;
    }
  }

  /** The picture as it is now. It is drawn first, since the canvas keeps nothing between draws. */
  picture(): Promise<Blob | null> {
    this.draw(true);
    return new Promise((resolve) => this.canvas.toBlob(resolve, 'image/png'));
  }
}
