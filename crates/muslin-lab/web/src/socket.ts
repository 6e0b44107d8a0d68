// The connection to the workbench: typed messages, binary ones decoded in place, whatever carries
// them; and the one to the native engine, with a new attempt with growing pauses after a loss.

import type { Frame, FromWorkbench, ToWorkbench } from './types';

export type Decoded =
  | { kind: 'triangles'; indices: Uint32Array }
  | { kind: 'edges'; indices: Uint32Array }
  | { kind: 'springs'; shear: number; indices: Uint32Array }
  | { kind: 'frame'; frame: Frame }
  | { kind: 'bent'; collider: number; vertices: Float32Array };

const TRIANGLES = 1;
const EDGES = 2;
const FRAME = 3;
const FRAME_HEADER = 24;
const BENT = 4;
const BENT_HEADER = 12;
const SPRINGS = 5;
const SPRINGS_HEADER = 12;

/** Reads a binary message without copying; null when its size does not fit what it says. */
export function decode(buffer: ArrayBuffer): Decoded | null {
  if (buffer.byteLength < 8) return null;
  const words = new DataView(buffer);
  const word = (i: number) => words.getUint32(4 * i, true);
  const kind = word(0);
  if (kind === TRIANGLES || kind === EDGES) {
    const length = word(1) * (kind === TRIANGLES ? 3 : 2);
    if (buffer.byteLength < 8 + 4 * length) return null;
    const indices = new Uint32Array(buffer, 8, length);
    return { kind: kind === TRIANGLES ? 'triangles' : 'edges', indices };
  }
  if (kind === SPRINGS && buffer.byteLength >= SPRINGS_HEADER) {
    const length = 2 * (word(1) + word(2));
    if (buffer.byteLength < SPRINGS_HEADER + 4 * length) return null;
    return { kind: 'springs', shear: word(1), indices: new Uint32Array(buffer, SPRINGS_HEADER, length) };
  }
  if (kind === BENT && buffer.byteLength >= BENT_HEADER) {
    const length = 3 * word(2);
    if (buffer.byteLength < BENT_HEADER + 4 * length) return null;
    return { kind: 'bent', collider: word(1), vertices: new Float32Array(buffer, BENT_HEADER, length) };
  }
  if (kind !== FRAME || buffer.byteLength < FRAME_HEADER) return null;
  const pane = word(1);
  const n = word(2);
  if (buffer.byteLength < FRAME_HEADER + 18 * n) return null;
  const frame: Frame = {
    pane,
    n,
    time: words.getFloat64(16, true),
    positions: new Float32Array(buffer, FRAME_HEADER, 3 * n),
    normals: new Int8Array(buffer, FRAME_HEADER + 12 * n, 4 * n),
    strain: new Uint8Array(buffer, FRAME_HEADER + 16 * n, n),
    speed: new Uint8Array(buffer, FRAME_HEADER + 17 * n, n),
  };
  return { kind: 'frame', frame };
}

export interface Listener {
  opened(): void;
  lost(retryInSeconds: number): void;
  /** The engine is not there, and no further attempt is made. */
  failed(reason: string): void;
  message(message: FromWorkbench): void;
  binary(message: Decoded): void;
}

/** A workbench, wherever it runs. */
export interface Engine {
  /** For people: which engine it is. */
  readonly name: string;
  readonly connected: boolean;
  /** Sends, or drops the message when there is no connection: nothing is queued. */
  send(message: ToWorkbench): void;
}

/** Tells the listener what a message of the workbench says. */
export function hear(data: string | ArrayBuffer, listener: Listener): void {
  if (typeof data === 'string') return hearText(data, listener);
  const decoded = decode(data);
  if (decoded) listener.binary(decoded);
  else console.warn('a binary message of unexpected size was ignored');
}

function hearText(data: string, listener: Listener): void {
  let message: FromWorkbench;
  try {
    message = JSON.parse(data) as FromWorkbench;
  } catch {
    console.warn('a text message that is no JSON was ignored');
    return;
  }
  listener.message(message);
}

const FIRST_PAUSE = 0.5;
const LONGEST_PAUSE = 8;

export class Socket implements Engine {
  readonly name = 'native';
  private web: WebSocket | null = null;
  private pause = FIRST_PAUSE;

  constructor(private readonly url: string, private readonly listener: Listener) {
    this.connect();
  }

  get connected(): boolean {
    return this.web?.readyState === WebSocket.OPEN;
  }

  send(message: ToWorkbench): void {
    if (this.connected) this.web?.send(JSON.stringify(message));
  }

  private connect(): void {
    const web = new WebSocket(this.url);
    web.binaryType = 'arraybuffer';
    this.web = web;
    web.onopen = () => {
      this.pause = FIRST_PAUSE;
      this.listener.opened();
    };
    web.onmessage = (event: MessageEvent<string | ArrayBuffer>) => hear(event.data, this.listener);
    // A failed attempt ends in onclose as well, so this is the one place that tries again.
    web.onclose = () => {
      this.listener.lost(this.pause);
      setTimeout(() => this.connect(), 1000 * this.pause);
      this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
    };
  }
}

/** The socket's address beside the page. */
export function socketAddress(location: Location): string {
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
  return `${scheme}://${location.host}/socket`;
}
