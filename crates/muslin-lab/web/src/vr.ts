// Virtual reality: one stands in the scene at its real size, takes hold of cloth and bodies with
// either hand, and chooses scene and method on a panel. Drawn by WebGL through three's WebXR.

import { Color, Group, Matrix4, PerspectiveCamera, Quaternion, Vector3 } from 'three';
import type { Bench } from './bench';
import { Budget } from './budget';
import type { Colliders } from './colliders';
import { cssValue, fixed, percent } from './dom';
import { icon } from './icons';
import type { Opened, Report, Vec3 } from './types';
import type { View } from './view';
import { VrHand } from './vrhand';
import { VrPanel, type ButtonName } from './vrpanel';

/** How far a hand reaches for a particle. [m] */
const REACH = 0.15;
/** How far outside of a body it can still be taken hold of. [m] */
const BODY_REACH = 0.05;
/** The middle of a small scene is at this height, and nothing is lower than that. [m] */
const CHEST = 1.25;
const CLEAR = 0.05;
/** Where one stands: this far in front of the pins [m], and farther if such a wind blows forwards [m/s]. */
const IN_FRONT = 0.7;
const BREEZE = 0.5;
/** A button this near to the hand that points at it is meant before cloth at hand. [m] */
const BUTTON_NEAR = 0.3;
/** Walking with the stick [m/s], and one snap of turning. */
const SPEED = 1.5;
const SNAP = Math.PI / 6;
const STICK_DEAD = 0.2;
const STICK_SNAP = 0.7;
/** Milliseconds between two drawings of the panel. */
const PANEL_PAUSE = 250;

export interface VrListener {
  pull(hand: number, particle: number, target: Vec3): void;
  release(hand: number): void;
  reset(): void;
  /** What went wrong, for the ordinary page. */
  complain(message: string): void;
}

type Held =
  | { kind: 'particle'; particle: number; sent: Vector3 | null }
  | { kind: 'collider'; collider: number; inHand: Matrix4 }
  | null;

interface Grasp {
  held: Held;
  wasClosed: boolean;
  hovered: number | null;
}

/** Why no headset can be used here; null if one can. */
async function whyNot(): Promise<string | null> {
  if (!isSecureContext) return 'Virtual reality needs a page from this computer or over https.';
  if (!navigator.xr) return 'This browser has no WebXR, which virtual reality needs.';
  const there = await navigator.xr.isSessionSupported('immersive-vr').catch(() => false);
  return there ? null : 'No headset was found: connect one and let it run.';
}

export class Vr {
  readonly budget: Budget;
  private readonly rig = new Group();
  private readonly camera = new PerspectiveCamera(70, 1, 0.03, 200);
  private readonly panel: VrPanel;
  private readonly hands: VrHand[];
  private readonly grasps: Grasp[] = [0, 1].map(() => ({ held: null, wasClosed: false, hovered: null }));
  private session: XRSession | null = null;
  private stood = false;
  private snapped = false;
  private lastTime = 0;
  private lastPanel = 0;
  private particles = 0;
  private report: Report | null = null;
  private said = '';
  /** What the panel asked for last; a refused choice is then passed over by the next press. */
  private asked: { scene?: string; method?: string } = {};
  private readonly colours = { near: new Color(), held: new Color() };

  constructor(
    private readonly button: HTMLButtonElement,
    private readonly view: View,
    private readonly bench: Bench,
    private readonly colliders: Colliders,
    private readonly listener: VrListener,
  ) {
    this.budget = new Budget(bench);
    this.panel = new VrPanel(this.rig);
    this.hands = (['left', 'right'] as const).map((side) => new VrHand(side, this.rig, view.stage));
    this.rig.add(this.camera);
    view.placed = () => (this.stood = false);
    view.renderer.xr.setReferenceSpaceType('local-floor');
    view.renderer.xr.addEventListener('sessionend', () => this.left());
    button.prepend(icon('vr'));
    button.addEventListener('click', () => void this.enter());
    navigator.xr?.addEventListener('devicechange', () => void this.offer());
    void this.offer();
  }

  get active(): boolean {
    return this.session !== null;
  }

  private async offer(): Promise<void> {
    const reason = await whyNot();
    this.button.disabled = reason !== null;
    this.button.title = reason ?? 'Enter VR';
  }

  private async enter(): Promise<void> {
    if (this.session || !navigator.xr) return;
    try {
      const session = await navigator.xr.requestSession('immersive-vr', {
        requiredFeatures: ['local-floor'],
        optionalFeatures: ['hand-tracking'],
      });
      this.view.renderer.xr.enabled = true;
      await this.view.renderer.xr.setSession(session);
      this.session = session;
    } catch (error) {
      this.view.renderer.xr.enabled = false;
      this.listener.complain(`Virtual reality did not start: ${error instanceof Error ? error.message : String(error)}`);
      return;
    }
    this.colours.near.set(cssValue('--mark'));
    this.colours.held.set(cssValue('--accent'));
    this.view.stage.add(this.rig);
    this.view.renderer.setScissorTest(false);
    this.particles = this.bench.opened?.panes[0]?.particles ?? 0;
    this.stood = false;
    this.panel.displace();
    this.budget.forget();
    this.lastTime = 0;
    this.said = '';
    // There is one place to stand; the other panes would only cost time.
    const [first] = this.bench.methods;
    if (first && this.bench.methods.length > 1) this.bench.setMethods([first]);
  }

  /** Back on the page, by the panel or by the headset. */
  private left(): void {
    this.session = null;
    this.grasps.forEach((_, i) => this.letGo(i));
    this.hands.forEach((hand) => hand.hide());
    this.view.stage.remove(this.rig);
    this.budget.end();
    const { renderer } = this.view;
    renderer.xr.enabled = false;
    renderer.setScissorTest(true);
    this.view.standOn(null);
  }

  // --- what the workbench says ---

  opened(message: Opened, fresh: boolean): void {
    const particles = message.panes[0]?.particles ?? 0;
    const other = fresh || particles !== this.particles;
    this.particles = particles;
    this.asked = {};
    if (fresh) this.budget.forget();
    else this.budget.measureAnew();
    this.grasps.forEach((grasp, i) => {
      if (other || grasp.held?.kind === 'collider') this.letGo(i);
      else if (grasp.held) grasp.held.sent = null;
    });
  }

  hear(report: Report): void {
    if (report.pane === 0) this.report = report;
    if (this.active) this.budget.hear(report);
  }

  refused(message: string): void {
    this.said = message;
    this.budget.refused(performance.now());
  }

  // --- one picture ---

  draw(time: number, frame: XRFrame): void {
    const began = performance.now();
    const space = this.view.renderer.xr.getReferenceSpace();
    const viewer = space && frame.getViewerPose(space);
    if (!this.session || !space || !viewer) return;
    const seconds = this.lastTime ? Math.min((time - this.lastTime) / 1000, 0.1) : 0;
    this.lastTime = time;
    const head = new Matrix4().fromArray(viewer.transform.matrix);
    if (!this.stood) this.stand(head);
    this.walk(head, seconds);
    this.rig.updateMatrixWorld();
    for (const hand of this.hands) {
      hand.update(frame, space, [...this.session.inputSources].find((s) => s.handedness === hand.side));
    }
    const looking = new Vector3(0, 0, -1).transformDirection(head);
    this.panel.follow(new Vector3().setFromMatrixPosition(head), looking);
    const pointed = this.hands.map((hand, i) => this.act(hand, i));
    if (began - this.lastPanel > PANEL_PAUSE) {
      this.lastPanel = began;
      this.showPanel(pointed.find((b) => b !== null) ?? null);
    }
    this.view.drawInHeadset(this.camera);
    this.budget.drew(performance.now() - began);
    if (this.bench.playing) this.budget.keep(performance.now());
  }

  /** Puts floor and person where the scene is in reach, facing it. */
  private stand(head: Matrix4): void {
    const frame = this.view.panes[0]?.frame;
    if (!frame) return;
    this.stood = true;
    const { box, pins } = this.view;
    const centre = box.getCenter(new Vector3());
    const floor = Math.min(box.min.y - CLEAR, centre.y - CHEST);
    let front = -Infinity;
    for (const p of pins) front = Math.max(front, frame.positions[3 * p + 2] ?? NaN);
    if (!Number.isFinite(front)) front = box.max.z;
    const blown = (this.bench.scene?.air.wind[2] ?? 0) > BREEZE ? Math.min(0.6 * (box.max.y - box.min.y), 0.5) : 0;
    const place = new Vector3(centre.x, floor, front + IN_FRONT + blown);
    // The head may be anywhere in its room and look anywhere.
    const looking = new Vector3(0, 0, -1).transformDirection(head);
    this.rig.rotation.set(0, -Math.atan2(-looking.x, -looking.z), 0);
    const offset = new Vector3().setFromMatrixPosition(head).setY(0).applyQuaternion(this.rig.quaternion);
    this.rig.position.copy(place).sub(offset);
    this.rig.updateMatrixWorld();
    this.camera.far = 60 + 4 * this.view.size;
    this.view.standOn(floor);
    this.panel.displace();
  }

  /** Sticks: either walks where one looks, the right one turns by snaps, the left one goes sideways. */
  private walk(head: Matrix4, seconds: number): void {
    const live = (v: number) => (Math.abs(v) > STICK_DEAD ? v : 0);
    const [left, right] = this.hands.map((hand) => hand.stick) as [VrHand['stick'], VrHand['stick']];
    const forward = -live(left.y) - live(right.y);
    const sideways = live(left.x);
    const looking = new Vector3(0, 0, -1).transformDirection(head).setY(0).normalize().applyQuaternion(this.rig.quaternion);
    this.rig.position.addScaledVector(looking, SPEED * seconds * forward);
    this.rig.position.addScaledVector(new Vector3(-looking.z, 0, looking.x), SPEED * seconds * sideways);
    const turning = Math.abs(right.x) > STICK_SNAP;
    if (turning && !this.snapped) {
      const before = this.rig.localToWorld(new Vector3().setFromMatrixPosition(head));
      this.rig.rotation.y -= Math.sign(right.x) * SNAP;
      this.rig.updateMatrixWorld();
      // One turns about oneself, not about the middle of the room.
      const after = this.rig.localToWorld(new Vector3().setFromMatrixPosition(head));
      this.rig.position.add(before.sub(after).setY(0));
    }
    this.snapped = turning;
  }

  /** What one hand does now; the button it points at, if any. */
  private act(hand: VrHand, i: number): ButtonName | null {
    const grasp = this.grasps[i]!;
    grasp.hovered = null;
    const closes = hand.closed && !grasp.wasClosed;
    grasp.wasClosed = hand.closed;
    if (!hand.tracked || !hand.closed) this.letGo(i);
    if (!hand.tracked) return null;
    if (grasp.held) {
      this.carry(hand, i, grasp.held);
      return null;
    }
    const touched = this.panel.touch(i, hand.tip);
    if (touched) this.press(touched);
    const pointed = this.panel.pointed(hand.ray);
    if (pointed?.button && pointed.distance < BUTTON_NEAR) return this.point(hand, pointed, closes);
    const body = this.colliders.near(hand.point, BODY_REACH);
    const particle = this.nearest(hand.point);
    const first = body && (!particle || body.distance <= particle.distance) ? 'body' : particle ? 'particle' : null;
    if (first === 'particle' && particle) {
      grasp.hovered = particle.index;
      hand.showMark(this.at(particle.index), false, this.colours.near);
      if (closes) grasp.held = { kind: 'particle', particle: particle.index, sent: null };
    } else if (first === 'body' && body) {
      hand.showMark(hand.point, false, this.colours.near);
      const inHand = hand.matrix.clone().invert().multiply(this.colliders.place(body.collider));
      if (closes) grasp.held = { kind: 'collider', collider: body.collider, inHand };
    }
    return first || !pointed ? null : this.point(hand, pointed, closes);
  }

  private point(hand: VrHand, pointed: { distance: number; button: ButtonName | null }, closes: boolean): ButtonName | null {
    hand.showBeam(pointed.distance, pointed.button ? this.colours.held : this.colours.near);
    if (closes && pointed.button) this.press(pointed.button);
    return pointed.button;
  }

  private carry(hand: VrHand, i: number, held: NonNullable<Held>): void {
    if (held.kind === 'collider') {
      const [position, rotation, scale] = [new Vector3(), new Quaternion(), new Vector3()];
      hand.matrix.clone().multiply(held.inHand).decompose(position, rotation, scale);
      this.colliders.put(held.collider, position, rotation);
      return;
    }
    hand.showMark(this.at(held.particle), true, this.colours.held);
    if (held.sent && held.sent.distanceTo(hand.point) < 1e-4) return;
    held.sent = hand.point.clone();
    this.listener.pull(i, held.particle, hand.point.toArray());
  }

  private letGo(i: number): void {
    const grasp = this.grasps[i]!;
    if (grasp.held?.kind === 'particle' && grasp.held.sent) this.listener.release(i);
    grasp.held = null;
  }

  private at(particle: number): Vector3 {
    return new Vector3().fromArray(this.view.panes[0]?.frame?.positions ?? [0, 0, 0], 3 * particle);
  }

  private nearest(point: Vector3): { index: number; distance: number } | null {
    const positions = this.view.panes[0]?.frame?.positions ?? [];
    let [index, least] = [-1, REACH * REACH];
    for (let i = 0; 3 * i < positions.length; i++) {
      const dx = positions[3 * i]! - point.x;
      const dy = positions[3 * i + 1]! - point.y;
      const dz = positions[3 * i + 2]! - point.z;
      const squared = dx * dx + dy * dy + dz * dz;
      if (squared < least) [index, least] = [i, squared];
    }
    return index < 0 ? null : { index, distance: Math.sqrt(least) };
  }

  // --- the panel ---

  private press(button: ButtonName): void {
    this.said = '';
    if (button === 'leave') void this.session?.end();
    else if (button === 'reset') this.listener.reset();
    else if (button === 'pause') this.bench.play(!this.bench.playing);
    else if (button === 'next-scene') this.chooseScene(1);
    else if (button === 'previous-scene') this.chooseScene(-1);
    else this.chooseMethod(button === 'next-method' ? 1 : -1);
    this.lastPanel = 0;
  }

  private chooseScene(by: number): void {
    const names = this.bench.catalogue?.scenes.map((s) => s.name) ?? [];
    const name = beside(names, this.asked.scene ?? this.bench.base?.name, by);
    if (!name) return;
    this.asked.scene = name;
    this.bench.openScene(name);
  }

  private chooseMethod(by: number): void {
    const ids = this.bench.catalogue?.methods.map((m) => m.id) ?? [];
    const id = beside(ids, this.asked.method ?? this.bench.methods[0]?.id, by);
    const method = id && this.bench.ownMethod(id);
    if (!id || !method) return;
    this.asked.method = id;
    this.bench.setMethods([method]);
  }

  private showPanel(pointed: ButtonName | null): void {
    this.panel.show({
      scene: this.bench.base?.name ?? '',
      method: this.bench.methods[0]?.id ?? '',
      ms: fixed(this.report?.ms, 1),
      strain: percent(this.report?.max_strain),
      rate: fixed(this.report?.rate, 2),
      playing: this.bench.playing,
      note: this.said || this.budget.note,
    }, pointed);
  }

  /** For tests and the curious. */
  get facts() {
    const places = this.hands.map((hand, i) => ({
      tracked: hand.tracked,
      closed: hand.closed,
      point: hand.point.toArray(),
      hovered: this.grasps[i]!.hovered,
      held: this.grasps[i]!.held?.kind ?? null,
      particle: this.grasps[i]!.held?.kind === 'particle' ? this.grasps[i]!.held.particle : null,
    }));
    return {
      active: this.active,
      hands: places,
      budget: this.budget,
      rig: { position: this.rig.position.toArray(), turn: this.rig.rotation.y },
      note: this.said || this.budget.note,
      /** A place on stage, as seen from the middle of the person's room. */
      inRoom: (at: Vec3) => this.rig.worldToLocal(new Vector3(...at)).toArray(),
      buttonAt: (name: ButtonName) => this.panel.buttonAt(name).toArray(),
    };
  }
}

/** The next or the one before, round and round. */
function beside(list: string[], now: string | undefined, by: number): string | undefined {
  return list[(list.indexOf(now ?? '') + by + list.length) % list.length];
}
