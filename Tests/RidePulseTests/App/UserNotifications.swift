// UserNotifications as far as docs/app/RidePulseApp.swift uses it.
public struct UNAuthorizationOptions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let badge = UNAuthorizationOptions(rawValue: 1)
  public static let sound = UNAuthorizationOptions(rawValue: 2)
  public static let alert = UNAuthorizationOptions(rawValue: 4)
}

public final class UNUserNotificationCenter: Sendable {
  private static let shared = UNUserNotificationCenter()

  public static func current() -> UNUserNotificationCenter { shared }

  public func requestAuthorization(options: UNAuthorizationOptions) async throws -> Bool { true }
}
