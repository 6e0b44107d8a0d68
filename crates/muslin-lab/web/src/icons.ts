// The few icons, drawn on a grid of 16.

const PATHS = {
  play: 'M5 3l8 5-8 5z',
  pause: 'M5 3v10M11 3v10',
  step: 'M4 3l6 5-6 5zM12.5 3v10',
  reset: 'M3 8a5 5 0 1 0 1.6-3.7M3 2.5V5.5H6',
  undo: 'M3 6h6.5a3.5 3.5 0 0 1 0 7H7M3 6l3-3M3 6l3 3',
  redo: 'M13 6H6.5a3.5 3.5 0 0 0 0 7H9M13 6l-3-3M13 6l-3 3',
  own: 'M8 2v6l3.5 2M8 14A6 6 0 1 1 8 2a6 6 0 0 1 0 12z',
  link: 'M7 9a3 3 0 0 0 4.2 0l2-2A3 3 0 0 0 9 2.8l-.8.8M9 7a3 3 0 0 0-4.2 0l-2 2A3 3 0 0 0 7 13.2l.8-.8',
  camera: 'M2 5h3l1-2h4l1 2h3v8H2zM8 11a2.3 2.3 0 1 0 0-4.6A2.3 2.3 0 0 0 8 11z',
  theme: 'M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12',
  help: 'M6 6.2a2 2 0 1 1 2.8 1.9c-.6.3-.8.7-.8 1.4M8 12.2v.1',
  panel: 'M2 3h12v10H2zM10 3v10',
  plots: 'M2 13h12M3 10l3-4 3 2 4-5',
  frame: 'M2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3M6 8h4M8 6v4',
  hand: 'M5.5 8V3.8a1 1 0 0 1 2 0V7m0-4.2a1 1 0 0 1 2 0V7m0-3a1 1 0 0 1 2 0v5.5a4.5 4.5 0 0 1-8.3 2.4L2 9.6a1 1 0 0 1 1.6-1.1L5.5 10z',
  cut: 'M13 3L5.6 10.4M13 13L5.6 5.6M6 4a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM6 12a2 2 0 1 1-4 0 2 2 0 0 1 4 0z',
  wind: 'M2 6h7.5a1.9 1.9 0 1 0-1.8-2.5M2 8.5h10a1.9 1.9 0 1 1-1.8 2.5M2 11h4.8a1.6 1.6 0 1 1-1.5 2.1',
  clip: 'M2 4.5h8v7H2zM10 7l4-2v6l-4-2z',
  cube: 'M8 2l5.5 3v6L8 14l-5.5-3V5zM2.5 5L8 8l5.5-3M8 8v6',
  save: 'M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11',
  vr: 'M2 4.5h12v7h-3.5L9 9.5H7L5.5 11.5H2zM5 7.5v.1M11 7.5v.1',
  plus: 'M8 3v10M3 8h10',
  cross: 'M4 4l8 8M12 4l-8 8',
};

export type IconName = keyof typeof PATHS;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('class', 'glyph');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', PATHS[name]);
  svg.append(path);
  return svg;
}
