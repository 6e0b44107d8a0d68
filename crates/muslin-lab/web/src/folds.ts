// How hollow a cloth is at each particle: less of the sky reaches the inside of a fold. With the
// normal n the curvature towards a neighbour at d is 2 d·n/|d|²; its mean over the neighbours is
// smoothed along the edges, since light from around reaches further than one edge.

/** Rounds of smoothing. */
const ROUNDS = 3;
/** More particles than these would take the main thread too long. */
const MOST = 20_000;

export class Folds {
  private readonly sum: Float32Array;
  private readonly next: Float32Array;
  private readonly share: Float32Array;

  constructor(private readonly particles: number, private readonly edges: Uint32Array) {
    this.sum = new Float32Array(particles);
    this.next = new Float32Array(particles);
    this.share = new Float32Array(particles);
    for (const end of edges) this.share[end]!++;
    for (let i = 0; i < particles; i++) this.share[i] = 1 / Math.max(this.share[i]!, 1);
  }

  /** Signed, towards the normal; 127 is a radius of `scale`. */
  hollows(x: Float32Array, normals: Int8Array, scale: number, into: Int8Array): void {
    const { edges, sum, next, share } = this;
    if (this.particles > MOST) return;
    sum.fill(0);
    for (let e = 0; e + 1 < edges.length; e += 2) {
      const [a, b] = [edges[e]!, edges[e + 1]!];
      const dx = x[3 * b]! - x[3 * a]!;
      const dy = x[3 * b + 1]! - x[3 * a + 1]!;
      const dz = x[3 * b + 2]! - x[3 * a + 2]!;
      const by = 2 / (127 * (dx * dx + dy * dy + dz * dz) + 1e-12);
      sum[a]! += by * (dx * normals[4 * a]! + dy * normals[4 * a + 1]! + dz * normals[4 * a + 2]!);
      sum[b]! -= by * (dx * normals[4 * b]! + dy * normals[4 * b + 1]! + dz * normals[4 * b + 2]!);
    }
    for (let i = 0; i < sum.length; i++) sum[i]! *= share[i]!;
    for (let round = 0; round < ROUNDS; round++) {
      next.fill(0);
      for (let e = 0; e + 1 < edges.length; e += 2) {
        const [a, b] = [edges[e]!, edges[e + 1]!];
        next[a]! += sum[b]!;
        next[b]! += sum[a]!;
      }
      for (let i = 0; i < sum.length; i++) sum[i] = 0.4 * sum[i]! + 0.6 * share[i]! * next[i]!;
    }
    for (let i = 0; i < sum.length; i++) into[i] = 127 * Math.min(Math.max(scale * sum[i]!, -1), 1);
  }
}
