import type { ChosenModel, ModelChoice } from './choose-model.ts'
import { chooseModel, NO_MODEL } from './choose-model.ts'
import { CadreError } from './core/errors.ts'
import { stableJson } from './core/json.ts'
import { createModels } from './models/models.ts'
import type { Models, ModelsOptions } from './models/models.ts'
import type { Settings } from './settings/settings.ts'

/** The models of the settings as they are now, and the choice among them. Calls under way keep the models they began with. */
export type LiveModels = {
  current(): Models
  /** A sub-agent's model (MOD-03); throws as `chooseModel`. */
  choose(choice: ModelChoice): ChosenModel
  /** The root run's (MOD-04): `--model`, the main agent's own file, then CADRE_MODEL and settings. Rejects with SETTINGS, naming what is there (MOD-09). */
  chooseRoot(flag: string | undefined, type: string | null): Promise<ChosenModel>
  close(): void
}

export function liveModels(settings: () => Settings, options: Pick<ModelsOptions, 'env' | 'onPause' | 'onLostUsage'>): LiveModels {
  const opened: Models[] = []
  let from = settings()
  let current = open(from)

  function open({ providers, modelAliases, prices, models: { maxTries, silence } }: Settings): Models {
    const models = createModels({ ...options, providers, aliases: modelAliases, prices: completed(prices), maxTries, silenceSeconds: silence })
    opened.push(models)
    return models
  }

  function now(): Models {
    const seen = settings()
    if (seen !== from) {
      const changed = keyOf(seen) !== keyOf(from)
      from = seen
      if (changed) current = open(seen)
    }
    return current
  }

  const resolve = (written: string, parent: string | null) => now().resolve(written, parent)

  /** MOD-04: a model the user names is that model or an error, never another one. */
  function named(flag: string): ChosenModel {
    const { id, warning } = resolve(flag, null)
    if (id === null) throw new CadreError('SETTINGS', `The model of --model cannot be used: ${warning ?? `"${flag}" is no model`}`)
    return { id, notes: warning ? [warning] : [] }
  }

  return {
    current: now,
    choose(choice) {
      const { subagentModel, model, modelAliases, allowedModels } = settings()
      return chooseModel(choice, { resolve, subagentModel, rootModel: model, aliases: Object.keys(modelAliases), allowedModels })
    },
    async chooseRoot(flag, type) {
      if (flag !== undefined && flag !== 'inherit') return named(flag)
      const choice = { type, call: null, parent: settings().model }
      try {
        return chooseModel(choice, { resolve, subagentModel: null, rootModel: null, aliases: [], allowedModels: [] })
      } catch (error) {
        throw error instanceof CadreError && error.code === 'SETTINGS' ? await noModel(now()) : error
      }
    },
    close() {
      for (const models of opened) models.close()
    },
  }
}

const keyOf = ({ providers, modelAliases, prices, models }: Settings): string => stableJson({ providers, modelAliases, prices, models })

/** What a user's price leaves out is taken as dear as fresh input: no cost is shown too low. */
const completed = (prices: Settings['prices']): NonNullable<ModelsOptions['prices']> =>
  Object.fromEntries(Object.entries(prices).map(([model, price]) =>
    [model, { ...price, cacheRead: price.cacheRead ?? price.input, cacheWrite: price.cacheWrite ?? price.input }]))

async function noModel(models: Models): Promise<CadreError> {
  const found = (await models.list()).flatMap(({ models: listed }) => listed)[0]?.id
  const hint = found ? '' : ' No provider key was found in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, …) and no local server answers.'
  return new CadreError('SETTINGS', NO_MODEL(found ?? '<provider>/<model>') + hint)
}
