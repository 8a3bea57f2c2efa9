import type { Command } from 'commander'
import type { Models, Price, ProviderListing } from '../../models/models.ts'
import type { Settings } from '../../settings/settings.ts'
import type { CliContext } from '../context.ts'
import { settingsDiagnosticsTo } from '../diagnostics.ts'
import { counted } from '../../sweep/figures.ts'
import { styleOf } from '../style.ts'
import type { Style } from '../style.ts'
import { figureColumns, renderTable } from '../table.ts'
import { writeJson } from '../write-all.ts'

/** `cadre models`: what can be used now (MOD-09). */
export function register(program: Command, context: CliContext): void {
  program
    .command('models')
    .description('the providers with a key or a local server that answers, their models, aliases and prices')
    .option('--json', 'print JSON')
    .action(async ({ json = false }: { readonly json?: boolean }) => {
      const { models, settings } = await context.open({ watch: false, onDiagnostic: settingsDiagnosticsTo(context) })
      const providers = await models.list()
      const aliases = aliasesOf(settings, models)
      if (json) {
        writeJson(context.stdout, { model: settings.model, subagentModel: settings.subagentModel, providers, aliases })
        return
      }
      const style = styleOf(context.stdout, context.env)
      const sections = [renderProviders(providers, style), renderModels(providers, style), renderAliases(aliases, style)]
      context.stdout.write(sections.filter((section) => section !== '').join('\n'))
      if (providers.length === 0) context.stderr.write(`${NOTHING}\n`)
      else if (settings.model === null) context.stderr.write('No model is set: use --model, or set CADRE_MODEL or "model" in settings.\n')
    })
}

const NOTHING = 'No provider can be used: no key is in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, …) and no local server '
  + 'answers. Set a key, or start Ollama or LM Studio.'

const PRICE_COLUMNS = figureColumns('$/M IN', 'OUT', 'CACHE READ', 'WRITE')

type Alias = { readonly name: string; readonly model: string | null; readonly price: Price | null }

/** Aliases of settings, each with the model it means here; null for one that means none. */
function aliasesOf({ modelAliases }: Settings, models: Models): readonly Alias[] {
  return Object.keys(modelAliases).toSorted().map((name) => {
    const id = resolved(models, name)
    return { name, model: id, price: id === null ? null : (models.price(id) ?? null) }
  })
}

function resolved(models: Models, name: string): string | null {
  try {
    return models.resolve(name, null).id
  } catch {
    return null // an alias to a provider nobody knows: shown as such
  }
}

const renderProviders = (providers: readonly ProviderListing[], style: Style): string =>
  renderTable(
    [{ title: 'PROVIDER' }, { title: 'KEY' }, { title: 'MODELS' }, { title: 'ADDRESS', cut: 'end' }],
    providers.map(({ provider, keyEnv, local, models, problem, baseUrl }) => [
      { text: provider, paint: style.paint.bold },
      keyEnv ?? (local ? 'local' : 'none needed'),
      problem === null ? counted(models.length, 'model') : { text: problem, paint: style.paint.yellow },
      { text: baseUrl, paint: style.paint.dim },
    ]),
    style,
  )

const renderModels = (providers: readonly ProviderListing[], style: Style): string =>
  renderTable(
    [{ title: 'MODEL', cut: 'end' }, ...PRICE_COLUMNS],
    providers.flatMap(({ models }) => models.map(({ id, price }) => [id, ...prices(price)])),
    style,
  )

const renderAliases = (aliases: readonly Alias[], style: Style): string =>
  renderTable(
    [{ title: 'ALIAS' }, { title: 'MODEL', cut: 'end' }, ...PRICE_COLUMNS],
    aliases.map(({ name, model, price }) => [name, model ?? { text: 'no known model', paint: style.paint.yellow }, ...prices(price)]),
    style,
  )

const prices = (price: Price | null): readonly string[] => {
  if (price === null) return ['–', '–', '–', '–']
  if (price.input === 0 && price.output === 0) return ['free', '', '', '']
  return [price.input, price.output, price.cacheRead, price.cacheWrite].map((usd) => String(Number(usd.toFixed(4))))
}
