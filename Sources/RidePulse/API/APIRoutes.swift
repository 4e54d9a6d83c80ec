import AdminServer
import Base
import PostgresStore
import RideCore

/// The routes of the admin server under `/v1`: see docs/api.md and docs/openapi.yaml.
struct APIRoutes: Sendable {
  /// The apps that the service sends for.
  var apps: @Sendable () -> [App]
  /// The rules in use; nil if the service has none.
  var rules: @Sendable () -> RuleSet?
  var answer:
    @Sendable (
      _ call: String, _ arguments: String, _ key: String?, _ awaitedState: String?,
      _ trace: TraceParent?
    ) async throws -> APICallStore.Outcome
  var history: @Sendable (_ ride: String) async throws -> RideHistory
  var search: @Sendable (_ key: SearchKey) async throws -> SearchResult
  var deliveries: @Sendable (_ query: DeliveryQuery) async throws -> DeliveryPage
  /// Returns nil while another reload is in progress.
  var reload: @Sendable () async -> Reload.Outcome?

  var all: [Route] {
    APICall.all.map { call in
      Route(call.method, call.path, isWriting: true) { request in await write(request, call) }
    } + [
      // Histories and deliveries are for operators only.
      Route("GET", "/v1/rides/{id}/explain", isPrivate: true) {
        await explain($0.parameters["id"] ?? "")
      },
      Route("GET", "/v1/explain", isPrivate: true) { await search($0) },
      Route("GET", "/v1/deliveries", isPrivate: true) { await follow($0) },
      Route("POST", "/v1/reload", isWriting: true) { _ in
        ReloadAnswer.response(await reload())
      },
    ]
  }

  private func write(_ request: HTTPRequest, _ call: APICall) async -> HTTPResponse {
    await Self.response { () async throws -> HTTPResponse in
      let key = try IdempotencyKey.of(request)
      let apps = apps()
      let arguments = try call.arguments(of: request, apps: apps)
      if call == .push { try PushCheck.check(arguments) }
      if call == .events { try EventCheck.checkAddress(arguments, apps: apps) }
      let state = try call == .events ? awaitedState(arguments) : nil
      // A malformed one concerns the caller's tracing, not the call.
      let trace = request.headers["traceparent"].flatMap { TraceParent($0) }
      switch try await answer(call.name, JSONValue.object(arguments).text, key, state, trace) {
      case .answered(let status, let body, let isReplayed):
        var response = HTTPResponse.json(status, body)
        if isReplayed { response.headers["Idempotency-Replayed"] = "true" }
        return response
      case .isUnderWay:
        throw APIError(
          .requestInProgress,
          "the first request of this Idempotency-Key is in progress; repeat this one in a moment")
      case .isOfAnotherRequest:
        throw APIError(
          .idempotencyKeyReused,
          "this Idempotency-Key was used for another request; make a new key for each new one")
      case .isInOtherState(let current):
        throw EventCheck.wrongState(awaited: state ?? "", current: current)
      case .hasNoRide:
        throw EventCheck.noRide(awaited: state ?? "")
      }
    }
  }

  /// Returns the state that the ride of a posted event must be in; nil for any.
  private func awaitedState(_ arguments: [String: JSONValue]) throws(APIError) -> String? {
    guard let rules = rules(), case .string(let event) = arguments["event"] else { return nil }
    let state = try EventCheck.awaitedState(event, by: rules)
    if let state, arguments["ride_id"] == nil { throw EventCheck.lacksRide(awaited: state) }
    return state
  }

  private func explain(_ id: String) async -> HTTPResponse {
    await Self.response { () async throws -> HTTPResponse in
      _ = try APIField("id", .word).checked(.string(id), apps: apps())
      let history = try await history(id)
      if history.isEmpty { throw APIError(.unknownRide, "nothing is recorded about this ride") }
      return .json(200, RideReport(history, of: id).json)
    }
  }

  private func search(_ request: HTTPRequest) async -> HTTPResponse {
    await Self.response { () async throws -> HTTPResponse in
      let query = try SearchQuery(request.query)
      let result = try await search(query.key)
      if result.isEmpty { throw APIError(.notRecorded, query.absence) }
      return .json(200, SearchReport(result).json)
    }
  }

  private func follow(_ request: HTTPRequest) async -> HTTPResponse {
    await Self.response { () async throws -> HTTPResponse in
      let query = try DeliveryQuery(request.query)
      do {
        return .json(200, try await deliveries(query).json)
      } catch let error as PostgresError where error.server?.sqlState == "22023" {
        throw DeliveryQuery.notACursor
      } catch let error as PostgresError where error.server?.sqlState == "55000" {
        throw DeliveryQuery.lost
      }
    }
  }

  private static func response(
    _ body: () async throws -> HTTPResponse
  ) async -> HTTPResponse {
    do {
      return try await body()
    } catch let error as APIError {
      return error.response
    } catch let error as PostgresError {
      return APIError(error).response
    } catch {
      return APIError(.databaseNotReady, "the service can't do this now: \(error)").response
    }
  }
}

// An extension, so that the memberwise initializer stays.
extension APIRoutes {
  init(_ service: Service, _ reload: Reload) {
    self.init(
      apps: { service.apps }, rules: { service.rules },
      answer: { call, arguments, key, state, trace in
        try await service.pool.with(.call) { session in
          try await APICallStore(session: session)
            .answer(call, arguments, key: key, awaitedState: state, trace: trace)
        }
      },
      history: { try await service.history(of: $0) }, search: { try await service.search($0) },
      deliveries: { query in
        try await service.pool.with(.short) { try await DeliveryLog(session: $0).page(query) }
      }, reload: { await reload.performAlone() })
  }
}
