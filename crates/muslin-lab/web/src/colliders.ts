// Solid bodies on the stage: drawn from the lists in `opened`, moved by the mouse here and by
// hands in virtual reality.

import {
  Box3, BufferAttribute, BufferGeometry, Group, type Intersection, Matrix4, Mesh, MeshStandardMaterial, Plane,
  Quaternion, Raycaster, Triangle, Vector2, Vector3,
} from 'three';
import { NEAR_GROUND } from './contact';
import { creased } from './creases';
import type { Collider, Vec3 } from './types';
import type { View } from './view';

/**
 * How far behind its place a body is drawn, in sizes of the scene. Cloth lies on a round body in flat triangles, whose
 * middles cut into it: by l²/8R for edges l on a radius R, 7 mm for those of 10 cm and their diagonals on 0.5 m.
 */
const SET_BACK = 0.004;
/** What the engine says of a body may be older than what a hand did to it. [ms] */
const STALE = 300;

export type Quat = [number, number, number, number];

interface Point {
  clientX: number;
  clientY: number;
}

interface Drag {
  pointer: number;
  collider: number;
  pane: number;
  plane: Plane;
  /** From where it was taken hold of to its position. */
  offset: Vector3;
}

export class Colliders {
  readonly group = new Group();
  private readonly material = new MeshStandardMaterial({ color: '#c8c1b6', roughness: 0.75 });
  /** For each body the vertices its drawn ones are copies of, and how many numbers place those. */
  private sources: { source: Uint32Array; numbers: number }[] = [];
  /** When each body was last put somewhere by hand. */
  private readonly moments = new Map<number, number>();
  private movable: boolean[] = [];
  private drag: Drag | null = null;
  private readonly ray = new Raycaster();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly view: View,
    private readonly moved: (collider: number, position: Vec3, rotation: Quat) => void,
  ) {
    view.stage.add(this.group);
    this.material.onBeforeCompile = (shader) => {
      shader.uniforms.setBack = { get value() { return SET_BACK * view.size; } };
      // Along the line of sight: the picture of the body stays where it is, only its depth grows.
      shader.vertexShader = `uniform float setBack;\n${shader.vertexShader.replace('#include <project_vertex>', `#include <project_vertex>
        gl_Position = projectionMatrix * vec4( mvPosition.xyz * ( 1.0 + setBack / length( mvPosition.xyz ) ), 1.0 );`)}`;
    };
    // As in hands.ts, and before it: a body in front of the cloth is meant before the cloth near it.
    const parent = canvas.parentElement ?? canvas;
    parent.addEventListener('pointerdown', (e) => this.down(e), { capture: true });
    canvas.addEventListener('pointermove', (e) => this.move(e));
    canvas.addEventListener('pointerup', (e) => this.up(e));
    canvas.addEventListener('pointercancel', (e) => this.up(e));
  }

  get count(): number {
    return this.group.children.length;
  }

  /** The bodies of a newly opened scene; none is the usual case. */
  open(list: Collider[] = []): void {
    this.letGo();
    this.moments.clear();
    for (const mesh of this.meshes()) mesh.geometry.dispose();
    this.group.clear();
    this.movable = list.map((c) => c.movable);
    this.view.bodies.makeEmpty();
    this.sources = [];
    for (const c of list) {
      const geometry = new BufferGeometry();
      const { triangles, source } = creased(c.vertices, c.triangles);
      this.sources.push({ source, numbers: c.vertices.length });
      geometry.setAttribute('position', new BufferAttribute(new Float32Array(3 * source.length), 3));
      copyFrom(geometry.getAttribute('position') as BufferAttribute, c.vertices, source);
      geometry.setIndex(triangles);
      geometry.computeVertexNormals();
      geometry.computeBoundingBox();
      const mesh = new Mesh(geometry, this.material);
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.position.fromArray(c.position);
      mesh.quaternion.fromArray(c.rotation);
      mesh.updateMatrixWorld();
      this.group.add(mesh);
      // The square of a plane stands for an endless one.
      if (c.triangles.length <= 6) continue;
      mesh.layers.enable(NEAR_GROUND);
      this.view.bodies.union(new Box3().setFromObject(mesh));
    }
    this.view.touch();
  }

  private meshes(): Mesh<BufferGeometry>[] {
    return this.group.children as Mesh<BufferGeometry>[];
  }

  place(collider: number): Matrix4 {
    const mesh = this.meshes()[collider];
    return mesh ? mesh.matrixWorld : new Matrix4();
  }

  /** Where the engine has the bodies; one that is being moved here knows better. */
  follow(poses: { position: Vec3; rotation: Quat }[]): void {
    this.meshes().forEach((mesh, collider) => {
      const pose = poses[collider];
      if (!pose || this.drag?.collider === collider || performance.now() - (this.moments.get(collider) ?? -Infinity) < STALE) return;
      mesh.position.fromArray(pose.position);
      mesh.quaternion.fromArray(pose.rotation);
      mesh.updateMatrixWorld();
    });
    this.view.touch();
  }

  /** The surface of a body that bends, in its own frame. */
  bend(collider: number, vertices: Float32Array): void {
    const mesh = this.meshes()[collider];
    const corners = mesh?.geometry.getAttribute('position') as BufferAttribute | undefined;
    const body = this.sources[collider];
    if (!mesh || !corners || !body || body.numbers !== vertices.length) return;
    copyFrom(corners, vertices, body.source);
    corners.needsUpdate = true;
    mesh.geometry.computeVertexNormals();
    mesh.geometry.computeBoundingBox();
    mesh.geometry.computeBoundingSphere();
    this.view.touch();
  }

  /** Puts a body somewhere, on the page and in the engine. */
  put(collider: number, position: Vector3, rotation: Quaternion): void {
    const mesh = this.meshes()[collider];
    if (!mesh || (mesh.position.equals(position) && mesh.quaternion.equals(rotation))) return;
    mesh.position.copy(position);
    mesh.quaternion.copy(rotation);
    mesh.updateMatrixWorld();
    this.moments.set(collider, performance.now());
    this.moved(collider, position.toArray(), rotation.toArray() as Quat);
    this.view.touch();
  }

  /** The movable body nearest to a point, inside of which the distance is negative. */
  near(point: Vector3, reach: number): { collider: number; distance: number } | null {
    let best: { collider: number; distance: number } | null = null;
    this.meshes().forEach((mesh, collider) => {
      if (!this.movable[collider]) return;
      const local = mesh.worldToLocal(point.clone());
      const box = mesh.geometry.boundingBox ?? new Box3();
      if (box.distanceToPoint(local) > reach) return;
      const distance = signedDistance(mesh.geometry, local);
      if (distance < reach && (!best || distance < best.distance)) best = { collider, distance };
    });
    return best;
  }

  // --- the mouse ---

  private down(event: PointerEvent): void {
    if (event.target !== this.canvas || event.button !== 0 || this.drag || !event.isPrimary) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const found = this.under(event);
    if (!found) return;
    const { hit, collider, pane } = found;
    event.stopImmediatePropagation();
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.style.cursor = 'grabbing';
    const normal = this.view.camera.getWorldDirection(new Vector3());
    this.drag = {
      pointer: event.pointerId,
      collider,
      pane,
      plane: new Plane().setFromNormalAndCoplanarPoint(normal, hit.point),
      offset: hit.object.position.clone().sub(hit.point),
    };
  }

  private move(event: PointerEvent): void {
    const drag = this.drag;
    if (!drag || event.pointerId !== drag.pointer || !this.aim(event, drag.pane)) return;
    const at = this.ray.ray.intersectPlane(drag.plane, new Vector3());
    const mesh = this.meshes()[drag.collider];
    if (at && mesh) this.put(drag.collider, at.add(drag.offset), mesh.quaternion.clone());
  }

  private up(event: PointerEvent): void {
    if (this.drag && event.pointerId === this.drag.pointer) this.letGo();
  }

  private letGo(): void {
    if (this.drag) this.canvas.style.cursor = '';
    this.drag = null;
  }

  /** The body under a point of the page, unless cloth is before it: that is meant to be pulled. */
  under(point: Point): { hit: Intersection; collider: number; pane: number } | null {
    const pane = this.paneAt(point);
    if (pane < 0 || !this.aim(point, pane)) return null;
    const hit = this.ray.intersectObjects(this.group.children)[0];
    const collider = hit ? this.group.children.indexOf(hit.object) : -1;
    if (!hit || !this.movable[collider]) return null;
    // Bodies are drawn set back.
    const cloth = this.view.panes[pane]?.distance(this.ray) ?? Infinity;
    return cloth < hit.distance + SET_BACK * this.view.size ? null : { hit, collider, pane };
  }

  private paneAt(event: Point): number {
    const bounds = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
    return this.view.rects().findIndex((r) => x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height);
  }

  /** Points the ray through the cursor in a pane. */
  private aim(event: Point, pane: number): boolean {
    const rect = this.view.rects()[pane];
    if (!rect) return false;
    const bounds = this.canvas.getBoundingClientRect();
    this.view.aim(rect);
    this.ray.setFromCamera(new Vector2(
      (2 * (event.clientX - bounds.left - rect.x)) / rect.width - 1,
      1 - (2 * (event.clientY - bounds.top - rect.y)) / rect.height,
    ), this.view.camera);
    return true;
  }
}

/** Puts each vertex where the one it is a copy of is. */
function copyFrom(corners: BufferAttribute, vertices: ArrayLike<number>, source: Uint32Array): void {
  source.forEach((v, i) => corners.setXYZ(i, vertices[3 * v]!, vertices[3 * v + 1]!, vertices[3 * v + 2]!));
}

/** Distance from a point to a closed surface, negative inside. */
function signedDistance(geometry: BufferGeometry, point: Vector3): number {
  const corners = geometry.getAttribute('position') as BufferAttribute;
  const index = geometry.getIndex();
  const [triangle, closest, normal] = [new Triangle(), new Vector3(), new Vector3()];
  let [distance, side] = [Infinity, 0];
  for (let t = 0; index && t + 2 < index.count; t += 3) {
    triangle.setFromAttributeAndIndices(corners, index.getX(t), index.getX(t + 1), index.getX(t + 2));
    triangle.closestPointToPoint(point, closest);
    const d = closest.distanceTo(point);
    // Where several triangles meet the point is outside if it is outside of the one it faces most.
    const facing = triangle.getNormal(normal).dot(closest.sub(point).negate());
    if (d < distance - 1e-6 || (d < distance + 1e-6 && Math.abs(facing) > Math.abs(side))) side = facing;
    distance = Math.min(distance, d);
  }
  return side < 0 ? -distance : distance;
}
