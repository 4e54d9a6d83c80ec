// ActivityKit as far as docs/app/RidePulseApp.swift uses it, with Apple's names and no more Sendable than
// Apple documents. A test in the place of iOS drives it through `System`.
@_exported import Foundation
// URLSession is a part of Foundation on iOS.
@_exported import FoundationNetworking

public protocol ActivityAttributes: Decodable, Encodable {
  associatedtype ContentState: Decodable, Encodable, Hashable
}

public enum ActivityState: Sendable { case active, pending, stale, ended, dismissed }

public struct ActivityContent<State> {
  public var state: State
  public var staleDate: Date?

  public init(state: State, staleDate: Date?) {
    (self.state, self.staleDate) = (state, staleDate)
  }
}

public struct PushType { public static var token: PushType { PushType() } }

public struct ActivityUIDismissalPolicy {
  public static var immediate: ActivityUIDismissalPolicy { ActivityUIDismissalPolicy() }
}

/// A value that this stand passes between threads, as the system does.
struct Passed<Value>: @unchecked Sendable { let value: Value }

/// A sequence that is not Sendable, as ActivityKit's are not.
public struct Updates<Element>: AsyncSequence {
  let stream: AsyncStream<Passed<Element>>

  static func make() -> (updates: Updates, pass: (Element) -> Void) {
    let (stream, continuation) = AsyncStream.makeStream(of: Passed<Element>.self)
    return (Updates(stream: stream), { continuation.yield(Passed(value: $0)) })
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    var inner: AsyncStream<Passed<Element>>.AsyncIterator

    public mutating func next() async -> Element? { await inner.next()?.value }
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(inner: stream.makeAsyncIterator())
  }
}

public class Activity<Attributes> where Attributes: ActivityAttributes {
  public typealias ContentState = Attributes.ContentState

  public let id: String
  public let attributes: Attributes
  public let pushTokenUpdates: Updates<Data>
  public let activityStateUpdates: Updates<ActivityState>
  public let passToken: (Data) -> Void
  public let passState: (ActivityState) -> Void

  public init(id: String, attributes: Attributes) {
    (self.id, self.attributes) = (id, attributes)
    (pushTokenUpdates, passToken) = Updates.make()
    (activityStateUpdates, passState) = Updates.make()
  }

  public static func request(
    attributes: Attributes, content: ActivityContent<ContentState>, pushType: PushType?
  ) throws -> Activity<Attributes> {
    let activity = Activity(id: "activity-\(System.cards.count + 1)", attributes: attributes)
    System.cards.append(activity)
    return activity
  }

  public func end(
    _ content: ActivityContent<ContentState>?, dismissalPolicy: ActivityUIDismissalPolicy
  ) async {
    System.cards.removeAll { ($0 as? Activity)?.id == id }
    passState(.dismissed)
  }

  public static var activities: [Activity<Attributes>] {
    System.cards.compactMap { $0 as? Activity<Attributes> }
  }
  public static var activityUpdates: Updates<Activity<Attributes>> {
    let (updates, pass) = Updates<Activity<Attributes>>.make()
    System.passCard = { if let card = $0 as? Activity<Attributes> { pass(card) } }
    return updates
  }
  public static var pushToStartToken: Data? { nil }
  public static var pushToStartTokenUpdates: Updates<Data> {
    System.startTokens.updates
  }
}

public final class ActivityAuthorizationInfo {
  public init() {}

  public var areActivitiesEnabled: Bool { System.areCardsOn }
  public var frequentPushesEnabled: Bool { true }
  public var activityEnablementUpdates: Updates<Bool> { System.enablement.updates }
}

/// What iOS does, for the test that takes its place.
public enum System {
  nonisolated(unsafe) public static var cards: [Any] = []  // main thread only
  nonisolated(unsafe) public static var areCardsOn = true  // main thread only
  nonisolated(unsafe) public static var passCard: (Any) -> Void = { _ in }  // main thread only
  nonisolated(unsafe) public static var hasAskedForTokens = false  // main thread only
  nonisolated(unsafe) public static let startTokens = Updates<Data>.make()  // main thread only
  nonisolated(unsafe) public static let enablement = Updates<Bool>.make()  // main thread only
}
