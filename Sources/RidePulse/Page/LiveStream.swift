import AdminServer
import PostgresStore
import RideCore
import Synchronization

/// Tells all who listen, each second, how the service stands. While nobody does it does not run.
final class LiveStream: Sendable {
  private struct State {
    var isRunning = false
    var window = LiveWindow()
    var database = LiveMessage.Database.unknown
    var isAsking = false
    var askAt: Duration = .zero
  }

  /// A person with a page open at some desks; others are told to come later.
  static let listenerLimit = 16
  private static let keepalive: Duration = .seconds(1)
  /// The database is asked this often at most, for all who listen together, and less often where
  /// its answer takes long: it spends no more than a tenth of its time on this.
  private static let rest: Duration = .seconds(3)
  private static let share = 10

  private let feed = EventFeed(limit: listenerLimit)
  private let state = Mutex(State())
  private let service: Service
  private let start = ContinuousClock.now

  init(_ service: Service) {
    self.service = service
  }

  /// Takes one more listener.
  func answer() -> HTTPResponse {
    feed.response { begin() }
  }

  /// Ends all streams at once.
  func close() { feed.end() }

  private func begin() {
    let wasRunning = state.withLock { state in
      defer { state.isRunning = true }
      // What the database said when somebody listened last may be of yesterday.
      if !state.isRunning { state.database = .unknown }
      return state.isRunning
    }
    if wasRunning { return }
    Task { await run() }
  }

  private func run() async {
    while goesOn() {
      askDatabase()
      feed.publish(message())
      // Woken by nothing: a stop ends the process, whoever sleeps here.
      try? await Task.sleep(for: Self.keepalive)
    }
  }

  /// Asked and answered under one lock, so that no listener comes between the question and the end.
  private func goesOn() -> Bool {
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
      now: service.now, node: service.node, reading: reading, change: change, database: database
    ).json
  }

  /// Beside the beat: a database that does not answer must not silence the page.
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
      // Not with the next beat: who has just opened the page looks at empty figures.
      feed.publish(message())
    }
  }

  private func read() async -> LiveMessage.Database {
    do {
      let session = try await service.admin.get()
      let states = try await RideStates.read(session)
      return .answers(try await RideGauges.read(session), states)
    } catch {
      return .silent
    }
  }
}
