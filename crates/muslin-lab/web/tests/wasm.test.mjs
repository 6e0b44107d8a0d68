// The lab as static files, in a headless browser and without the program:
//   node tests/wasm.test.mjs DIST CASES.json [folder for screenshots]
// Serves a site made of the built page in DIST, plays in it, and steps the cases of wasm-agrees.mjs. Exits
// non-zero on the first failure.

import { createServer } from 'node:http';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { chromium } from 'playwright-core';
import { writeSite } from '../wasm/site.mjs';

const [dist, list, folder] = process.argv.slice(2);
if (folder) mkdirSync(folder, { recursive: true });
const cases = JSON.parse(readFileSync(list, 'utf8'));
/** Software rendering on a shared machine is slow; nothing here waits this long when all is well. */
const PATIENCE = 90_000;
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' };

const site = mkdtempSync(join(tmpdir(), 'muslin-site-'));
writeSite(dist, site);
// Below a folder, since a site need not be at the root of its server.
const server = createServer((request, response) => {
  const path = normalize(new URL(request.url, 'http://here').pathname).replace(/^\/some\/folder\//, '') || 'index.html';
  readFile(join(site, path)).then(
    (bytes) => response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(bytes),
    () => response.writeHead(404).end(),
  );
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const url = `http://127.0.0.1:${server.address().port}/some/folder/`;

const complaints = [];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});
const until = (page, check, arg) => page.waitForFunction(check, arg, { timeout: PATIENCE, polling: 50 });
function expect(truth, message) {
  if (!truth) throw new Error(message);
}
const quiet = () => expect(complaints.length === 0, `the console says: ${complaints.join(' | ')}`);

async function open(address) {
  const page = await browser.newPage({ viewport: { width: 1000, height: 640 } });
  page.setDefaultTimeout(PATIENCE);
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && !/GPU stall|swiftshader/i.test(m.text()) && complaints.push(m.text()));
  page.on('pageerror', (e) => complaints.push(e.message));
  await page.goto(address);
  await until(page, () => window.lab?.state.opened && lab.positions(0).length === 3 * lab.state.opened.panes[0].particles && lab.reports[0]);
  return page;
}

/** The page's address for a case. */
const address = ({ load }) => {
  const sizes = load.scene.cloth.flatMap((c, i) => [[`cloth.${i}.columns`, c.columns], [`cloth.${i}.rows`, c.rows]]);
  const compact = { s: load.scene.name, e: Object.fromEntries(sizes), m: [load.methods[0].id] };
  return `${url}#${Buffer.from(JSON.stringify(compact)).toString('base64url')}`;
};

const tests = {
  async 'the cloth moves, in time with the clock'() {
    const page = await open(url);
    expect(await page.evaluate(() => lab.state.engine === 'wasm' && lab.state.connected), 'another engine is running');
    expect((await page.textContent('#version')).includes('wasm'), 'the page does not say which engine is running');
    const before = await page.evaluate(() => Array.from(lab.positions(0)));
    await until(page, (old) => lab.positions(0).some((x, i) => Math.abs(x - old[i]) > 0.01), before);
    await until(page, () => lab.reports[0].time > 3 && lab.reports[0].rate > 0);
    // Never ahead of the clock, which began with the page; how far behind is the machine's affair.
    const { time, clock, frames } = await page.evaluate(() => ({ time: lab.reports[0].time, clock: performance.now() / 1000, frames: lab.frames() }));
    expect(time < clock, `${time} simulated seconds in ${clock}`);
    expect(frames > 2, 'no pictures were drawn');
    if (folder) await page.screenshot({ path: join(folder, 'site.png') });
    quiet();
    await page.close();
  },

  async 'a wrong command is refused and the engine goes on'() {
    const page = await open(`${url}#${Buffer.from(JSON.stringify({ s: 'hang', e: { 'cloth.0.columns': 5000 }, m: ['kim-2006'] })).toString('base64url')}`);
    // In one go, because a toast does not stay.
    const toast = await until(page, () => document.querySelector('.toast.error')?.textContent);
    expect(/at most/.test(await toast.jsonValue()), 'the toast does not name the limit');
    const time = await page.evaluate(() => lab.reports[0].time);
    await until(page, (t) => lab.reports[0].time > t, time);
    quiet();
    await page.close();
  },
};
for (const one of cases) {
  tests[`${one.name}, stepped in the page, is where the native engine is`] = async () => {
    const page = await open(address(one));
    await until(page, (n) => lab.state.opened.panes[0].particles === n && lab.positions(0).length === 3 * n, one.positions.length / 3);
    await page.keyboard.press(' ');
    await until(page, () => !lab.state.playing);
    await page.keyboard.press('r');
    await until(page, () => lab.reports[0].time === 0 && !lab.reports[0].playing);
    for (let i = 0; i < one.frames; i++) await page.keyboard.press('s');
    const end = one.frames * one.load.scene.dt;
    await until(page, (t) => Math.abs(lab.reports[0].time - t) < 1e-6, end);
    const own = await page.evaluate(() => Array.from(lab.positions(0)));
    expect(own.length === one.positions.length, `${own.length} coordinates instead of ${one.positions.length}`);
    const apart = own.reduce((most, x, i) => Math.max(most, Math.abs(x - Math.fround(one.positions[i]))), 0);
    expect(apart <= one.tolerance, `${apart} m apart`);
    quiet();
    await page.close();
  };
}

let failed = false;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok ${name}`);
  } catch (problem) {
    console.log(`FAILED ${name}: ${problem.message}`);
    failed = true;
    break;
  }
}
await browser.close();
server.close();
rmSync(site, { recursive: true });
process.exit(failed ? 1 : 0);
