// What page.test.mjs runs inside the page, and how it reads pictures.

/** In the page: the largest angle between a drawn normal of the first body and its triangle. [°] */
export function steepest() {
  const { geometry } = lab.colliders.group.children[0];
  const [x, n, index] = [geometry.getAttribute('position').array, geometry.getAttribute('normal').array, geometry.index.array];
  let least = 1;
  for (let t = 0; t < index.length; t += 3) {
    const at = (corner, axis) => x[3 * index[t + corner] + axis];
    const [u, v] = [1, 2].map((corner) => [0, 1, 2].map((axis) => at(corner, axis) - at(0, axis)));
    const face = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const area = Math.hypot(...face);
    if (area === 0) continue;
    for (let corner = 0; corner < 3; corner++) {
      least = Math.min(least, face.reduce((sum, f, axis) => sum + f * n[3 * index[t + corner] + axis], 0) / area);
    }
  }
  return (Math.acos(least) * 180) / Math.PI;
}

/** Pixels around the highest particles, and halfway to their neighbours, in which the body, painted blue, is seen; and all of them. */
export async function hiddenBy(tab) {
  const paint = (colour) => tab.ask('paint', (c) => {
    const { color } = lab.colliders.group.children[0].material;
    const old = `#${color.getHexString()}`;
    color.set(c);
    return old;
  }, colour);
  const old = await paint('#0000ff');
  const picture = await tab.download('the picture', () => tab.page.click('#picture'));
  await paint(old);
  return tab.ask('the pixels', async (png) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const canvas = document.getElementById('canvas');
    const scale = image.width / canvas.clientWidth;
    const paper = new OffscreenCanvas(image.width, image.height).getContext('2d', { willReadFrequently: true });
    paper.drawImage(image, 0, 0);
    const x = lab.positions(0);
    const top = Math.max(...x.filter((_, i) => i % 3 === 1));
    const [{ columns }] = lab.state.opened.scene.cloth;
    const rim = new Set(lab.state.opened.scene.cloth.flatMap((c) => Array.from({ length: c.columns * c.rows }, (_, i) => i)
      .filter((i) => i % c.columns < 4 || i % c.columns > c.columns - 5 || i < 4 * c.columns || i >= c.columns * (c.rows - 4))));
    let [blue, all] = [0, 0];
    for (let i = 0; i < x.length / 3; i++) {
      if (rim.has(i) || x[3 * i + 1] < top - 0.1) continue;
      const at = lab.particleOnScreen(i);
      // Halfway to the next in the row, in the column and across: there flat triangles are deepest in a round body.
      for (const next of [0, 1, columns, columns + 1].map((step) => lab.particleOnScreen(i + step))) {
        const [px, py] = [(at.x + next.x) / 2, (at.y + next.y) / 2];
        const pixels = paper.getImageData(Math.round(px * scale) - 1, Math.round(py * scale) - 1, 3, 3).data;
        for (let p = 0; p < pixels.length; p += 4, all++) if (pixels[p + 2] > pixels[p] + 40) blue++;
      }
    }
    return [blue, all];
  }, picture.bytes.toString('base64'));
}

/** The share of the picture's pixels that are nearly black. */
export async function blackShare(tab) {
  const picture = await tab.download('the picture', () => tab.page.click('#picture'));
  return tab.ask('the pixels', async (png) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const paper = new OffscreenCanvas(image.width, image.height).getContext('2d');
    paper.drawImage(image, 0, 0);
    const { data } = paper.getImageData(0, 0, image.width, image.height);
    let dark = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i] + data[i + 1] + data[i + 2] < 60) dark++;
    return dark / (data.length / 4);
  }, picture.bytes.toString('base64'));
}

/**
 * In the page: the open scene, made small, under every method, four at a time, a frame each; returns who refused. How
 * long a frame takes does not matter, only that it comes.
 */
export async function tryMethods([methods, patience]) {
  const wait = async (what, check) => {
    for (const end = performance.now() + patience; !check(); await new Promise((next) => setTimeout(next, 8))) {
      if (performance.now() > end) throw new Error(`waited ${patience / 1000} s for ${what}`);
    }
  };
  const scene = structuredClone(lab.state.opened.scene);
  scene.substeps = 1;
  for (const cloth of scene.cloth.filter((c) => !c.mesh)) {
    const share = Math.min(15 / (Math.max(cloth.columns, cloth.rows) - 1), 1);
    const along = (n) => 1 + Math.ceil(share * (n - 1));
    Object.assign(cloth, { columns: along(cloth.columns), rows: along(cloth.rows), layers: Math.min(cloth.layers ?? 1, 3) });
  }
  const toasts = document.getElementById('toasts');
  const sentence = () => toasts.querySelector('.error')?.textContent;
  /** What it says if these methods, side by side, are refused. */
  const run = async (tried) => {
    const ids = tried.map((m) => m.id);
    const what = `${scene.name} under ${ids}`;
    toasts.replaceChildren();
    const old = lab.state.opened;
    lab.send({ type: 'load', scene, methods: tried.map((m) => m.method), keep: false });
    await wait(`${what} to open`, () => sentence() || lab.state.opened !== old);
    if (sentence()) return sentence();
    const { scene: opened, panes } = lab.state.opened;
    if (opened.name !== scene.name || panes.map((p) => p.method.id).join() !== ids.join()) throw new Error(`${opened.name} opened, not ${what}`);
    lab.send({ type: 'step' });
    // The report is the last of what a step is answered with.
    await wait(`a frame of ${what}`, () => ids.every((_, i) => lab.positions(i).length === 3 * panes[0].particles && lab.time(i) > 0.5 * opened.dt && lab.reports[i]?.time > 0.5 * opened.dt));
    ids.forEach((id, i) => {
      const bad = lab.positions(i).findIndex((v) => !Number.isFinite(v));
      if (bad >= 0) throw new Error(`${scene.name} under ${id}: position ${bad} is not finite`);
      if (!document.querySelectorAll('.caption-name')[i].textContent.includes(id)) throw new Error(`${scene.name}: caption ${i} is not ${id}`);
    });
    if (/\bNaN\b|undefined|Infinity/.test(document.body.innerText)) throw new Error(`${what}: the page shows a number that is none`);
    return null;
  };
  const refused = [];
  for (let i = 0; i < methods.length; i += 4) {
    const four = methods.slice(i, i + 4);
    if (await run(four) === null) continue;
    for (const one of four) {
      const said = await run([one]);
      if (said !== null) refused.push({ method: one.id, sentence: said });
    }
  }
  return refused;
}
