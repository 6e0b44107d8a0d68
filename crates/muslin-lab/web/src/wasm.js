// The engine as WebAssembly: text and bytes through its linear memory. The other side is
// crates/muslin-wasm/src/interface.rs. Plain JavaScript, because the tests and the benchmark run it in
// Node as it is.

/**
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {() => void} start
 * @property {(length: number) => number} reserve
 * @property {() => void} receive
 * @property {() => void} advance
 * @property {() => number} idle
 * @property {() => number} next
 * @property {() => number} message
 * @property {() => number} message_length
 * @property {() => void} bare_frame
 */

const TEXT = 1;

export class WasmEngine {
  /** @param {Exports} exports */
  constructor(exports) {
    this.exports = exports;
    exports.start();
  }

  /**
   * A panic in the engine is thrown by the call that led to it, with its text.
   * @param {BufferSource | Promise<Response>} source the file, or its download
   * @param {() => number} now milliseconds since any fixed moment
   */
  static async load(source, now = () => performance.now()) {
    /** @type {Exports} */
    let exports;
    const page = {
      now,
      /** @type {(text: number, length: number) => never} */
      panicked(text, length) {
        throw new Error(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, text, length)));
      },
    };
    const { instance } = source instanceof Promise
      ? await WebAssembly.instantiateStreaming(source, { page })
      : await WebAssembly.instantiate(source, { page });
    exports = /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
    return new WasmEngine(exports);
  }

  /** @param {string} command */
  receive(command) {
    const bytes = new TextEncoder().encode(command);
    const place = this.exports.reserve(bytes.length);
    // A new view each time: memory that has grown is a new buffer.
    new Uint8Array(this.exports.memory.buffer, place, bytes.length).set(bytes);
    this.exports.receive();
  }

  /** What the engine has to say since the last time: JSON as strings, the rest as buffers. */
  messages() {
    /** @type {(string | ArrayBuffer)[]} */
    const messages = [];
    for (let kind = this.exports.next(); kind !== 0; kind = this.exports.next()) {
      const begin = this.exports.message();
      const bytes = this.exports.memory.buffer.slice(begin, begin + this.exports.message_length());
      messages.push(kind === TEXT ? new TextDecoder().decode(bytes) : bytes);
    }
    return messages;
  }
}
