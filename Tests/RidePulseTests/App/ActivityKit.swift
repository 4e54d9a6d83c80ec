// ActivityKit as far as docs/app/RidePulseApp.swift uses it, with Apple's names and no more Sendable than
// Apple documents. A test in the place of iOS drives it through `System`.
@_exported import Foundation
// URLSession is a part of Foundation on iOS.
@_exported import FoundationNetworking

package protocol ActivityAttributes: Decodable, Encodable {
  associatedtype ContentState: Decodable, Encodable, Hashable
}

package enum ActivityState: Sendable { case active, pending, stale, ended, dismissed }

package struct ActivityContent<State> {
  package var state: State
  package var staleDate: Date?

  package init(state: State, staleDate: Date?) {
    (self.state, self.staleDate) = (state, staleDate)
  }
}

package struct PushType { package static var token: PushType { PushType() } }

package struct ActivityUIDismissalPolicy {
  package static var immediate: ActivityUIDismissalPolicy { ActivityUIDismissalPolicy() }
}

/// A value that this stand passes between threads, as the system does.
struct Passed<Value>: @unchecked Sendable { let value: Value }

/// A sequence that is not Sendable, as ActivityKit's are not.
package struct Updates<Element>: AsyncSequence {
  let stream: AsyncStream<Passed<Element>>

  static func make() -> (updates: Updates, pass: (Element) -> Void) {
    let (stream, continuation) = AsyncStream.makeStream(of: Passed<Element>.self)
    return (Updates(stream: stream), { continuation.yield(Passed(value: $0)) })
  }

  package struct AsyncIterator: AsyncIteratorProtocol {
    var inner: AsyncStream<Passed<Element>>.AsyncIterator

    package mutating func next() async -> Element? { await inner.next()?.value }
  }

  package func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(inner: stream.makeAsyncIterator())
  }
}

package class Activity<Attributes> where Attributes: ActivityAttributes {
  package typealias ContentState = Attributes.ContentState

  package let id: String
  package let attributes: Attributes
  package let pushTokenUpdates: Updates<Data>
  package let activityStateUpdates: Updates<ActivityState>
  package let passToken: (Data) -> Void
  package let passState: (ActivityState) -> Void

  package init(id: String, attributes: Attributes) {
    (self.id, self.attributes) = (id, attributes)
    (pushTokenUpdates, passToken) = Updates.make()
    (activityStateUpdates, passState) = Updates.make()
  }

  package static func request(
    attributes: Attributes, content: ActivityContent<ContentState>, pushType: PushType?
  ) throws -> Activity<Attributes> {
    let activity = Activity(id: "activity-\(System.cards.count + 1)", attributes: attributes)
    System.cards.append(activity)
    return activity
  }

  package func end(
    _ content: ActivityContent<ContentState>?, dismissalPolicy: ActivityUIDismissalPolicy
  ) async {
    System.cards.removeAll { ($0 as? Activity)?.id == id }
    passState(.dismissed)
  }

  package static var activities: [Activity<Attributes>] {
    System.cards.compactMap { $0 as? Activity<Attributes> }
  }
  package static var activityUpdates: Updates<Activity<Attributes>> {
    let (updates, pass) = Updates<Activity<Attributes>>.make()
    System.passCard = { if let card = $0 as? Activity<Attributes> { pass(card) } }
    return updates
  }
  package static var pushToStartToken: Data? { nil }
  package static var pushToStartTokenUpdates: Updates<Data> {
    System.startTokens.updates
  }
}

package final class ActivityAuthorizationInfo {
  package init() {}

  package var areActivitiesEnabled: Bool { System.areCardsOn }
  package var frequentPushesEnabled: Bool { true }
  package var activityEnablementUpdates: Updates<Bool> { System.enablement.updates }
}

/// What iOS does, for the test that takes its place.
package enum System {
  nonisolated(unsafe) package static var cards: [Any] = []  // main thread only
  nonisolated(unsafe) package static var areCardsOn = true  // main thread only
  nonisolated(unsafe) package static var passCard: (Any) -> Void = { _ in }  // main thread only
  nonisolated(unsafe) package static var hasAskedForTokens = false  // main thread only
  nonisolated(unsafe) package static let startTokens = Updates<Data>.make()  // main thread only
  nonisolated(unsafe) package static let enablement = Updates<Bool>.make()  // main thread only
}
