// Which engine the page talks to: the native one of the program that serves the page, or the one that
// runs inside it. The site of static files says `data-engine="wasm"` in its page (wasm/site.mjs);
// `?engine=wasm` and `?engine=native` ask for either.

import type { FromWorker } from './engine.worker';
import type { Engine, Listener } from './socket';
import { hear, Socket, socketAddress } from './socket';
import type { ToWorkbench } from './types';

/** The address of the built file; none when it was not there as the page was built. */
const WASM = Object.values(import.meta.glob<string>('../wasm/muslin.wasm', { query: '?url', import: 'default', eager: true }))[0];

/** The engine as WebAssembly in a worker. */
class InPage implements Engine {
  readonly name = 'wasm';
  connected = false;
  private readonly worker = new Worker(new URL('./engine.worker.ts', import.meta.url), { type: 'module' });

  constructor(address: string, listener: Listener) {
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => {
      if ('failed' in event.data) {
        this.connected = false;
        listener.failed(event.data.failed);
        return;
      }
      // The first message is the catalogue.
      if (!this.connected) {
        this.connected = true;
        listener.opened();
      }
      hear(event.data.said, listener);
    };
    this.worker.onerror = () => listener.failed('The engine’s worker could not be loaded. Reload the page.');
    this.worker.postMessage({ address: new URL(address, document.baseURI).href });
  }

  send(message: ToWorkbench): void {
    if (this.connected) this.worker.postMessage({ command: JSON.stringify(message) });
  }
}

export function connect(listener: Listener): Engine {
  const wanted = new URLSearchParams(location.search).get('engine') ?? document.documentElement.dataset.engine;
  if (wanted !== 'wasm') return new Socket(socketAddress(location), listener);
  if (WASM) return new InPage(WASM, listener);
  listener.failed('This page was built without the WebAssembly engine: run `npm run wasm` in crates/muslin-lab/web and build again.');
  return { name: 'none', connected: false, send() {} };
}
