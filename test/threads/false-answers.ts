const cyclic: Record<string, unknown> = {}
cyclic['self'] = cyclic

/** What a thread might give for a report, or for a list of outcomes. */
export const falseAnswers: Readonly<Record<string, unknown>> = {
  'nothing': undefined,
  'a text': 'done',
  'a report while calls are in hand': { ok: true, report: { text: 'done', turns: 1 } },
  'a report with more in it': { ok: true, report: { text: 'done', turns: 0, more: 1 } },
  'a report without turns': { ok: true, report: { text: 'done', turns: 0 } },
  'outcomes that nobody asked for': { ok: true, report: null, outcomes: [{ callId: 'echo', tool: 'echo', ok: true, text: 'x' }] },
  'a report and outcomes': { ok: true, report: { text: 'done', turns: 1 }, outcomes: [] },
  'a cycle': cyclic,
  'a report and an error': { ok: false, error: 'x', report: { text: '', turns: 0 } },
}
