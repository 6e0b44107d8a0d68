// The panel in virtual reality: scene, method, figures and a few buttons on a canvas, at waist
// height in front of the person. Pressed by touching it or by pointing at it.

import { CanvasTexture, Group, LinearMipmapLinearFilter, Mesh, MeshBasicMaterial, PlaneGeometry, Ray, SRGBColorSpace, Vector3 } from 'three';
import { cssValue } from './dom';

/** Canvas pixels, and metres. */
const [WIDE, HIGH] = [1024, 704];
const METRES = 0.44;
const PER_METRE = WIDE / METRES;
/** From the head. [m] */
const AHEAD = 0.6;
const ASIDE = -0.2;
const BELOW = 0.42;
/** It comes along when it is farther away than this, or this far to the side. */
const FARTHEST = 1.3;
const WIDEST = Math.cos((75 * Math.PI) / 180);
/** A tip this near is a touch. [m] */
const TOUCH = 0.012;

export type ButtonName =
  | 'previous-scene' | 'next-scene' | 'previous-method' | 'next-method' | 'reset' | 'pause' | 'leave';

interface Button { name: ButtonName; x: number; y: number; width: number; height: number }

export interface PanelText {
  scene: string;
  method: string;
  ms: string;
  strain: string;
  rate: string;
  playing: boolean;
  note: string;
}

const BUTTONS: Button[] = [
  { name: 'previous-scene', x: 32, y: 70, width: 116, height: 96 },
  { name: 'next-scene', x: WIDE - 148, y: 70, width: 116, height: 96 },
  { name: 'previous-method', x: 32, y: 218, width: 116, height: 96 },
  { name: 'next-method', x: WIDE - 148, y: 218, width: 116, height: 96 },
  { name: 'reset', x: 32, y: 478, width: 304, height: 96 },
  { name: 'pause', x: 360, y: 478, width: 304, height: 96 },
  { name: 'leave', x: 688, y: 478, width: 304, height: 96 },
];

export class VrPanel {
  readonly mesh: Mesh<PlaneGeometry, MeshBasicMaterial>;
  private readonly canvas = document.createElement('canvas');
  private readonly texture: CanvasTexture;
  private shown = '';
  private placed = false;
  /** Buttons under a finger; a press is their coming under it. */
  private readonly touched = new Map<number, ButtonName | null>();

  constructor(private readonly rig: Group) {
    this.canvas.width = WIDE;
    this.canvas.height = HIGH;
    this.texture = new CanvasTexture(this.canvas);
    this.texture.colorSpace = SRGBColorSpace;
    this.texture.minFilter = LinearMipmapLinearFilter;
    this.texture.anisotropy = 8;
    const material = new MeshBasicMaterial({ map: this.texture, transparent: true, fog: false, toneMapped: false });
    this.mesh = new Mesh(new PlaneGeometry(METRES, (METRES * HIGH) / WIDE), material);
    this.mesh.renderOrder = 5;
    rig.add(this.mesh);
  }

  /** To be put in front of the head anew. */
  displace(): void {
    this.placed = false;
  }

  /** Stays where it is until the person has gone or turned away. `head` is within the rig. */
  follow(head: Vector3, looking: Vector3): void {
    const flat = looking.clone().setY(0).normalize();
    const to = this.mesh.position.clone().sub(head).setY(0);
    if (this.placed && to.length() < FARTHEST && to.normalize().dot(flat) > WIDEST) return;
    this.placed = true;
    const right = new Vector3(-flat.z, 0, flat.x);
    const down = Math.min(BELOW, 0.4 * head.y);
    this.mesh.position.copy(head).addScaledVector(flat, AHEAD).addScaledVector(right, ASIDE).add(new Vector3(0, -down, 0));
    // Tilted towards the eyes but not turned, so that its lines are level. (lookAt takes a place on stage.)
    this.rig.updateMatrixWorld();
    this.mesh.lookAt(head.clone().addScaledVector(right, ASIDE).applyMatrix4(this.rig.matrixWorld));
    this.mesh.updateMatrixWorld();
  }

  /** Centre of a button on stage. */
  buttonAt(name: ButtonName): Vector3 {
    const b = BUTTONS.find((button) => button.name === name)!;
    const local = new Vector3((b.x + b.width / 2 - WIDE / 2) / PER_METRE, (HIGH / 2 - b.y - b.height / 2) / PER_METRE, 0);
    return this.mesh.localToWorld(local);
  }

  private button(local: Vector3): ButtonName | null {
    const [x, y] = [local.x * PER_METRE + WIDE / 2, HIGH / 2 - local.y * PER_METRE];
    return BUTTONS.find((b) => x >= b.x && x <= b.x + b.width && y >= b.y && y <= b.y + b.height)?.name ?? null;
  }

  private within(local: Vector3): boolean {
    return Math.abs(local.x) < METRES / 2 && Math.abs(local.y) < HIGH / PER_METRE / 2;
  }

  /** What a ray meets: how far away, and the button there. */
  pointed(ray: Ray): { distance: number; button: ButtonName | null } | null {
    const inverse = this.mesh.matrixWorld.clone().invert();
    const local = ray.clone().applyMatrix4(inverse);
    const distance = -local.origin.z / local.direction.z;
    if (!(distance > 0) || local.origin.z < 0) return null;
    const at = local.at(distance, new Vector3());
    return this.within(at) ? { distance, button: this.button(at) } : null;
  }

  /** The button that the tip of a hand has just come to touch. */
  touch(hand: number, tip: Vector3): ButtonName | null {
    const local = this.mesh.worldToLocal(tip.clone());
    const touching = Math.abs(local.z) < TOUCH && this.within(local) ? this.button(local) : null;
    const before = this.touched.get(hand) ?? null;
    this.touched.set(hand, touching);
    return touching !== before ? touching : null;
  }

  /** Draws it anew if anything on it changed. */
  show(text: PanelText, pointed: ButtonName | null): void {
    const key = JSON.stringify([text, pointed]);
    if (key === this.shown) return;
    this.shown = key;
    const g = this.canvas.getContext('2d');
    if (!g) return;
    const [paper, ink, dim, rule, accent] = ['--raised', '--text', '--dim', '--rule', '--accent'].map(cssValue) as
      [string, string, string, string, string];
    g.clearRect(0, 0, WIDE, HIGH);
    g.fillStyle = paper;
    g.beginPath();
    g.roundRect(0, 0, WIDE, HIGH, 36);
    g.fill();
    const write = (what: string, x: number, y: number, size: number, colour: string, align: CanvasTextAlign, most: number) => {
      g.font = `600 ${size}px system-ui, sans-serif`;
      g.fillStyle = colour;
      g.textAlign = align;
      g.textBaseline = 'middle';
      g.fillText(what, x, y, most);
    };
    write('Scene', WIDE / 2, 52, 28, dim, 'center', 600);
    write(text.scene, WIDE / 2, 118, 60, ink, 'center', 680);
    write('Method', WIDE / 2, 200, 28, dim, 'center', 600);
    write(text.method, WIDE / 2, 266, 60, ink, 'center', 680);
    const figures: [string, string][] = [['ms a frame', text.ms], ['strain', text.strain], ['seconds per second', text.rate]];
    figures.forEach(([label, value], i) => {
      const x = 184 + 328 * i;
      write(value, x, 378, 56, ink, 'center', 300);
      write(label, x, 428, 28, dim, 'center', 300);
    });
    const labels: Record<ButtonName, string> = {
      'previous-scene': '‹', 'next-scene': '›', 'previous-method': '‹', 'next-method': '›',
      reset: 'Reset', pause: text.playing ? 'Pause' : 'Play', leave: 'Leave',
    };
    for (const b of BUTTONS) {
      g.fillStyle = b.name === pointed ? accent : rule;
      g.beginPath();
      g.roundRect(b.x, b.y, b.width, b.height, 24);
      g.fill();
      const label = labels[b.name];
      const colour = b.name === pointed ? cssValue('--on-accent') : ink;
      write(label, b.x + b.width / 2, b.y + b.height / 2, label.length === 1 ? 72 : 44, colour, 'center', b.width - 20);
    }
    write(text.note, WIDE / 2, 640, 34, text.note ? accent : dim, 'center', WIDE - 64);
    this.texture.needsUpdate = true;
  }
}
