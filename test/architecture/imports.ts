import { parseSync, Visitor } from 'oxc-parser'

export interface Import {
  /** As written. `undefined`: a dynamic import of a path that is computed. */
  readonly specifier: string | undefined
  /** Nothing of it is left at run time: `import type`, `export type`, `import('…').T`. */
  readonly typeOnly: boolean
}

interface Outline {
  readonly imports: readonly Import[]
  readonly defaultExport: boolean
  readonly errors: readonly string[]
}

interface Expression { readonly type: string; readonly value?: unknown }

/** What one source text takes in, and whether it has a default export; every syntax of an import counts. */
export function outline(file: string, source: string): Outline {
  const { program, errors } = parseSync(file, source)
  const imports: Import[] = []
  let defaultExport = false
  const literal = (node: Expression) => (node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined)

  new Visitor({
    ImportDeclaration: node => void imports.push({ specifier: node.source.value, typeOnly: node.importKind === 'type' }),
    ExportAllDeclaration: node => void imports.push({ specifier: node.source.value, typeOnly: node.exportKind === 'type' }),
    ExportNamedDeclaration(node) {
      if (node.source !== null) imports.push({ specifier: node.source.value, typeOnly: node.exportKind === 'type' })
      defaultExport ||= node.specifiers.some(({ exported }) => ('name' in exported ? exported.name : exported.value) === 'default')
    },
    ExportDefaultDeclaration() { defaultExport = true },
    ImportExpression: node => void imports.push({ specifier: literal(node.source), typeOnly: false }),
    TSImportType: node => void imports.push({ specifier: node.source.value, typeOnly: true }),
    TSImportEqualsDeclaration(node) {
      if (node.moduleReference.type !== 'TSExternalModuleReference') return
      imports.push({ specifier: node.moduleReference.expression.value, typeOnly: node.importKind === 'type' })
    },
    CallExpression({ callee, arguments: [first] }) {
      if (callee.type !== 'Identifier' || callee.name !== 'require' || first === undefined) return
      imports.push({ specifier: literal(first), typeOnly: false })
    },
  }).visit(program)

  return { imports, defaultExport, errors: errors.map(({ message }) => message) }
}
