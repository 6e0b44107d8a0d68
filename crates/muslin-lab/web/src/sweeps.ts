// Sweeps over the stage: a stroke that cuts the cloth, and a gust of wind that dies away.

import { Vector3 } from 'three';
import type { Vec3 } from './types';
import type { View } from './view';
import { byId } from './dom';

export type Tool = 'hand' | 'cut' | 'wind';
export const TOOLS: Tool[] = ['hand', 'cut', 'wind'];

export interface Point { x: number; y: number }

export interface SweepListener {
  /** A stroke over a pane has ended. */
  cut(stroke: Point[], pane: number): void;
  /** What blows in addition to the scene's wind; zero once when it is over. [m/s] */
  gust(added: Vec3): void;
}

/** Seconds in which a gust falls to 1/e: after one second a thirtieth is left. */
const FADE = 0.3;
/** Gusts below this are over. [m/s] */
const CALM = 0.15;
/** Slowest and fastest gust, and how much faster the air is than the sweep. [m/s] */
const SLOWEST = 3;
const FASTEST = 15;
const SWEEP_TO_WIND = 3;
/** Milliseconds over which the speed of a sweep is taken, and between two messages. */
const WINDOW = 120;
const PAUSE = 30;
/** Pixels between two points of a stroke. */
const SPACING = 4;

interface Sweep {
  pointer: number;
  kind: 'cut' | 'wind';
  pane: number;
  points: (Point & { time: number })[];
}

export class Sweeps {
  tool: Tool = 'hand';
  /** What a gust adds to the wind now. [m/s] */
  readonly gust = new Vector3();
  /** What the last sweep blew at its start, before it faded; null while there was none. */
  blown: Vec3 | null = null;
  private sweep: Sweep | null = null;
  private peak = 0;
  private last = 0;
  private sent = 0;
  private readonly line = byId('stroke');
  private readonly arrow = byId('gust');

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly view: View,
    private readonly paneAt: (x: number, y: number) => number | null,
    private readonly listener: SweepListener,
  ) {
    // In the capture phase of the parent and before all others: a sweep is neither a pull nor a turn.
    const parent = canvas.parentElement ?? canvas;
    parent.addEventListener('pointerdown', (e) => this.down(e), { capture: true });
    canvas.addEventListener('pointermove', (e) => this.move(e));
    canvas.addEventListener('pointerup', (e) => this.up(e));
    canvas.addEventListener('pointercancel', (e) => this.up(e, true));
  }

  get active(): boolean {
    return this.sweep !== null;
  }

  private down(event: PointerEvent): void {
    if (event.target !== this.canvas || event.button !== 0 || !event.isPrimary) return;
    const kind = event.shiftKey ? 'wind' : this.tool;
    const pane = this.paneAt(event.clientX, event.clientY);
    if (kind === 'hand' || pane === null) return;
    event.stopImmediatePropagation();
    this.canvas.setPointerCapture(event.pointerId);
    this.blown = null;
    this.sweep = { pointer: event.pointerId, kind, pane, points: [] };
    this.add(event);
  }

  private add(event: PointerEvent): void {
    const points = this.sweep?.points;
    const last = points?.at(-1);
    if (!points || (last && Math.hypot(event.clientX - last.x, event.clientY - last.y) < SPACING)) return;
    points.push({ x: event.clientX, y: event.clientY, time: performance.now() });
  }

  private move(event: PointerEvent): void {
    const sweep = this.sweep;
    if (!sweep || event.pointerId !== sweep.pointer) return;
    this.add(event);
    if (sweep.kind === 'wind') this.blow(sweep);
    this.draw();
  }

  private up(event: PointerEvent, cancelled = false): void {
    const sweep = this.sweep;
    if (!sweep || event.pointerId !== sweep.pointer) return;
    this.add(event);
    this.sweep = null;
    if (sweep.kind === 'cut') {
      this.line.setAttribute('points', '');
      if (!cancelled && sweep.points.length > 1) this.listener.cut(sweep.points, sweep.pane);
    }
  }

  /** Wind in the direction of the sweep's last moments, unless a stronger gust still blows. */
  private blow(sweep: Sweep): void {
    const to = sweep.points.at(-1)!;
    const from = sweep.points.find((p) => p.time >= to.time - WINDOW && p !== to) ?? sweep.points.at(-2);
    const rect = this.view.rects()[sweep.pane];
    if (!from || !rect) return;
    const { camera, controls } = this.view;
    const distance = camera.position.distanceTo(controls.target);
    const perPixel = (2 * distance * Math.tan((camera.fov * Math.PI) / 360)) / Math.max(rect.height, 1);
    const along = new Vector3(to.x - from.x, from.y - to.y, 0).multiplyScalar(perPixel).applyQuaternion(camera.quaternion);
    const speed = along.length() / Math.max((to.time - from.time) / 1000, 0.01);
    const wanted = Math.min(Math.max(SWEEP_TO_WIND * speed, SLOWEST), FASTEST);
    if (along.lengthSq() === 0 || wanted < this.gust.length()) return;
    this.gust.copy(along.setLength(wanted));
    this.peak = wanted;
    this.blown = this.gust.toArray() as Vec3;
    this.last = performance.now();
  }

  /** Called once per picture: the gust dies away. */
  update(): void {
    if (this.peak === 0) return;
    const now = performance.now();
    this.gust.multiplyScalar(Math.exp(-(now - this.last) / 1000 / FADE));
    this.last = now;
    const over = this.gust.length() < CALM;
    if (over) {
      this.gust.setScalar(0);
      this.peak = 0;
    } else if (now - this.sent < PAUSE) return;
    this.sent = now;
    this.listener.gust(this.gust.toArray().map((c) => Number(c.toFixed(3))) as Vec3);
    this.arrow.style.opacity = over ? '0' : String(Math.min(1, 1.4 * (this.gust.length() / this.peak)));
  }

  private draw(): void {
    const sweep = this.sweep;
    if (!sweep) return;
    const bounds = this.canvas.getBoundingClientRect();
    const at = (p: Point) => `${(p.x - bounds.left).toFixed(1)},${(p.y - bounds.top).toFixed(1)}`;
    if (sweep.kind === 'cut') {
      this.line.setAttribute('points', sweep.points.map(at).join(' '));
      return;
    }
    // The arrow follows the end of the sweep.
    const tail = sweep.points.slice(-24);
    this.arrow.setAttribute('points', tail.map(at).join(' '));
  }
}

/** Whether segments a–b and c–d cross. */
function cross(ax: number, ay: number, bx: number, by: number, cx: number, cy: number, dx: number, dy: number): boolean {
  const side = (px: number, py: number, qx: number, qy: number, rx: number, ry: number) =>
    (qx - px) * (ry - py) - (qy - py) * (rx - px);
  return side(ax, ay, bx, by, cx, cy) * side(ax, ay, bx, by, dx, dy) < 0
    && side(cx, cy, dx, dy, ax, ay) * side(cx, cy, dx, dy, bx, by) < 0;
}

/**
 * The edges that a stroke crosses on the screen. `xy` are the particles there, NaN behind the camera; edges are
 * the sides of the triangles and the structural springs.
 */
export function crossedEdges(stroke: Point[], xy: Float32Array, triangles: Uint32Array, edges: Uint32Array): [number, number][] {
  const xs = stroke.map((p) => p.x);
  const ys = stroke.map((p) => p.y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const found = new Map<number, [number, number]>();
  const particles = xy.length / 2;
  const look = (a: number, b: number) => {
    const [ax, ay, bx, by] = [xy[2 * a]!, xy[2 * a + 1]!, xy[2 * b]!, xy[2 * b + 1]!];
    // Written so that NaN is outside.
    if (!(Math.max(ax, bx) >= left && Math.min(ax, bx) <= right && Math.max(ay, by) >= top && Math.min(ay, by) <= bottom)) return;
    for (let i = 0; i + 1 < stroke.length; i++) {
      const [p, q] = [stroke[i]!, stroke[i + 1]!];
      if (!cross(p.x, p.y, q.x, q.y, ax, ay, bx, by)) continue;
      found.set(Math.min(a, b) * particles + Math.max(a, b), [Math.min(a, b), Math.max(a, b)]);
      return;
    }
  };
  for (let t = 0; t + 2 < triangles.length; t += 3) {
    const [a, b, c] = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!];
    look(a, b);
    look(b, c);
    look(c, a);
  }
  for (let e = 0; e + 1 < edges.length; e += 2) look(edges[e]!, edges[e + 1]!);
  return [...found.values()];
}
