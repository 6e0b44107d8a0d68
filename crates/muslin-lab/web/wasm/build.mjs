// Builds the engine as WebAssembly and puts it beside this file: node wasm/build.mjs (npm run wasm)
// Takes the wasm32 target of the Rust toolchain, or Debian's packages where there is no such target.

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TARGET = 'wasm32-unknown-unknown';
const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** A folder of its own: another compiler may be at work, which would throw out the other's files. */
const FOLDER = join(process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target'), 'wasm');

/** What a command prints, or '' where it fails. */
function said(command, ...args) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}

/** The toolchain's own target: the usual way. */
function toolchain() {
  const sysroot = said('rustc', '--print', 'sysroot');
  if (!sysroot || !existsSync(join(sysroot, 'lib/rustlib', TARGET))) return null;
  return { cargo: 'cargo', args: [], env: {} };
}

/** Debian's compiler, which brings the standard library as source, and any linker for WebAssembly. */
function debian() {
  if (!existsSync('/usr/lib/rustlib/src/rust/library/std')) return null;
  const host = /host: (.*)/.exec(said('rustc', '-vV'))?.[1] ?? '';
  const linkers = [join(said('rustc', '--print', 'sysroot'), 'lib/rustlib', host, 'bin/rust-lld')];
  for (const version of ['', '-21', '-20', '-19', '-18']) linkers.push(`/usr/bin/wasm-ld${version}`);
  const linker = linkers.find((path) => existsSync(path));
  if (!linker) return null;
  return {
    cargo: '/usr/bin/cargo',
    args: ['-Zbuild-std=std,panic_abort', '--config', `target.${TARGET}.linker='${linker}'`],
    // The standard library can be built with any compiler that is told it may use its features.
    env: { RUSTC: '/usr/bin/rustc', RUSTC_BOOTSTRAP: '1' },
  };
}

const way = toolchain() ?? debian();
if (!way) {
  console.error(`no way to build for ${TARGET}: run \`rustup target add ${TARGET}\`, or on Debian \`apt-get install rustc-web cargo-web rust-web-src lld-19\``);
  process.exit(1);
}
const args = ['build', '--release', '--locked', '-p', 'muslin-wasm', '--target', TARGET, '--target-dir', FOLDER, ...way.args];
const RUSTFLAGS = '-C target-feature=+simd128';
try {
  execFileSync(way.cargo, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, RUSTFLAGS, ...way.env } });
} catch {
  console.error(`${way.cargo} ${args.join(' ')} failed`);
  process.exit(1);
}
const built = join(HERE, 'muslin.wasm');
copyFileSync(join(FOLDER, TARGET, 'release/muslin_wasm.wasm'), built);
console.log(`${built}: ${(statSync(built).size / 1e6).toFixed(2)} MB`);
