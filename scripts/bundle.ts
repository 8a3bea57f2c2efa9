/** The JavaScript of `dist/`. Tests that start the command use it too, so it must be quick: about a second. */
import { chmodSync, cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import type { OutputChunk } from 'rolldown'
import { formatDiagnostic } from '../src/core/diagnostic.ts'
import { lint } from '../src/definitions/lint.ts'
import { PARSED_FILE, type ParsedBefore } from '../src/definitions/parsed-before.ts'

const ROOT = join(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')

/** They start files of their own by path, or are native. */
const EXTERNAL = [/^isolated-vm$/, /^piscina$/, /^tinypool$/]

/**
 * One bundle for each side: main thread, agent thread, isolate process, page converter. Modules are most of what a command costs to start, so the packages they
 * use are bundled in. Chunks lie two folders deep, as the rooms do: a room finds the other sides at `../../` from source and build alike.
 */
const SIDES: readonly Side[] = [
  { entries: ['src/index', 'src/cli/main', 'src/cli/bin', 'src/cli/bench/provider'], chunks: 'src/chunks' },
  { entries: ['sandbox/worker'], chunks: 'sandbox/chunks' },
  { entries: ['sandbox/isolate/process'], chunks: 'sandbox/isolate/chunks' },
  { entries: ['sandbox/markdown'], chunks: 'sandbox/chunks' },
]

/** What the provider packages get in place of Node's: tests compare the replies they then read. */
export const LIGHT: Readonly<Record<string, [file: string, name: string]>> = {
  Headers: [join(import.meta.dirname, 'light-headers.ts'), 'LightHeaders'],
  ReadableStream: [join(import.meta.dirname, 'light-streams.ts'), 'LightReadable'],
  TransformStream: [join(import.meta.dirname, 'light-streams.ts'), 'LightTransform'],
  TextDecoderStream: [join(import.meta.dirname, 'light-streams.ts'), 'LightDecoder'],
}

type Side = { readonly entries: readonly string[]; readonly chunks: string }

/** `dist`: where to, for who needs a build that nobody else writes. */
export async function bundle(dist: string = DIST): Promise<void> {
  const chunks: OutputChunk[] = []
  for (const { entries, chunks: folder } of SIDES) {
    const side = await rolldown({
      cwd: ROOT,
      input: Object.fromEntries(entries.map((entry) => [entry, `${entry}.ts`])),
      platform: 'node',
      transform: { inject: LIGHT },
      external: EXTERNAL,
      // gray-matter's engine for JavaScript frontmatter, which is never used (TYP-05).
      checks: { eval: false },
    })
    const { output } = await side.write({ dir: dist, format: 'esm', entryFileNames: '[name].js', chunkFileNames: `${folder}/[name].js` })
    const written = output.filter((part) => part.type === 'chunk')
    for (const { fileName, code } of written) writeFileSync(join(dist, fileName), asciiOnly(code))
    chunks.push(...written)
    await side.close()
  }
  writeFileSync(join(dist, 'THIRD_PARTY_LICENSES.md'), licensesOf(chunks))
  cpSync(join(ROOT, 'agents'), join(dist, 'agents'), { recursive: true })
  writeFileSync(join(dist, 'agents', PARSED_FILE), JSON.stringify(await parsedTypes(join(dist, 'agents'))))
  chmodSync(join(dist, 'src', 'cli', 'bin.js'), 0o755)
}

/**
 * The same program in ASCII: V8 then holds it in one byte a character, and Node decodes it in half the time. An escape
 * means the same in a string, a template, a regular expression and a name; what it does to comments is no matter.
 */
const asciiOnly = (code: string): string => code.replaceAll(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** What the build knows of the built-in types, so that no command has to read their YAML. One with a finding would be a fault of ours. */
async function parsedTypes(folder: string): Promise<ParsedBefore> {
  const parsed = (await lint([folder], { place: () => ({ scope: 'built-in', trusted: true, root: folder }) })).map(({ path, type, diagnostics }) => {
    if (!type || diagnostics.length > 0) throw new Error(`${path} is no built-in type: ${diagnostics.map(formatDiagnostic).join('; ')}`)
    const { path: _, ...said } = type
    return [type.hash, said] as const
  })
  return Object.fromEntries(parsed)
}

/** The licenses of all packages that went into the chunks. */
function licensesOf(chunks: readonly OutputChunk[]): string {
  const folders = new Set(chunks.flatMap(({ moduleIds }) => moduleIds).map((id) => /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(id)?.[0]))
  const parts = [...folders].filter((folder) => folder !== undefined).toSorted().map((folder) => {
    const { name, version, license }: Record<string, unknown> = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    return `## ${String(name)} ${String(version)} (${String(license)})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`
  })
  return `# Packages in this build\n\n${parts.join('\n')}`
}
