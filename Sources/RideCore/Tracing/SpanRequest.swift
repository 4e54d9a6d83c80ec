import Base

/// Encodes spans as the JSON of an `ExportTraceServiceRequest` (OTLP/HTTP).
///
/// IDs are hexadecimal, numbers of 64 bits are strings, and enumerations are integers.
package enum SpanRequest {
  /// - Parameter resource: The attributes of the service that made the spans.
  package static func json(_ spans: [TraceSpan], resource: [TraceSpan.Attribute]) -> [UInt8] {
    JSONValue.object([
      "resourceSpans": .array([
        .object([
          "resource": .object(["attributes": list(resource)]),
          "scopeSpans": .array([
            .object([
              "scope": .object(["name": .string("ridepulse")]),
              "spans": .array(spans.map(value)),
            ])
          ]),
        ])
      ])
    ]).json
  }

  private static func value(_ span: TraceSpan) -> JSONValue {
    var members: [String: JSONValue] = [
      "traceId": .string(span.traceID.digits), "spanId": .string(span.id.digits),
      "name": .string(span.name), "kind": .integer(span.kind.rawValue),
      "startTimeUnixNano": time(span.start), "endTimeUnixNano": time(span.end),
      "attributes": list(span.attributes),
    ]
    members["parentSpanId"] = span.parentID.map { .string($0.digits) }
    if span.isError { members["status"] = .object(["code": .integer(2)]) }
    if let link = span.link {
      members["links"] = .array([
        .object([
          "traceId": .string(link.traceID.digits), "spanId": .string(link.spanID.digits),
        ])
      ])
    }
    if !span.events.isEmpty {
      members["events"] = .array(
        span.events.map { event in
          .object([
            "name": .string(event.name), "timeUnixNano": time(event.at),
            "attributes": list(event.attributes),
          ])
        })
    }
    return .object(members)
  }

  private static func list(_ attributes: [TraceSpan.Attribute]) -> JSONValue {
    .array(
      attributes.map { attribute in
        let value: JSONValue =
          switch attribute.value {
          case .text(let text): .object(["stringValue": .string(text)])
          case .number(let number): .object(["intValue": .string(String(number))])
          }
        return .object(["key": .string(attribute.key), "value": value])
      })
  }

  /// Nanoseconds since 1970; a time before is 0.
  private static func time(_ time: Timestamp) -> JSONValue {
    .string(String(max(0, time.microseconds).multipliedSaturating(by: 1000)))
  }
}
