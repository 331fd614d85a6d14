// One script, one style sheet and two fonts; nothing is loaded from anywhere else.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vite";

const packages = ["preact", "marked", "@fontsource-variable/inter", "@fontsource-variable/jetbrains-mono"];

// What is in the page belongs to others too: their licences go with it.
function licences() {
  return {
    name: "licences",
    generateBundle() {
      const texts = packages.map((name) => {
        const folder = join(import.meta.dirname, "node_modules", name);
        const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
        const file = ["LICENSE", "LICENSE.md"].map((one) => join(folder, one));
        const text = file.map((one) => readIfThere(one)).find((one) => one) ?? "";
        if (!text) this.error(`${name} has no licence`);
        return `${name} ${version}\n\n${text.trim()}\n`;
      });
      this.emitFile({ type: "asset", fileName: "licences.txt", source: texts.join("\n\n") });
    },
  };
}

function readIfThere(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

export default defineConfig({
  root: import.meta.dirname,
  base: "/",
  plugins: [licences()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    reportCompressedSize: false,
    emptyOutDir: true,
  },
  // The page alone, against a server that runs beside it: `npx vite` in this folder.
  server: { proxy: { "/v1": "http://127.0.0.1:7171" } },
});
