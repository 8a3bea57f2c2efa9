import { join } from 'node:path'
import { cleanEnv } from '../fan-out-runs.ts'
import { parentPrompt } from '../../src/cli/bench/fan-out-script.ts'
import type { Peer } from '../peer.ts'

/** Its caps on tools at once (10), sub-agents at once (20) and sub-agents of a session. */
const RAISED = '1000'

export const claudeCode: Peer = {
  name: 'claude-code',
  kind: 'CLI',
  packages: ['@anthropic-ai/claude-code'],
  dialect: {
    delegate: { name: 'Agent', input: { description: 'part {i}', prompt: '{prompt}', subagent_type: 'general-purpose', run_in_background: false } },
    read: { name: 'Read', input: { file_path: '{root}/{file}' } },
  },
  command: ({ folder, url, project, home, children }) => ({
    file: join(folder, 'node_modules', '.bin', 'claude'),
    argv: ['-p', parentPrompt(children), '--model', 'claude-sonnet-4-5', '--dangerously-skip-permissions'],
    cwd: project.root,
    env: {
      ...cleanEnv(home), ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'any', IS_SANDBOX: '1', DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY: RAISED,
      CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS: RAISED, CLAUDE_CODE_MAX_SUBAGENTS_PER_SESSION: RAISED,
    },
  }),
}
