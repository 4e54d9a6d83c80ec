import Base
import Foundation
import RideCore
import Testing
import TestSupport

/// Traces of a running service, at a receiver that reads them by OpenTelemetry's own definitions.
@Suite(
  "Traces", .enabled(if: SpanReceiver.isAvailable, "\(SpanReceiver.need)"),
  .timeLimit(.minutes(60)))
struct TraceTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let app = "00f067aa0ba902b7"
  private static let parent = "00-\(trace)-\(app)-01"

  /// Emits an event in a transaction that has set a trace.
  private func emit(
    _ stage: Stage, _ event: String = "driver_nearby", in traceparent: String = Self.parent
  ) async throws {
    try await stage.sql(
      """
      select set_config('ridepulse.traceparent', '\(traceparent)', true);
      select ridepulse.emit('\(event)', 'r1')
      """)
  }

  private func environment(_ stage: Stage, _ receiver: SpanReceiver) -> [String: String] {
    stage.environment.merging(["RIDEPULSE_OTLP_URL": receiver.url]) { $1 }
  }

  @Test func `one trace leads from the app's transaction to the receipt`() async throws {
    try await Stage.run { stage in
      let receiver = try SpanReceiver()
      let server = try Server(environment(stage, receiver))
      defer { server.stop() }
      try await stage.addRide()
      try await emit(stage)
      try await stage.settled()
      let publish = try await receiver.span(named: "publish customer")
      let id = try #require(publish.attributes["messaging.message.id"])
      #expect(try stage.arrivals().contains { $0.id == id })
      try await stage.sql("select ridepulse.seen('\(id)')")
      let seen = try await receiver.span(named: "seen customer")
      let process = try await receiver.span(named: "process driver_nearby")
      #expect([process, publish, seen].allSatisfy { $0.traceID == Self.trace })
      #expect(process.parentID == Self.app && publish.parentID == process.id)
      #expect(seen.parentID == publish.id && seen.start >= publish.start)
      #expect(process.start <= publish.start && publish.end <= process.end)
      #expect(process.kind == 5 && publish.kind == 3 && seen.kind == 5)
      let push = try #require(PushID(id))
      #expect(UInt64(publish.id, radix: 16) == TraceSpan.id(of: push, attempt: 1))
      #expect(publish.attributes["messaging.system"] == "apns")
      #expect(publish.attributes["ridepulse.ride_id"] == "r1")
      #expect(publish.attributes["ridepulse.rule"] == "customer-driver-nearby")
      #expect(publish.attributes["ridepulse.rules_digest"]?.isEmpty == false)
      let request = try #require(receiver.requests.first)
      #expect(request.path == "/v1/traces" && request.resource["service.name"] == "ridepulse")
      #expect(receiver.requests.allSatisfy { $0.problem == nil })
      // Neither people nor tokens.
      for request in receiver.requests {
        for secret in ["\"c1\"", "\"d1\"", "c1c1c1", "B-RP", "Ana"] {
          #expect(!request.body.contains(secret), "\(secret)")
        }
      }
      #expect(try await stage.value("select count(*) from ridepulse.traced_pushes") == "0")
    }
  }

  @Test func `a push that is repeated after kill -9 has the span of the first attempt`()
    async throws
  {
    try await Stage.run { stage in
      let receiver = try SpanReceiver()
      try await stage.addRide()
      try await stage.sql("delete from ridepulse.events")
      try stage.faults(#"[{"match": {"first": 1}, "action": {"stall": true}, "times": 1}]"#)
      let first = try Server(environment(stage, receiver))
      try await emit(stage)
      try await wait(until: "the push arrives") { try !stage.arrivals().isEmpty }
      first.kill9()
      let second = try Server(environment(stage, receiver))
      defer { second.stop() }
      try await stage.settled()
      let publish = try await receiver.span(named: "publish customer")
      let arrivals = try stage.arrivals().filter { $0.event == "driver_nearby" }
      let ids = Set(arrivals.map(\.id))
      #expect(arrivals.count == 2 && ids.count == 1)
      let push = try #require(ids.first.flatMap { PushID($0) })
      #expect(UInt64(publish.id, radix: 16) == TraceSpan.id(of: push, attempt: 1))
      #expect(publish.attributes["ridepulse.attempt"] == "1" && publish.traceID == Self.trace)
      #expect(receiver.spans.count { $0.name == "publish customer" } == 1)
    }
  }

  @Test func `a retry has a trace of its own, with a link to the app's span`() async throws {
    try await Stage.run { stage in
      let receiver = try SpanReceiver()
      let server = try Server(environment(stage, receiver))
      defer { server.stop() }
      try await stage.addRide()
      try stage.faults(
        #"[{"match": {"first": 1}, "action": {"answer": {"status": 503}}, "times": 1}]"#)
      try await emit(stage)
      try await stage.settled()
      try await wait(until: "both attempts") {
        receiver.spans.count { $0.name == "publish customer" } == 2
      }
      let attempts = receiver.spans.filter { $0.name == "publish customer" }
      #expect(attempts.map { $0.attributes["ridepulse.attempt"] } == ["1", "2"])
      #expect(attempts.map(\.isError) == [true, false])
      #expect(attempts[0].traceID == Self.trace && attempts[1].traceID != Self.trace)
      let root = try #require(receiver.spans.first { $0.id == attempts[1].parentID })
      #expect(root.parentID.isEmpty && root.links == ["\(Self.trace)-\(Self.app)"])
    }
  }

  @Test func `a trace that is malformed or not sampled costs nothing but the span`() async throws {
    try await Stage.run { stage in
      let receiver = try SpanReceiver()
      let server = try Server(environment(stage, receiver))
      defer { server.stop() }
      try await stage.addRide()
      let others = [
        "", "nonsense", "00-\(Self.trace)-\(Self.app)-00", "00-\(Self.trace)-\(Self.app)-01-x",
        String(repeating: "\u{1F695}", count: 1000),
      ]
      for text in others {
        try await emit(stage, in: text)
        try await stage.settled()
      }
      #expect(try stage.arrivals().count { $0.event == "driver_nearby" } == others.count)
      try await emit(stage, "waiting_fee_started")
      _ = try await receiver.span(named: "process waiting_fee_started")
      #expect(!receiver.spans.contains { $0.name == "process driver_nearby" })
    }
  }

  @Test func `a call over HTTP hands over its trace`() async throws {
    try await Stage.run { stage in
      let receiver = try SpanReceiver()
      let (server, client) = try await APIClient.serve(environment(stage, receiver))
      defer { server.stop() }
      try await stage.addRide()
      let body = Array(#"{"event": "driver_nearby", "ride_id": "r1"}"#.utf8)
      for header in ["traceparent: \(Self.parent)", "traceparent: nonsense"] {
        #expect(try client.post("/v1/events", body, [header]).status == 201)
      }
      let ride = #"{"state": "driver_arrived", "customer_id": "c1", "driver_id": "d1"}"#
      let put = try client.ask(
        "/v1/rides/r1",
        ["--request", "PUT", "--json", ride, "--header", "TraceParent: \(Self.parent)"])
      #expect(put.status == 200, "\(put)")
      _ = try await receiver.span(named: "process driver_arrived")
      #expect(receiver.spans.count { $0.name == "process driver_nearby" } == 1)
      #expect(receiver.spans.allSatisfy { $0.traceID == Self.trace })
    }
  }

  @Test func `a collector that is down slows nothing, is logged once, and holds up no stop`()
    async throws
  {
    try await Stage.run { stage in
      let (server, client) = try await APIClient.serve(
        stage.environment.merging(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"]) { $1 })
      defer { server.stop() }
      try await stage.addRide()
      for _ in 0..<20 { try await emit(stage) }
      try await stage.settled()
      try await server.waitForLog("Spans not exported")
      let metrics = try client.get("/metrics").text
      for line in [#"{outcome="exported"} 0"#, #"{outcome="dropped"} 0"#] {
        #expect(metrics.contains("ridepulse_spans_total\(line)"), "\(metrics)")
      }
      #expect(server.stop() == 0)
      #expect(server.log.components(separatedBy: "Spans not exported").count == 2)
    }
  }

  @Test func `without the variable no span is made, and no trace is read`() async throws {
    try await Stage.run { stage in
      let (server, client) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      try await stage.addRide()
      try await emit(stage)
      try await stage.settled()
      #expect(try !client.get("/metrics").text.contains("ridepulse_spans_total{"))
      #expect(!server.threadNames.contains("otlp"))
    }
  }
}
