// Turns what Vite built into the page that Go embeds: a policy that lets run only
// what was built here, and the hash of the sources, which a Go test compares.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const bytesMax = 150_000; // as it is sent and stored: compressed
const root = join(import.meta.dirname, "..");
const target = join(root, "../internal/report/assets/report.html");
// Types leave nothing in the page; another Go test compares them with the Go types.
const generatedTypes = [
  "src/api/case.ts", "src/api/experiment.ts", "src/api/fleet.ts", "src/api/library.ts", "src/api/page.ts",
  "src/api/worth.ts",
];
const single = [
  "build/finish.js", "index.html", "package-lock.json", "package.json", "tsconfig.json", "vite.config.js",
];

function sourceHash() {
  const found = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !generatedTypes.includes(path));
  const hash = createHash("sha256");
  for (const path of [...found, ...single].sort()) {
    const text = readFileSync(join(root, path));
    hash.update(`${path}\n${text.length}\n`).update(text);
  }
  return hash.digest("hex");
}

// Hashes of the elements' exact text, as the browser will compute them.
function policyHashes(page, element) {
  const pattern = new RegExp(`<${element}\\b[^>]*>([\\s\\S]*?)</${element}>`, "g");
  return [...page.matchAll(pattern)]
    .map((match) => `'sha256-${createHash("sha256").update(match[1]).digest("base64")}'`)
    .join(" ");
}

let page = readFileSync(join(root, "dist/index.html"), "utf8");
const scripts = policyHashes(page, "script");
const styles = policyHashes(page, "style");
if (!scripts || !styles || /\b(src|href)="\//.test(page)) {
  throw new Error("finish page: the script or the style is not inside it");
}
const policy = `default-src 'none'; script-src ${scripts}; style-src ${styles}; base-uri 'none'; form-action 'none'`;
page = page.replace(
  '<meta charset="utf-8">',
  `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">\n` +
    `<meta name="culprit-source" content="${sourceHash()}">`,
);
const compressed = gzipSync(page).length;
if (compressed > bytesMax) {
  throw new Error(`finish page: ${compressed} bytes, compressed, are more than ${bytesMax}`);
}
writeFileSync(target, page);
process.stdout.write(`${target}: ${page.length} bytes, ${compressed} compressed\n`);
