package import Base
import Foundation
package import RideCore
import Synchronization
import SystemSupport

/// Creates, reads, lists and deletes broadcast channels at Apple.
///
/// Calls to one environment with one credential run one after another, each on a thread of its own.
/// Each ends within the request timeout. A repeatable call is repeated once if no answer arrived,
/// APNs was shutting down or the provider token had expired. A create is never repeated, because a
/// lost one may have made a channel.
package final class ChannelClient: Sendable {
  private let configuration: APNsConfiguration
  private let credentials: CredentialStore
  private let now: @Sendable () -> Timestamp
  private let senders = Mutex<[SenderName: ChannelSender]>([:])

  /// Calls with one credential to one environment share a connection.
  private struct SenderName: Hashable {
    var environment: APNsEnvironment
    var credential: Credential
  }

  /// Creates an independent client; if there is an `PushClient`, use its `channels()` instead.
  ///
  /// `now` is the wall clock used for signing tokens; it should be the service's own (the
  /// database's).
  package convenience init(
    configuration: APNsConfiguration, credentials: Credentials,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.init(configuration: configuration, credentials: CredentialStore(credentials), now: now)
  }

  init(
    configuration: APNsConfiguration, credentials: CredentialStore,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.configuration = configuration
    self.credentials = credentials
    self.now = now
  }

  /// Creates a channel; record the request before the call.
  ///
  /// - Throws: `ChannelError`; if `mayHaveTakenEffect` is true, a channel of unknown ID may exist.
  package func create(_ newChannel: NewChannel) async throws(ChannelError) -> ChannelID {
    let body =
      #"{"message-storage-policy":\#(newChannel.storage.policy),"push-type":"LiveActivity"}"#
    let request = ChannelRequest(
      method: "POST", path: try path("channels", newChannel.scope),
      requestID: newChannel.requestID.description, body: body, isRepeatable: false)
    let answer = try await perform(request, in: newChannel.scope)
    guard let id = answer.headers["apns-channel-id"].flatMap({ ChannelID($0) }) else {
      throw .unanswered("APNs answered \(answer.status) without a channel ID")
    }
    return id
  }

  /// Returns what a channel stores for phones that are offline.
  package func storage(
    of channel: ChannelID, in scope: ChannelScope
  ) async throws(ChannelError) -> ChannelStorage {
    let request = ChannelRequest(
      method: "GET", path: try path("channels", scope), requestID: Self.newRequestID(),
      channel: channel)
    let answer = try await perform(request, in: scope)
    guard
      case .integer(let policy) = JSONValue(json: answer.body)?
        .value(at: ["message-storage-policy"]),
      let storage = ChannelStorage(policy: policy)
    else { throw .unanswered("APNs answered \(answer.status) without a storage policy") }
    return storage
  }

  /// Deletes a channel permanently.
  package func delete(
    _ channel: ChannelID, in scope: ChannelScope
  ) async throws(ChannelError) {
    let request = ChannelRequest(
      method: "DELETE", path: try path("channels", scope), requestID: Self.newRequestID(),
      channel: channel)
    _ = try await perform(request, in: scope)
  }

  /// Returns all channels of the app in the environment, including those created by other tools.
  package func all(in scope: ChannelScope) async throws(ChannelError) -> [ChannelID] {
    let request = ChannelRequest(
      method: "GET", path: try path("all-channels", scope), requestID: Self.newRequestID())
    let answer = try await perform(request, in: scope)
    guard case .array(let values) = JSONValue(json: answer.body)?.value(at: ["channels"]) else {
      throw .unanswered("APNs answered \(answer.status) without a list of channels")
    }
    var ids: [ChannelID] = []
    for value in values {
      guard case .string(let text) = value, let id = ChannelID(text) else {
        throw .unanswered("APNs listed a channel that has no ID")
      }
      ids.append(id)
    }
    return ids
  }

  private func path(_ what: String, _ scope: ChannelScope) throws(ChannelError) -> String {
    guard scope.isPlain else {
      throw .unreachable("\"\(scope.bundleID)\" is not a bundle ID: expected com.example.app")
    }
    return "/1/apps/\(scope.bundleID)/\(what)"
  }

  private static func newRequestID() -> String { UUID().uuidString.lowercased() }

  // MARK: The thread

  private func perform(
    _ request: ChannelRequest, in scope: ChannelScope
  ) async throws(ChannelError) -> ChannelAnswer {
    let current = credentials.current
    guard let credential = current.forChannels(of: scope) else { throw .noCredential(scope) }
    let name = SenderName(environment: scope.environment, credential: credential)
    let sender = senders.withLock { senders in
      if let sender = senders[name] { return sender }
      // Those of replaced credentials end with their last call.
      senders = senders.filter {
        current.all(of: PushNetwork($0.key.environment)).contains($0.key.credential)
      }
      let sender = ChannelSender(
        endpoint: configuration.channels(of: scope.environment), configuration: configuration,
        authentication: credentials.authentication(with: credential), now: now)
      senders[name] = sender
      return sender
    }
    let deadline = MonotonicTime.now() + configuration.requestTimeout
    let result: Result<ChannelAnswer, ChannelError> = await withCheckedContinuation { done in
      let thread = WorkerThread { done.resume(returning: sender.answer(request, by: deadline)) }
      if let thread {
        thread.detach()
      } else {
        done.resume(returning: .failure(.unreachable("the system gives no more threads")))
      }
    }
    return try result.get()
  }
}

extension PushClient {
  /// Returns a client for broadcast channels that shares this client's credentials.
  package func channels() -> ChannelClient {
    ChannelClient(configuration: configuration, credentials: credentials, now: now)
  }
}
