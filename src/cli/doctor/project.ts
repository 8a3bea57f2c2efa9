import type { Diagnostic } from '../../core/diagnostic.ts'
import { formatDiagnostic } from '../../core/diagnostic.ts'
import { messageOf } from '../../core/errors.ts'
import { journalProblems } from '../../journal/integrity.ts'
import { keyOf, knownProviders } from '../../models/provider-settings.ts'
import type { Orchestrator } from '../../api.ts'
import { counted } from '../../sweep/figures.ts'
import { broken, ok, warning } from './check.ts'
import type { Check } from './check.ts'

type Env = Readonly<Record<string, string | undefined>>

/** What depends on the project and the user: settings, trust, journal, agent types, model and provider keys. */
export async function projectChecks(orchestrator: Orchestrator, diagnostics: readonly Diagnostic[], env: Env): Promise<readonly Check[]> {
  return [
    ...settings(diagnostics),
    trust(orchestrator),
    journal(orchestrator),
    ...types(orchestrator),
    ...(await providers(orchestrator, env)),
    model(orchestrator),
  ]
}

function settings(diagnostics: readonly Diagnostic[]): readonly Check[] {
  const found = diagnostics.filter(({ path }) => !path.endsWith('.md'))
  if (found.length === 0) return [ok('settings', 'every setting is understood')]
  return found.map((diagnostic) => (diagnostic.severity === 'error' ? broken : warning)(
    'settings', formatDiagnostic({ ...diagnostic, remedy: '' }), diagnostic.remedy || 'Mend or remove it.',
  ))
}

function trust({ trusted, root }: Orchestrator): Check {
  if (trusted) return ok('trust', `${root} is trusted`)
  const found = `${root} is not trusted: its settings and agent files only narrow`
  return warning('trust', found, 'If you trust their authors, run cadre trust.')
}

function journal({ journal: { file, sessions } }: Orchestrator): Check {
  const problems = journalProblems(file)
  if (problems.length === 0) return ok('journal', `${file} is sound, ${counted(sessions({ all: true }).length, 'session')}`)
  return broken('journal', `${file}: ${problems.join('; ')}`, 'Move it away (with its -wal and -shm), or restore it from a backup.')
}

function types(orchestrator: Orchestrator): readonly Check[] {
  const { types: known, shadowed, skipped } = orchestrator.listTypes()
  const twice = shadowed.filter(({ type, by }) => type.scope === by.scope)
  const loaded = `${counted(known.length, 'type')} loaded`
  const hidden = twice.map(({ type, by }) => `${type.name}: ${by.path ?? by.scope} hides ${type.path ?? type.scope}`)
  return [
    skipped.length === 0 ? ok('agent types', loaded)
      : warning('agent types', `${loaded}, ${counted(skipped.length, 'file')} skipped`, 'Run cadre agents lint.'),
    twice.length === 0 ? ok('duplicates', 'no type is defined twice in one scope')
      : warning('duplicates', hidden.join('; '), 'Rename or remove one of each.'),
  ]
}

async function providers({ models, settings: { providers: own } }: Orchestrator, env: Env): Promise<readonly Check[]> {
  const usable = await models.list()
  const without = [...knownProviders(own, env).values()].filter((provider) => provider.keyEnv.length > 0 && keyOf(provider, env) === null)
  const absent = without.map(({ keyEnv }) => keyEnv[0]).join(', ')
  if (usable.length === 0) {
    const found = `none: no key is set (${absent}) and no local server answers; agents with "model: script" work without`
    return [warning('providers', found, 'Set a key, or start Ollama or LM Studio.')]
  }
  return [
    ...usable.map(({ provider, keyEnv, models: listed, problem }) => {
      const key = keyEnv === null ? 'no key needed' : `${keyEnv} is set`
      if (problem === null) return ok(provider, `${key}, ${counted(listed.length, 'model')}`)
      return warning(provider, `${key}, but ${problem}`, 'Check the key, the address and the network.')
    }),
    ...(absent === '' ? [] : [ok('other keys', `not set: ${absent}`)]),
  ]
}

/** Opening it finds a missing key or address; it sends nothing. */
function model({ settings: { model: name }, models }: Orchestrator): Check {
  if (name === null) {
    return warning('model', 'none is set; agents with "model: script" need none', 'Use --model, or set CADRE_MODEL or "model" in settings.')
  }
  try {
    const { id, warning: doubt } = models.resolve(name, null)
    if (id === null) return broken('model', doubt ?? `${name} is no model anyone knows`, 'Set "model" to <provider>/<model>.')
    models.open(id)
    return ok('model', id)
  } catch (error) {
    return broken('model', messageOf(error), 'Set what is missing, or another model.')
  }
}
