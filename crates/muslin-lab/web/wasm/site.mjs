// The lab as static files for any web server: node wasm/site.mjs [FOLDER] (npm run site)
// Builds the engine unless it is there, then the page, and writes both to FOLDER (default: site). The page
// then says that the engine is inside it, and all its addresses are relative.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const WEB = fileURLToPath(new URL('..', import.meta.url));
const NATIVE = 'data-engine="native"';

/** Makes a site of the built page in `dist`. */
export function writeSite(dist, folder) {
  cpSync(dist, folder, { recursive: true });
  const index = join(folder, 'index.html');
  const page = readFileSync(index, 'utf8');
  if (!page.includes(NATIVE)) throw new Error(`${index} has no ${NATIVE}`);
  writeFileSync(index, page.replace(NATIVE, 'data-engine="wasm"'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = resolve(process.argv[2] ?? join(WEB, 'site'));
  const run = (command, ...args) => execFileSync(command, args, { cwd: WEB, stdio: 'inherit', shell: process.platform === 'win32' });
  if (!existsSync(join(WEB, 'wasm/muslin.wasm'))) run('node', 'wasm/build.mjs');
  if (!existsSync(join(WEB, 'node_modules'))) run('npm', 'install', '--no-audit', '--no-fund');
  run('npm', 'run', '--silent', 'build');
  rmSync(join(folder, 'assets'), { recursive: true, force: true });
  writeSite(join(WEB, 'dist'), folder);
  console.log(`the lab is in ${folder}`);
}
