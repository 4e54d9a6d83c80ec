/// The pushes of one app in one APNs environment.
package struct PushLane: Hashable, Sendable {
  package var environment: APNsEnvironment
  package var app: App

  /// Whether it is that of a receiver of posts, which APNs has no part in.
  package var isOfPosts: Bool { app.rawValue.hasPrefix(PostAddress.lanePrefix) }

  package init(environment: APNsEnvironment, app: App) {
    self.environment = environment
    self.app = app
  }
}
