// UserNotifications as far as docs/app/RidePulseApp.swift uses it.
package struct UNAuthorizationOptions: OptionSet, Sendable {
  package let rawValue: UInt

  package init(rawValue: UInt) { self.rawValue = rawValue }

  package static let badge = UNAuthorizationOptions(rawValue: 1)
  package static let sound = UNAuthorizationOptions(rawValue: 2)
  package static let alert = UNAuthorizationOptions(rawValue: 4)
}

package final class UNUserNotificationCenter: Sendable {
  private static let shared = UNUserNotificationCenter()

  package static func current() -> UNUserNotificationCenter { shared }

  package func requestAuthorization(options: UNAuthorizationOptions) async throws -> Bool { true }
}
