// What can be taken along: a clip of the stage, and the shape as GLB.

import {
  BufferAttribute, BufferGeometry, DoubleSide, LineBasicMaterial, LineSegments, Mesh, MeshStandardMaterial, Scene,
} from 'three';
import { CLOTH_FRONT } from './colours';
import type { Frame } from './types';

// VP8 first: software encodes it in time, while a clip is being drawn.
const CLIP_TYPES = ['video/webm;codecs=vp8', 'video/webm;codecs=vp9', 'video/webm'];
const CLIP_RATE = 30;
/** Bits per second: cloth has fine detail, and clips are short. */
const CLIP_BITS = 8_000_000;

/** Records the canvas from start to stop. */
export class Clip {
  private recorder: MediaRecorder | null = null;

  get recording(): boolean {
    return this.recorder !== null;
  }

  /** Begins, or says why it cannot. `done` gets the clip after `stop`. */
  start(canvas: HTMLCanvasElement, done: (clip: Blob) => void): string | null {
    const type = typeof MediaRecorder === 'undefined' ? undefined : CLIP_TYPES.find((t) => MediaRecorder.isTypeSupported(t));
    if (!type || typeof canvas.captureStream !== 'function') {
      return 'This browser cannot record WebM; use a recent Chrome, Edge or Firefox';
    }
    const parts: Blob[] = [];
    const recorder = new MediaRecorder(canvas.captureStream(CLIP_RATE), { mimeType: type, videoBitsPerSecond: CLIP_BITS });
    recorder.ondataavailable = (event) => parts.push(event.data);
    recorder.onstop = () => {
      for (const track of recorder.stream.getTracks()) track.stop();
      done(new Blob(parts, { type: 'video/webm' }));
    };
    recorder.start();
    this.recorder = recorder;
    return null;
  }

  stop(): void {
    this.recorder?.stop();
    this.recorder = null;
  }
}

export interface Shape {
  name: string;
  frame: Frame;
  triangles: Uint32Array;
  edges: Uint32Array;
}

/** One node for each pane, side by side; cloth without triangles becomes lines. */
export async function glb(shapes: Shape[], spacing: number): Promise<Blob> {
  // Only those who export need the code for it.
  const { GLTFExporter } = await import('three/addons/exporters/GLTFExporter.js');
  const stage = new Scene();
  shapes.forEach(({ name, frame, triangles, edges }, i) => {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(frame.positions.slice(), 3));
    const solid = triangles.length > 0;
    if (solid) geometry.setAttribute('normal', new BufferAttribute(floatNormals(frame), 3));
    geometry.setIndex(new BufferAttribute((solid ? triangles : edges).slice(), 1));
    const object = solid
      ? new Mesh(geometry, new MeshStandardMaterial({ color: CLOTH_FRONT, roughness: 0.82, metalness: 0, side: DoubleSide }))
      : new LineSegments(geometry, new LineBasicMaterial({ color: CLOTH_FRONT }));
    object.name = name;
    object.position.x = i * spacing;
    stage.add(object);
  });
  stage.updateMatrixWorld(true);
  const written = await new GLTFExporter().parseAsync(stage, { binary: true });
  return new Blob([written as ArrayBuffer], { type: 'model/gltf-binary' });
}

/** Unit normals; a particle on no triangle has any. */
function floatNormals(frame: Frame): Float32Array {
  const out = new Float32Array(3 * frame.n);
  for (let i = 0; i < frame.n; i++) {
    const [x, y, z] = [frame.normals[4 * i]!, frame.normals[4 * i + 1]!, frame.normals[4 * i + 2]!];
    const length = Math.hypot(x, y, z);
    out.set(length > 0 ? [x / length, y / length, z / length] : [0, 1, 0], 3 * i);
  }
  return out;
}
