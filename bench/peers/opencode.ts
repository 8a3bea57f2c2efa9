import { join } from 'node:path'
import { cleanEnv } from '../fan-out-runs.ts'
import { parentPrompt } from '../../src/cli/bench/fan-out-script.ts'
import { SCRIPTED_MODEL } from '../../src/cli/bench/wire.ts'
import type { Peer } from '../peer.ts'

/** It has no cap on sub-agents of one turn. */
export const opencode: Peer = {
  name: 'opencode',
  kind: 'CLI',
  packages: ['opencode-ai'],
  dialect: {
    delegate: { name: 'task', input: { description: 'part {i}', prompt: '{prompt}', subagent_type: 'explore' } },
    read: { name: 'read', input: { filePath: '{root}/{file}' } },
  },
  command({ folder, url, project, home, children }) {
    const provider = { npm: '@ai-sdk/openai-compatible', options: { baseURL: `${url}/v1`, apiKey: 'any' }, models: { [SCRIPTED_MODEL]: {} } }
    return {
      file: join(folder, 'node_modules', '.bin', 'opencode'),
      argv: ['run', '--model', `bench/${SCRIPTED_MODEL}`, parentPrompt(children)],
      cwd: project.root,
      env: {
        ...cleanEnv(home),
        OPENCODE_CONFIG_CONTENT: JSON.stringify({ autoupdate: false, share: 'disabled', permission: 'allow', provider: { bench: provider } }),
        OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      },
    }
  },
}
