// How much room a scene will need: the box around its start, and how far its cloth can swing
// or hang from its pins.

import { Box3, Vector3 } from 'three';

export interface Surroundings {
  box: Box3;
  /** Where particles begin and where they may come; a picture of these shows everything. */
  points: Vector3[];
  meanEdge: number;
}

/** At most this many particles and pins are looked at. */
const SAMPLES = 4000;
const PINS = 64;
/** Rounds in which a hanging particle is drawn back to within reach of all pins of its cloth. */
const ROUNDS = 4;
/** Share of its distance from its pin that a particle is blown away, in a wind that counts. */
const BLOWN = 0.95;

/** `lee` is where the wind blows to, of length one at most. */
export function surroundings(x: Float32Array, edges: Uint32Array, pins: number[], start: Box3, lee: Vector3): Surroundings {
  const n = x.length / 3;
  const parent = Uint32Array.from({ length: n }, (_, i) => i);
  const root = (i: number): number => {
    while (parent[i] !== i) {
      parent[i] = parent[parent[i]!]!;
      i = parent[i]!;
    }
    return i;
  };
  const apart = (a: number, b: number) =>
    Math.hypot(x[3 * a]! - x[3 * b]!, x[3 * a + 1]! - x[3 * b + 1]!, x[3 * a + 2]! - x[3 * b + 2]!);
  let length = 0;
  for (let e = 0; e + 1 < edges.length; e += 2) {
    const [a, b] = [edges[e]!, edges[e + 1]!];
    if (a >= n || b >= n) continue;
    length += apart(a, b);
    parent[root(a)] = root(b);
  }
  const pinsOf = new Map<number, number[]>();
  for (const pin of pins) {
    if (pin < n) pinsOf.set(root(pin), [...(pinsOf.get(root(pin)) ?? []), pin]);
  }
  for (const [cloth, list] of pinsOf) {
    const every = Math.ceil(list.length / PINS);
    pinsOf.set(cloth, list.filter((_, i) => i % every === 0));
  }
  const points: Vector3[] = [];
  const at = new Vector3();
  const reach = (point: Vector3) => points.push(point.clone());
  const stride = Math.max(1, Math.floor(n / SAMPLES));
  for (let i = 0; i < n; i += stride) {
    at.fromArray(x, 3 * i);
    if (Number.isFinite(at.x + at.y + at.z)) reach(at);
    let [nearest, distance] = [-1, Infinity];
    const held = pinsOf.get(root(i)) ?? [];
    for (const pin of held) {
      const d = apart(pin, i);
      if (d < distance) [nearest, distance] = [pin, d];
    }
    // On a single pin it swings to the other side as well.
    if (held.length === 1) reach(at.set(2 * x[3 * nearest]! - at.x, at.y, 2 * x[3 * nearest + 2]! - at.z));
    // Hanging straight down from its pin is the lowest an unstretched particle gets.
    if (nearest < 0) continue;
    const pin = new Vector3().fromArray(x, 3 * nearest);
    const lowest = pin.clone().setY(pin.y - distance);
    // What hangs between pins gets no further from any of them than it is at the start.
    for (let round = 0; round < ROUNDS; round++) {
      for (const other of held) {
        const [there, reach] = [new Vector3().fromArray(x, 3 * other), apart(other, i)];
        if (lowest.distanceTo(there) > reach) lowest.sub(there).setLength(reach).add(there);
      }
    }
    // On its way there it swings through the middle of the arc.
    at.fromArray(x, 3 * i);
    reach(at.clone().add(lowest).multiplyScalar(0.5).sub(pin).setLength(distance).add(pin));
    reach(lowest);
    // Blown out, it is somewhere on the way to straight away from it.
    reach(pin.addScaledVector(lee, BLOWN * distance));
  }
  return { box: start.clone().union(new Box3().setFromPoints(points)), points, meanEdge: length / Math.max(edges.length / 2, 1) };
}
