/// The pushes of one app in one APNs environment.
package struct PushLane: Hashable, Sendable {
  package var environment: APNsEnvironment
  package var app: App

  package init(environment: APNsEnvironment, app: App) {
    self.environment = environment
    self.app = app
  }
}
