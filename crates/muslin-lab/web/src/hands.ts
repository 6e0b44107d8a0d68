// Hands on the cloth: the particle under the cursor, pulling it, and pinning it with a click.
// Picking goes over the particles on the CPU once per picture at most.

import { Matrix4, Plane, Raycaster, Vector2, Vector3 } from 'three';
import type { Rect, View } from './view';
import type { Vec3 } from './types';

const REACH_MOUSE = 14;
const REACH_TOUCH = 26;
/** Pixels of movement that turn a click into a drag. */
const SLACK = 4;
/** Of particles behind one another the nearest is meant: a pixel behind counts as half a pixel beside. */
const BEHIND = 0.5;

export interface HandsListener {
  pull(particle: number, target: Vec3): void;
  release(): void;
  togglePin(particle: number): void;
}

interface Grip {
  pointer: number;
  particle: number;
  pane: number;
  from: Vector2;
  moving: boolean;
  plane: Plane;
}

export class Hands {
  private grip: Grip | null = null;
  private pointer: { x: number; y: number } | null = null;
  /** The pointer moved, or the cloth under it did. */
  private moved = false;
  hovered: number | null = null;
  private readonly matrix = new Matrix4();
  private readonly ray = new Raycaster();
  private lastPick = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly view: View,
    private readonly listener: HandsListener,
  ) {
    // In the capture phase of the parent, so that it is decided before OrbitControls hears of it
    // whether a drag turns the camera.
    const parent = canvas.parentElement ?? canvas;
    parent.addEventListener('pointerdown', (e) => this.down(e), { capture: true });
    canvas.addEventListener('pointermove', (e) => this.move(e));
    canvas.addEventListener('pointerup', (e) => this.up(e));
    canvas.addEventListener('pointercancel', (e) => this.up(e, true));
    canvas.addEventListener('pointerleave', () => this.leave());
  }

  /** The particle being pulled. */
  get pulled(): number | null {
    return this.grip?.moving ? this.grip.particle : null;
  }

  /** Called once per picture: acts on the newest pointer position only. */
  update(): void {
    if (!this.pointer) return;
    if (this.grip?.moving) {
      const target = this.onPlane(this.pointer, this.grip);
      if (target && this.moved) this.listener.pull(this.grip.particle, target.toArray() as Vec3);
      this.view.mark(this.grip.particle, target);
      this.moved = false;
      return;
    }
    const now = performance.now();
    const many = (this.view.panes[0]?.frame?.n ?? 0) > 30000;
    if (this.grip || (now - this.lastPick < (many ? 100 : 30) && !this.moved)) return;
    this.lastPick = now;
    this.moved = false;
    const hit = this.pick(this.pointer.x, this.pointer.y, REACH_MOUSE);
    this.hover(hit?.particle ?? null);
  }

  private hover(particle: number | null): void {
    if (particle !== this.hovered || particle !== null) this.view.mark(particle);
    this.hovered = particle;
    this.canvas.style.cursor = particle === null ? '' : 'pointer';
  }

  private leave(): void {
    if (this.grip) return;
    this.pointer = null;
    this.hover(null);
  }

  private down(event: PointerEvent): void {
    if (event.target !== this.canvas || event.button !== 0 || this.grip || !event.isPrimary) return;
    // Modifier keys are OrbitControls' way to pan.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const reach = event.pointerType === 'touch' ? REACH_TOUCH : REACH_MOUSE;
    const hit = this.pick(event.clientX, event.clientY, reach);
    if (!hit) return;
    this.view.controls.enabled = false;
    this.canvas.setPointerCapture(event.pointerId);
    this.pointer = { x: event.clientX, y: event.clientY };
    const normal = this.view.camera.getWorldDirection(new Vector3());
    this.grip = {
      pointer: event.pointerId,
      particle: hit.particle,
      pane: hit.pane,
      from: new Vector2(event.clientX, event.clientY),
      moving: false,
      plane: new Plane().setFromNormalAndCoplanarPoint(normal, hit.position),
    };
    this.view.mark(hit.particle);
  }

  private move(event: PointerEvent): void {
    if (this.grip && event.pointerId !== this.grip.pointer) return;
    // A finger has nothing to hover with, and a pressed button is turning the camera.
    if (!this.grip && (event.pointerType === 'touch' || event.buttons !== 0)) {
      this.leave();
      return;
    }
    this.pointer = { x: event.clientX, y: event.clientY };
    this.moved = true;
    const grip = this.grip;
    if (grip && !grip.moving && grip.from.distanceTo(new Vector2(event.clientX, event.clientY)) > SLACK) {
      grip.moving = true;
      this.canvas.style.cursor = 'grabbing';
    }
  }

  private up(event: PointerEvent, cancelled = false): void {
    const grip = this.grip;
    if (!grip || event.pointerId !== grip.pointer) return;
    this.grip = null;
    this.view.controls.enabled = true;
    if (grip.moving) this.listener.release();
    else if (!cancelled) this.listener.togglePin(grip.particle);
    this.view.mark(null);
    this.canvas.style.cursor = '';
    if (event.pointerType === 'touch') this.pointer = null;
    this.moved = true;
  }

  /** Drops what is held, when the scene goes away under it. */
  letGo(): void {
    if (!this.grip) return;
    if (this.grip.moving) this.listener.release();
    this.grip = null;
    this.view.controls.enabled = true;
    this.view.mark(null);
  }

  // --- geometry ---

  paneAt(x: number, y: number): { pane: number; rect: Rect } | null {
    const bounds = this.canvas.getBoundingClientRect();
    const [px, py] = [x - bounds.left, y - bounds.top];
    const rects = this.view.rects();
    const pane = rects.findIndex((r) => px >= r.x && px < r.x + r.width && py >= r.y && py < r.y + r.height);
    const rect = rects[pane];
    return rect ? { pane, rect } : null;
  }

  private projection(rect: Rect): Matrix4 {
    this.view.aim(rect);
    const camera = this.view.camera;
    return this.matrix.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
  }

  /** The nearest particle on screen that no nearer cloth hides. */
  pick(x: number, y: number, reach: number): { particle: number; pane: number; position: Vector3 } | null {
    const found = this.paneAt(x, y);
    const frame = found && this.view.panes[found.pane]?.frame;
    if (!found || !frame) return null;
    const { rect, pane } = found;
    const bounds = this.canvas.getBoundingClientRect();
    // Pixels to normalised device coordinates once, instead of every particle to pixels.
    const cx = (2 * (x - bounds.left - rect.x)) / rect.width - 1;
    const cy = 1 - (2 * (y - bounds.top - rect.y)) / rect.height;
    const [sx, sy] = [rect.width / 2, rect.height / 2];
    const m = this.projection(rect).elements;
    const [m0, m1, m3, m4, m5, m7, m8, m9, m11, m12, m13, m15] =
      [m[0], m[1], m[3], m[4], m[5], m[7], m[8], m[9], m[11], m[12], m[13], m[15]];
    const p = frame.positions;
    // Pixels per metre at depth w are this over w.
    const pixels = rect.height / 2 / Math.tan((this.view.camera.fov * Math.PI) / 360);
    const middle = this.view.camera.position.distanceTo(this.view.controls.target);
    let [best, least] = [-1, Infinity];
    for (let i = 0; i < frame.n; i++) {
      const [a, b, c] = [p[3 * i]!, p[3 * i + 1]!, p[3 * i + 2]!];
      const w = m3 * a + m7 * b + m11 * c + m15;
      if (!(w > 0)) continue;
      const dx = ((m0 * a + m4 * b + m8 * c + m12) / w - cx) * sx;
      if (dx > reach || dx < -reach) continue;
      const dy = ((m1 * a + m5 * b + m9 * c + m13) / w - cy) * sy;
      const distance = dx * dx + dy * dy;
      if (!(distance <= reach * reach)) continue;
      const score = Math.sqrt(distance) + BEHIND * (w - middle) * (pixels / middle);
      if (score < least) [best, least] = [i, score];
    }
    if (best < 0) return null;
    return { particle: best, pane, position: new Vector3().fromArray(p, 3 * best) };
  }

  /** Where the cursor is in the plane of the grip. */
  private onPlane(pointer: { x: number; y: number }, grip: Grip): Vector3 | null {
    const rect = this.view.rects()[grip.pane];
    if (!rect) return null;
    this.view.aim(rect);
    const bounds = this.canvas.getBoundingClientRect();
    const ndc = new Vector2(
      (2 * (pointer.x - bounds.left - rect.x)) / rect.width - 1,
      1 - (2 * (pointer.y - bounds.top - rect.y)) / rect.height,
    );
    this.ray.setFromCamera(ndc, this.view.camera);
    return this.ray.ray.intersectPlane(grip.plane, new Vector3());
  }

  /** Every particle's place on the page, x and y; NaN behind the camera. */
  allOnScreen(pane: number): Float32Array {
    const frame = this.view.panes[pane]?.frame;
    const rect = this.view.rects()[pane];
    if (!frame || !rect) return new Float32Array();
    const bounds = this.canvas.getBoundingClientRect();
    const matrix = this.projection(rect);
    const xy = new Float32Array(2 * frame.n).fill(NaN);
    const at = new Vector3();
    for (let i = 0; i < frame.n; i++) {
      at.fromArray(frame.positions, 3 * i).applyMatrix4(matrix);
      if (Math.abs(at.z) > 1) continue;
      xy[2 * i] = bounds.left + rect.x + ((at.x + 1) * rect.width) / 2;
      xy[2 * i + 1] = bounds.top + rect.y + ((1 - at.y) * rect.height) / 2;
    }
    return xy;
  }

  /** A particle's place on the page. */
  onScreen(particle: number, pane = 0): { x: number; y: number } | null {
    const frame = this.view.panes[pane]?.frame;
    const rect = this.view.rects()[pane];
    if (!frame || !rect || particle >= frame.n) return null;
    const at = new Vector3().fromArray(frame.positions, 3 * particle).applyMatrix4(this.projection(rect));
    const bounds = this.canvas.getBoundingClientRect();
    return {
      x: bounds.left + rect.x + ((at.x + 1) * rect.width) / 2,
      y: bounds.top + rect.y + ((1 - at.y) * rect.height) / 2,
    };
  }
}
