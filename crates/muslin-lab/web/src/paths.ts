// Values inside nested objects by a dotted path, and the differences between two of them.

type Tree = Record<string, unknown>;

export function clone<T>(value: T): T {
  return structuredClone(value);
}

export function getAt(root: unknown, path: string): unknown {
  let at: unknown = root;
  for (const key of path.split('.')) {
    if (at === null || typeof at !== 'object') return undefined;
    at = (at as Tree)[key];
  }
  return at;
}

/** Sets a value; null or undefined removes the key, which means "not given". */
export function setAt(root: unknown, path: string, value: unknown): void {
  const keys = path.split('.');
  const last = keys.pop();
  if (last === undefined) return;
  let at = root as Tree;
  for (const key of keys) {
    if (at[key] === undefined || at[key] === null) at[key] = {};
    at = at[key] as Tree;
  }
  if (value === null || value === undefined) delete at[last];
  else at[last] = value;
}

const isTree = (value: unknown): value is Tree => value !== null && typeof value === 'object';
// Lists of objects are walked into; lists of numbers (vectors) are values.
const isLeaf = (value: unknown): boolean => !isTree(value) || (Array.isArray(value) && !value.some(isTree));

export function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What has to be set on `from` to get `to`, by path. Null stands for a key that is gone. */
export function differences(from: unknown, to: unknown, prefix = ''): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  if (!isTree(from) || !isTree(to)) return found;
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const path = prefix + key;
    const [a, b] = [from[key], to[key]];
    if (same(a, b)) continue;
    const listsDiffer = Array.isArray(a) && Array.isArray(b) && a.length !== b.length;
    if (b === undefined) found[path] = null;
    else if (isLeaf(a) || isLeaf(b) || listsDiffer) found[path] = b;
    else Object.assign(found, differences(a, b, `${path}.`));
  }
  return found;
}

export function applied<T>(root: T, edits: Record<string, unknown>): T {
  const result = clone(root);
  for (const [path, value] of Object.entries(edits)) setAt(result, path, value);
  return result;
}
