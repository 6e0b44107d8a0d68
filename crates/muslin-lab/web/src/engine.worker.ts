// The engine as WebAssembly on a thread of its own: commands as they come, frames as they are due, as the
// server's loop does. First comes the address of the file, then commands; back go the engine's
// messages, or what went wrong.

import { WasmEngine } from './wasm.js';

export type FromWorker = { said: string | ArrayBuffer } | { failed: string };

let engine: WasmEngine | null = null;
let timer = 0;
/** Lets waiting commands in before the next frame, without the pause that nested timers have. */
const soon = new MessageChannel();
soon.port1.onmessage = () => guarded(frame);

function post(message: FromWorker, transfer: Transferable[] = []): void {
  postMessage(message, { transfer });
}

/** After a panic the engine is not to be called again. */
function guarded(work: () => void): void {
  try {
    work();
  } catch (problem) {
    engine = null;
    clearTimeout(timer);
    post({ failed: `The engine stopped: ${(problem as Error).message}. Reload the page to start again.` });
  }
}

function send(): void {
  for (const said of engine?.messages() ?? []) post({ said }, typeof said === 'string' ? [] : [said]);
}

let waiting = false;

function frame(): void {
  waiting = false;
  engine?.exports.advance();
  send();
  schedule();
}

function schedule(): void {
  if (!engine || waiting) return;
  const idle = engine.exports.idle();
  clearTimeout(timer);
  if (idle < 0) return;
  if (idle >= 1) timer = setTimeout(() => guarded(frame), idle);
  else {
    waiting = true;
    soon.port2.postMessage(null);
  }
}

async function start(address: string): Promise<void> {
  try {
    engine = await WasmEngine.load(fetch(address));
  } catch (problem) {
    return post({ failed: `The engine could not be started: ${(problem as Error).message}.` });
  }
  guarded(send);
}

onmessage = (event: MessageEvent<{ address: string } | { command: string }>) => {
  const message = event.data;
  if ('address' in message) void start(message.address);
  else {
    guarded(() => {
      engine?.receive(message.command);
      send();
      schedule();
    });
  }
};
