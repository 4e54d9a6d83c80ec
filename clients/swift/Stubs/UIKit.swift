// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// UIKit as far as the kit uses it.
import ActivityKit
public import Foundation

@MainActor public final class UIApplication {
  public struct LaunchOptionsKey: Hashable, Sendable {}

  public static let shared = UIApplication()

  public func registerForRemoteNotifications() { System.hasAskedForTokens = true }
}

public enum UIBackgroundFetchResult: Sendable { case newData, noData, failed }

// On iOS these are optional; required here, they hold the app's signatures to Apple's.
@MainActor public protocol UIApplicationDelegate: AnyObject {
  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool
  func application(
    _ application: UIApplication,
    didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
  func application(
    _ application: UIApplication,
    didFailToRegisterForRemoteNotificationsWithError error: any Error)
  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
  ) async -> UIBackgroundFetchResult
  func applicationDidBecomeActive(_ application: UIApplication)
}

@MainActor public final class UIDevice {
  public static let current = UIDevice()

  public var identifierForVendor: UUID? {
    UUID(uuidString: "0E1F2A3B-0000-4000-8000-000000000001")
  }
}

extension FileManager {
  // A part of Foundation on iOS.
  public func containerURL(forSecurityApplicationGroupIdentifier group: String) -> URL? {
    temporaryDirectory.appendingPathComponent(group)
  }
}
