// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// ActivityKit as far as the kit uses it, with the signatures of Apple's documentation and no more Sendable than it
// has. A test in the place of iOS drives it through `System`.
public import Foundation

public protocol ActivityAttributes: Decodable, Encodable {
  associatedtype ContentState: Decodable, Encodable, Hashable
}

public enum ActivityState: Sendable { case active, pending, stale, ended, dismissed }

public struct ActivityContent<State> {
  public var state: State
  public var staleDate: Date?
  public var relevanceScore: Double

  public init(state: State, staleDate: Date?, relevanceScore: Double = 0) {
    (self.state, self.staleDate) = (state, staleDate)
    self.relevanceScore = relevanceScore
  }
}

public enum ActivityStyle { case standard, transient }

public struct AlertConfiguration {
  public struct AlertSound {
    public static var `default`: AlertSound { AlertSound() }
  }

  public init(title: LocalizedStringResource, body: LocalizedStringResource, sound: AlertSound) {}
}

// Foundation has it on Apple's systems only.
public struct LocalizedStringResource: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) {}
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
  public private(set) var activityState = ActivityState.active
  public private(set) var staleDate: Date?
  public private(set) var start: Date?
  public let passToken: (Data) -> Void
  public let passState: (ActivityState) -> Void

  public init(id: String, attributes: Attributes) {
    (self.id, self.attributes) = (id, attributes)
    (pushTokenUpdates, passToken) = Updates.make()
    (activityStateUpdates, passState) = Updates.make()
  }

  public static func request(
    attributes: Attributes, content: ActivityContent<ContentState>, pushType: PushType? = nil
  ) throws -> Activity<Attributes> {
    let activity = Activity(id: "activity-\(System.cards.count + 1)", attributes: attributes)
    activity.staleDate = content.staleDate
    System.cards.append(activity)
    return activity
  }

  public static func request(
    attributes: Attributes, content: ActivityContent<ContentState>, pushType: PushType? = nil,
    style: ActivityStyle, alertConfiguration: AlertConfiguration, start: Date
  ) throws -> Activity<Attributes> {
    let activity = try request(attributes: attributes, content: content, pushType: pushType)
    (activity.activityState, activity.start) = (.pending, start)
    return activity
  }

  public func end(
    _ content: ActivityContent<ContentState>?, dismissalPolicy: ActivityUIDismissalPolicy
  ) async {
    System.cards.removeAll { ($0 as? Activity)?.id == id }
    activityState = .dismissed
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
  public var frequentPushesEnabled: Bool { System.isFrequent }
  public var activityEnablementUpdates: Updates<Bool> { System.enablement.updates }
  public var frequentPushEnablementUpdates: Updates<Bool> { System.frequency.updates }
}

/// What iOS does, for the test that takes its place.
public enum System {
  nonisolated(unsafe) public static var cards: [Any] = []  // main thread only
  nonisolated(unsafe) public static var areCardsOn = true  // main thread only
  nonisolated(unsafe) public static var isFrequent = true  // main thread only
  nonisolated(unsafe) public static var passCard: (Any) -> Void = { _ in }  // main thread only
  nonisolated(unsafe) public static var hasAskedForTokens = false  // main thread only
  nonisolated(unsafe) public static let startTokens = Updates<Data>.make()  // main thread only
  nonisolated(unsafe) public static let frequency = Updates<Bool>.make()  // main thread only
  nonisolated(unsafe) public static let enablement = Updates<Bool>.make()  // main thread only
}
