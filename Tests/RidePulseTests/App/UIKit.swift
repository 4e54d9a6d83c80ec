// UIKit as far as docs/app/RidePulseApp.swift uses it.
import ActivityKit

@MainActor public final class UIApplication {
  public struct LaunchOptionsKey: Hashable, Sendable {}

  public static let shared = UIApplication()

  public func registerForRemoteNotifications() { System.hasAskedForTokens = true }
}

// On iOS these are optional; required here, they hold the app's signatures to Apple's.
@MainActor public protocol UIApplicationDelegate: AnyObject {
  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool
  func application(
    _ application: UIApplication,
    didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
  )
}

@MainActor public final class UIDevice {
  public static let current = UIDevice()

  public var identifierForVendor: UUID? { UUID(uuidString: "0E1F2A3B-0000-4000-8000-000000000001") }
}
