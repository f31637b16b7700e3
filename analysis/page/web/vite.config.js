// One self-contained file: script and style inside, and a policy that lets nothing else run.
import { createHash } from "node:crypto";
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// The hashes of what stands inside, in a meta element before all of it.
function policy() {
  return {
    name: "orrery-policy",
    enforce: "post",
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== "asset" || !file.fileName.endsWith(".html")) continue;
        const source = String(file.source);
        const scripts = [...source.matchAll(/<script type="module"[^>]*>([\s\S]*?)<\/script>/g)].map((m) => hash(m[1]));
        const styles = [...source.matchAll(/<style[^>]*>([\s\S]*?)<\/style>/g)].map((m) => hash(m[1]));
        if (scripts.length === 0 || styles.length === 0) throw new Error("nothing to hash: was the page inlined?");
        const rules = `default-src 'none'; script-src ${scripts.join(" ")}; style-src ${styles.join(" ")}; ` +
          "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'";
        if (/[^\x00-\x7f]/.test(source)) throw new Error("the page must be ASCII: it becomes an array of char");
        file.source = source.replace('<meta charset="utf-8">',
          `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${rules}">`);
      }
    },
  };
}

export default defineConfig({
  esbuild: { charset: "ascii" },
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), policy()],
  build: { target: "es2022", outDir: process.env.ORRERY_PAGE_OUT ?? "dist", emptyOutDir: true, reportCompressedSize: false },
  logLevel: "warn",
});
