// UIKit as far as docs/app/RidePulseApp.swift uses it.
import ActivityKit

@MainActor package final class UIApplication {
  package struct LaunchOptionsKey: Hashable, Sendable {}

  package static let shared = UIApplication()

  package func registerForRemoteNotifications() { System.hasAskedForTokens = true }
}

// On iOS these are optional; required here, they hold the app's signatures to Apple's.
@MainActor package protocol UIApplicationDelegate: AnyObject {
  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool
  func application(
    _ application: UIApplication,
    didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
  )
}

@MainActor package final class UIDevice {
  package static let current = UIDevice()

  package var identifierForVendor: UUID? {
    UUID(uuidString: "0E1F2A3B-0000-4000-8000-000000000001")
  }
}
