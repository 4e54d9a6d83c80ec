import AdminServer
import PostgresStore
import RideCore

/// The routes of the admin server under `/v1`: see docs/api.md and docs/openapi.yaml.
struct APIRoutes: Sendable {
  var apps: [App]
  var answer:
    @Sendable (_ call: String, _ arguments: String, _ key: String?) async throws ->
      APICallStore.Outcome
  var history: @Sendable (_ ride: String) async throws -> RideHistory

  var all: [Route] {
    APICall.all.map { call in
      Route("POST", call.path, isWriting: true) { request in await post(request, call) }
    } + [
      // A ride's history is for operators only.
      Route("GET", "/v1/rides/{id}/explain", isPrivate: true) {
        await explain($0.parameters["id"] ?? "")
      }
    ]
  }

  private func post(_ request: HTTPRequest, _ call: APICall) async -> HTTPResponse {
    await Self.response { () async throws -> HTTPResponse in
      let key = try IdempotencyKey.of(request)
      let arguments = try call.arguments(APIBody.members(of: request), apps: apps)
      switch try await answer(call.name, JSONValue.object(arguments).text, key) {
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
      }
    }
  }

  private func explain(_ id: String) async -> HTTPResponse {
    await Self.response { () async throws -> HTTPResponse in
      let history = try await history(id)
      if history.isEmpty { throw APIError(.unknownRide, "nothing is recorded about this ride") }
      return .json(200, RideReport(history, of: id).json)
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
  init(_ service: Service) {
    self.init(
      apps: service.apps,
      answer: { call, arguments, key in
        try await service.callers.with { session in
          try await APICallStore(session: session).answer(call, arguments, key: key)
        }
      },
      history: { try await service.history(of: $0) })
  }
}

extension APIError {
  /// Creates the response for a call that failed in Postgres.
  init(_ error: PostgresError) {
    if error.mayHaveCommitted {
      self.init(
        .unknownOutcome,
        "the database's answer was lost, so this may be done or not; repeat it with its Idempotency-Key"
      )
    } else if error.isTransient {
      self.init(
        .databaseUnavailable, "the database does not answer; nothing was done, repeat it later")
    } else if let server = error.server, Self.isOfValues(server.sqlState) {
      // The description quotes no value.
      self.init(.refused, "Postgres refuses this: \(server)")
    } else if error.refusesRights {
      self.init(
        .databaseNotReady,
        "the service's role lacks a right in Postgres; nothing was done. ridepulse doctor names it"
      )
    } else {
      self.init(
        .databaseNotReady, "the service can't do this with its database now: \(error)")
    }
  }

  /// Returns whether the state is an error of the caller's values: a wrong type, a violated
  /// constraint, an exceeded limit, or an error raised by a trigger.
  private static func isOfValues(_ state: String) -> Bool {
    ["22", "23", "54", "P0"].contains(state.prefix(2))
  }
}

/// The database session of read requests over HTTP.
///
/// It is opened at the first request, so that a service without requests has none, and is separate
/// from the engine's sessions, so that no query delays a push.
actor AdminSession {
  private let conninfo: String
  private var session: PostgresSession?

  init(conninfo: String) {
    self.conninfo = conninfo
  }

  func get() throws -> PostgresSession {
    if let session { return session }
    let opened = try PostgresSession(conninfo: conninfo, applicationName: "ridepulse admin")
    session = opened
    return opened
  }

  func close() async {
    await session?.close(limit: .seconds(1))
    session = nil
  }
}

/// The database sessions of writing calls over HTTP.
///
/// They are separate from the engine's sessions and from those of read requests: a call that waits
/// for a locked row delays only a few other calls, and no push.
actor APISessions {
  private let sessions: [AdminSession]
  private var callers: [Int]

  /// Creates `count` sessions, each opened when it is first needed.
  init(conninfo: String, count: Int = 4) {
    sessions = (0..<count).map { _ in AdminSession(conninfo: conninfo) }
    callers = sessions.map { _ in 0 }
  }

  /// Runs `body` with the session that has the fewest callers. Ties go to the first session, so
  /// that a quiet service opens only one.
  func with<Value: Sendable>(
    _ body: @Sendable (PostgresSession) async throws -> Value
  ) async throws -> Value {
    let index = callers.indices.min { (callers[$0], $0) < (callers[$1], $1) } ?? 0
    callers[index] += 1
    defer { callers[index] -= 1 }
    return try await body(try await sessions[index].get())
  }

  func close() async {
    await withTaskGroup { group in
      for session in sessions { group.addTask { await session.close() } }
    }
  }
}
