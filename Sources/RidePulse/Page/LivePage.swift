import AdminServer
import Base
import Orchestrator
import Page
import PostgresStore
import RideCore
import Synchronization

/// Serves the page at `/`, and the requests of its script.
///
/// Only a ride's history may need a token: see docs/page.md.
final class LivePage: Sendable {
  private let service: Service
  private let stream: LiveStream
  private let timeline, cards: AnswerCache

  init(_ service: Service) {
    self.service = service
    stream = LiveStream(service)
    timeline = AnswerCache(freshness: TimelineAnswer.freshness) {
      try await TimelineAnswer.make(service.pool, service.engine.configuration)
    }
    cards = AnswerCache(freshness: CardUsageAnswer.freshness) {
      try await CardUsageAnswer.make(service.pool, service.rules)
    }
  }

  var routes: [Route] {
    PageFile.routes + [
      Route("GET", "/live") { [stream] _ in stream.answer() },
      Route("GET", "/timeline") { [timeline] _ in await Self.answer(timeline) },
      Route("GET", "/cards") { [cards] _ in await Self.answer(cards) },
      Route("GET", "/ride", isPrivate: true) { [service] request in
        await Self.ride(request, service)
      },
    ]
  }

  func close() { stream.close() }

  private static func answer(_ cache: AnswerCache) async -> HTTPResponse {
    do {
      return json(try await cache.json())
    } catch let error as APIError {
      return .text(error.code.status, error.message)
    } catch {
      return noAnswer
    }
  }

  private static func ride(_ request: HTTPRequest, _ service: Service) async -> HTTPResponse {
    guard let id = request.query["id"], !id.isEmpty else {
      return .text(400, "id is missing; use /ride?id=RIDE")
    }
    do {
      let (history, source) = try await service.recordedHistory(of: id)
      if history.isEmpty { return .text(404, "nothing is recorded about this ride") }
      let screens = RideScreensReport(
        history, of: id, source, by: service.engine.configuration)
      return json(RideReport(history, of: id).json(with: ["screens": screens.json]).json)
    } catch let error as APIError {
      return .text(error.code.status, error.message)
    } catch {
      return noAnswer
    }
  }

  private static var noAnswer: HTTPResponse { .text(503, "the database does not answer") }

  private static func json(_ body: [UInt8]) -> HTTPResponse {
    var response = HTTPResponse.text(200, "")
    response.contentType = "application/json"
    response.headers = PageHeaders.all
    response.body = body
    return response
  }
}

/// Sends the service's state to all connected pages each second; it does not run while there are
/// none.
final class LiveStream: Sendable {
  private struct State {
    var isRunning = false
    var window = LiveWindow()
    var database = LiveMessage.Database.unknown
    var isAsking = false
    var askAt: Duration = .zero
  }

  /// Enough for a few people with open pages; further clients have to retry later.
  static let listenerLimit = 16
  private static let keepalive: Duration = .seconds(1)
  /// The minimum pause between queries to the database, which all listeners share. The pause is
  /// longer if an answer takes long, so that at most a tenth of the time is spent on queries.
  private static let rest: Duration = .seconds(3)
  private static let share = 10

  private let feed = EventFeed(limit: listenerLimit)
  private let state = Mutex(State())
  private let service: Service
  private let start = ContinuousClock.now

  init(_ service: Service) {
    self.service = service
  }

  func answer() -> HTTPResponse {
    feed.response { begin() }
  }

  func close() { feed.end() }

  private func begin() {
    let wasRunning = state.withLock { state in
      defer { state.isRunning = true }
      // The last answer may be old if there was no listener for some time.
      if !state.isRunning { state.database = .unknown }
      return state.isRunning
    }
    if wasRunning { return }
    Task { await run() }
  }

  private func run() async {
    while continues() {
      askDatabase()
      feed.publish(message())
      // Nothing wakes this sleep: stopping the service ends the process anyway.
      try? await Task.sleep(for: Self.keepalive)
    }
  }

  /// Checks and updates under one lock, so that no listener is added between the check and the end.
  private func continues() -> Bool {
    state.withLock { state in
      state.isRunning = feed.listenerCount > 0
      return state.isRunning
    }
  }

  private var uptime: Duration { ContinuousClock.now - start }

  private func message() -> [UInt8] {
    let reading = service.reading(nil)
    let (change, database) = state.withLock { state in
      state.window.add(reading.tally, at: uptime)
      return (state.window.change, state.database)
    }
    return LiveMessage(
      now: service.now, node: service.node, cell: service.cell.name, reading: reading,
      change: change, database: database
    ).json
  }

  /// Queries concurrently with the messages: a database that does not answer must not stop the
  /// page.
  private func askDatabase() {
    let isDue = state.withLock { state in
      guard !state.isAsking, uptime >= state.askAt else { return false }
      state.isAsking = true
      return true
    }
    if !isDue { return }
    Task {
      let began = uptime
      let answer = await read()
      let took = uptime - began
      state.withLock { state in
        state.isAsking = false
        state.askAt = uptime + max(Self.rest, took * Self.share)
        state.database = answer
      }
      // Sent at once and not with the next message, since a page that was just opened has no
      // figures yet.
      feed.publish(message())
    }
  }

  private func read() async -> LiveMessage.Database {
    do {
      return try await service.pool.with(.short) { session in
        let states = try await RideStates.read(session)
        return .answers(try await RideGauges.read(session), states)
      }
    } catch {
      return .silent
    }
  }
}
