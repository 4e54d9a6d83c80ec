import Base
import Orchestrator
import PostgresStore
import PushClient
import RideCore
import Synchronization

/// Creates the channels that rides need, and deletes those whose cards have ended.
///
/// Pending needs are kept in memory only: a ride repeats its need, and the database records which
/// channels have ended.
final class ChannelReconciler: Sendable {
  private struct Need: Hashable {
    var ride: RideID
    var app: App
    var storage: ChannelStorage
  }

  /// The apps, which SIGHUP may add to.
  private struct Settings {
    var scopes: [App: ChannelScope]
    var pin: DatabasePin
  }

  private struct State {
    var needs: [Need] = []
    var known: Set<Need> = []
    /// Whether there are, or may be, channels to delete.
    var hasEnded = false
    /// Time of the last search for ended channels that this node was not notified of; nil before
    /// the first.
    var auditedAt: ContinuousClock.Instant?
  }

  private let pool: SessionPool
  private let client: ChannelClient
  private let log: Log
  /// There are, or may be, channels to create or to delete.
  let signal = AsyncSignal()
  private let state = Mutex(State())
  private let settings: Mutex<Settings>
  private let unreported = Mutex<@Sendable () -> Void>({})

  /// Called if a ride was locked, so that its channel ID is not written yet. Must not block.
  var onUnreported: @Sendable () -> Void {
    get { unreported.withLock { $0 } }
    set { unreported.withLock { $0 = newValue } }
  }

  /// The interval between searches for channels that ended on a node that died.
  static let auditInterval: Duration = .seconds(3600)

  /// The maximum number of needs kept, and of channels deleted per pass.
  static let batch = 1000

  init(
    pool: SessionPool, client: ChannelClient, scopes: [App: ChannelScope], pin: DatabasePin,
    log: Log
  ) {
    self.pool = pool
    self.client = client
    settings = Mutex(Settings(scopes: scopes, pin: pin))
    self.log = log
  }

  /// Replaces the apps, with the rules that name them.
  func use(_ scopes: [App: ChannelScope], _ pin: DatabasePin) {
    settings.withLock { $0 = Settings(scopes: scopes, pin: pin) }
  }

  /// Records the channel needs of these settlements. Returns at once.
  func handle(_ settlements: [Settlement]) {
    var needs: [Need] = []
    for settlement in settlements {
      for need in settlement.needs {
        needs.append(Need(ride: settlement.rideID, app: need.app, storage: need.storage))
      }
    }
    if needs.isEmpty { return }
    state.withLock { state in
      for need in needs where state.needs.count < Self.batch {
        if state.known.insert(need).inserted { state.needs.append(need) }
      }
    }
    signal.notify()
  }

  /// Records that the database contains ended channels. Returns at once.
  func ended() {
    state.withLock { $0.hasEnded = true }
    signal.notify()
  }

  /// Creates and deletes channels once, as rides need them.
  func reconcile() async throws {
    let (needs, hasEnded) = state.withLock { state in
      let now = ContinuousClock.now
      let isAuditDue = state.auditedAt.map { now - $0 >= Self.auditInterval } ?? true
      let todo = (state.needs, state.hasEnded || isAuditDue)
      state = State(auditedAt: isAuditDue ? now : state.auditedAt)
      return todo
    }
    if needs.isEmpty, !hasEnded { return }
    let (scopes, pin) = settings.withLock { ($0.scopes, $0.pin) }
    do {
      try await pool.with(.short) { session in
        // To a copy of the database, the channels of its origin would look like leaked ones. The
        // engine logs the problem; rides repeat their needs.
        guard try await pin.problems(session).isEmpty else {
          return state.withLock { $0.hasEnded = $0.hasEnded || hasEnded }
        }
        let service = ChannelService(
          client: client, repository: ChannelRepository(session: session))
        await make(needs, in: scopes, service)
        if hasEnded { await deleteEnded(in: Set(scopes.values), service) }
      }
    } catch {
      state.withLock { $0.hasEnded = $0.hasEnded || hasEnded }
      throw error
    }
  }

  private func make(
    _ needs: [Need], in scopes: [App: ChannelScope], _ service: ChannelService
  ) async {
    for (app, needs) in Dictionary(grouping: needs, by: \.app) {
      guard let scope = scopes[app] else { continue }
      do {
        _ = try await service.audit(in: scope)
      } catch {
        // Rides repeat their needs.
        log(.warning, .channelsNotListed, ["app": "\(app)", "error": "\(error)"])
        continue
      }
      for need in needs { await make(need, in: scope, service) }
    }
  }

  private func make(_ need: Need, in scope: ChannelScope, _ service: ChannelService) async {
    var newChannel = NewChannel(
      app: need.app, scope: scope, storage: need.storage, rideID: need.ride,
      requestID: ChannelService.newRequestID())
    newChannel.isAwaited = true
    do {
      if let made = try await service.createAudited(newChannel), made.isNew {
        log(.info, .channelCreated, ["ride": need.ride.text, "channel": "\(made.channel)"])
        if !made.isReported { onUnreported() }
      }
    } catch {
      log(.warning, .channelNotCreated, ["ride": need.ride.text, "error": "\(error)"])
    }
  }

  private func deleteEnded(in scopes: Set<ChannelScope>, _ service: ChannelService) async {
    for scope in scopes {
      do {
        for row in try await service.repository.toDelete(in: scope, atMost: Self.batch) {
          guard let channel = row.channel else { continue }
          _ = try await service.delete(channel, in: scope)
          try await service.repository.deleted(row.id)
          log(.info, .channelDeleted, ["ride": row.rideID?.text ?? "", "channel": "\(channel)"])
        }
      } catch {
        log(.warning, .channelNotDeleted, ["app": scope.bundleID, "error": "\(error)"])
        state.withLock { $0.hasEnded = true }
      }
    }
  }
}
