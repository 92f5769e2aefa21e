import { viteSingleFile } from "vite-plugin-singlefile";
import { defineConfig } from "vitest/config";

export default defineConfig({
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: { target: "es2022", reportCompressedSize: false, modulePreload: false },
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  test: {
    fileParallelism: false,
    projects: [
      { extends: true, test: { name: "unit", include: ["tests/*.test.ts"], environment: "node" } },
      {
        extends: true,
        test: {
          name: "browser",
          include: ["tests/browser/*.test.ts"],
          environment: "node",
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
