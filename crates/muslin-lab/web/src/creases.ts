// Normals of a body are averaged where it is round, and not across its edges: a vertex is told
// apart into as many as there are directions around it. Greedy: a triangle's corner joins the first
// copy of its vertex whose first triangle faces nearly the same way.

/** Cosine of the angle beyond which two triangles make an edge. */
const EDGE = Math.cos((60 * Math.PI) / 180);

export interface Creased {
  triangles: number[];
  /** For each vertex the one of the body it is a copy of. */
  source: Uint32Array;
}

export function creased(vertices: ArrayLike<number>, triangles: number[]): Creased {
  const faces = new Float32Array(triangles.length);
  for (let t = 0; t + 2 < triangles.length; t += 3) {
    const [a, b, c] = [3 * triangles[t]!, 3 * triangles[t + 1]!, 3 * triangles[t + 2]!];
    const side = (from: number, to: number, axis: number) => vertices[to + axis]! - vertices[from + axis]!;
    const [ux, uy, uz] = [side(a, b, 0), side(a, b, 1), side(a, b, 2)];
    const [vx, vy, vz] = [side(a, c, 0), side(a, c, 1), side(a, c, 2)];
    const normal = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    const length = Math.hypot(...normal) || 1;
    faces.set(normal.map((n) => n / length), t);
  }
  const source: number[] = [];
  /** The first triangle of each copy, and the copies of each vertex. */
  const first: number[] = [];
  const copies = new Map<number, number[]>();
  const split = triangles.map((vertex, corner) => {
    const t = corner - (corner % 3);
    const known = copies.get(vertex) ?? [];
    copies.set(vertex, known);
    const facing = (copy: number) => {
      const o = first[copy]!;
      return faces[o]! * faces[t]! + faces[o + 1]! * faces[t + 1]! + faces[o + 2]! * faces[t + 2]!;
    };
    const found = known.find((copy) => facing(copy) >= EDGE);
    if (found !== undefined) return found;
    known.push(source.length);
    first.push(t);
    return source.push(vertex) - 1;
  });
  return { triangles: split, source: Uint32Array.from(source) };
}
