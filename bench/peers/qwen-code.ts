import { join } from 'node:path'
import { cleanEnv } from '../fan-out-runs.ts'
import { parentPrompt } from '../../src/cli/bench/fan-out-script.ts'
import { SCRIPTED_MODEL } from '../../src/cli/bench/wire.ts'
import type { Peer } from '../peer.ts'

export const qwenCode: Peer = {
  name: 'qwen-code',
  kind: 'CLI',
  packages: ['@qwen-code/qwen-code'],
  dialect: {
    delegate: { name: 'agent', input: { description: 'part {i}', prompt: '{prompt}', subagent_type: 'general-purpose' } },
    read: { name: 'read_file', input: { file_path: '{root}/{file}' } },
  },
  command: ({ folder, url, project, home, children }) => ({
    file: join(folder, 'node_modules', '.bin', 'qwen'),
    argv: ['-p', parentPrompt(children), '--yolo', '--auth-type', 'openai', '--model', SCRIPTED_MODEL],
    cwd: project.root,
    env: { ...cleanEnv(home), OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'any', QWEN_CODE_SUPPRESS_YOLO_WARNING: '1' },
  }),
}
