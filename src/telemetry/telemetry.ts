import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, resourceAttributesEnvDetector, resourceFromAttributes, serviceNameEnvDetector } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Diagnostic } from '../core/diagnostic.ts'
import type { CadreEvent } from '../core/events.ts'
import { spansOf } from './spans.ts'

/** The event stream as spans, on their way to a collector. */
export type Telemetry = {
  saw(event: CadreEvent): void
  /** Ends what is open and sends what was not sent yet, for at most `LONGEST_FAREWELL_MS`. Never rejects. */
  close(): Promise<void>
}

/** A collector that does not answer does not hold a command up for longer. */
const LONGEST_FAREWELL_MS = 5_000

/** A sweep ends thousands of agents between two batches. */
const QUEUE = { maxQueueSize: 32_768, maxExportBatchSize: 512 }

/**
 * Spans by the GenAI semantic conventions, sent over OTLP/HTTP by the official SDK, which reads the usual variables: OTEL_EXPORTER_OTLP_ENDPOINT
 * (http://localhost:4318), OTEL_EXPORTER_OTLP_HEADERS, OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME (cadre). What cannot be sent is one
 * diagnostic and no agent's fault.
 */
export function openTelemetry({ version, onDiagnostic }: { readonly version: string; onDiagnostic(diagnostic: Diagnostic): void }): Telemetry {
  const exporter = reporting(new OTLPTraceExporter(), (message) => onDiagnostic({
    path: 'CADRE_OTEL', line: 1, severity: 'warning', message: `spans could not be sent: ${message}`, remedy: 'start a collector, or set OTEL_EXPORTER_OTLP_ENDPOINT to where it listens',
  }))
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'cadre', 'service.version': version }))
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }))
  const provider = new TracerProvider({ resource, spanProcessors: [new BatchSpanProcessor({ exporter, ...QUEUE })] })
  const spans = spansOf(provider.getTracer('cadre', version))
  return {
    saw: (event) => spans.saw(event),
    async close() {
      spans.end()
      const limit = Promise.withResolvers<void>()
      const timer = setTimeout(limit.resolve, LONGEST_FAREWELL_MS)
      // The exporter's failures are told above.
      await Promise.race([provider.shutdown().catch(() => undefined), limit.promise])
      clearTimeout(timer)
    },
  }
}

/** The same exporter; the first failure is told. */
function reporting(exporter: SpanExporter, tell: (message: string) => void): SpanExporter {
  let told = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error && !told) {
          told = true
          tell(result.error.message)
        }
        done(result)
      })
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  }
}
