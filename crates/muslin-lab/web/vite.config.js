import { defineConfig } from 'vite';

// Relative paths, so that the page works below any address; no source maps, since the
// program carries the built files inside itself.
export default defineConfig({
  base: './',
  build: { outDir: 'dist', target: 'es2022', chunkSizeWarningLimit: 900, assetsInlineLimit: 8192 },
});
