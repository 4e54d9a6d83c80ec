// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// UserNotifications as far as the kit uses it, with the signatures of Apple's documentation.
public import Foundation

public struct UNAuthorizationOptions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let badge = UNAuthorizationOptions(rawValue: 1)
  public static let sound = UNAuthorizationOptions(rawValue: 2)
  public static let alert = UNAuthorizationOptions(rawValue: 4)
}

public enum UNAuthorizationStatus: Int, Sendable {
  case notDetermined, denied, authorized, provisional, ephemeral
}

// Not Sendable: the SDK may have it so.
public class UNNotificationSettings {
  public let authorizationStatus = NotificationSystem.status
}

public struct UNNotificationActionOptions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let authenticationRequired = UNNotificationActionOptions(rawValue: 1)
  public static let destructive = UNNotificationActionOptions(rawValue: 2)
  public static let foreground = UNNotificationActionOptions(rawValue: 4)
}

public struct UNNotificationCategoryOptions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) { self.rawValue = rawValue }
}

public class UNNotificationAction: NSObject {
  public let identifier: String
  public let title: String

  public init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
    (self.identifier, self.title) = (identifier, title)
  }
}

public class UNNotificationCategory: NSObject {
  public let identifier: String
  public let actions: [UNNotificationAction]

  public init(
    identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
    options: UNNotificationCategoryOptions = []
  ) { (self.identifier, self.actions) = (identifier, actions) }
}

/// What the person and iOS do, for the test that takes their place, on the main thread.
public enum NotificationSystem {
  nonisolated(unsafe) public static var status = UNAuthorizationStatus.authorized
  nonisolated(unsafe) public static var hasAsked = false
  nonisolated(unsafe) public static var categories: Set<UNNotificationCategory> = []
}

public struct UNNotificationPresentationOptions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let sound = UNNotificationPresentationOptions(rawValue: 2)
  public static let banner = UNNotificationPresentationOptions(rawValue: 16)
}

public protocol UNUserNotificationCenterDelegate: AnyObject {
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification
  ) async -> UNNotificationPresentationOptions
}

public final class UNUserNotificationCenter: @unchecked Sendable {  // set once, at launch
  private static let shared = UNUserNotificationCenter()
  public weak var delegate: (any UNUserNotificationCenterDelegate)?

  public static func current() -> UNUserNotificationCenter { shared }

  public func requestAuthorization(options: UNAuthorizationOptions) async throws -> Bool {
    NotificationSystem.hasAsked = true
    NotificationSystem.status = .authorized
    return true
  }

  public func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
    NotificationSystem.categories = categories
  }

  public func getNotificationCategories(
    completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void
  ) { completionHandler(NotificationSystem.categories) }

  public func notificationSettings() async -> UNNotificationSettings { UNNotificationSettings() }
}

open class UNNotificationContent: NSObject {
  public let userInfo: [AnyHashable: Any]

  public init(userInfo: [AnyHashable: Any]) { self.userInfo = userInfo }

  open override func mutableCopy() -> Any { UNMutableNotificationContent(userInfo: userInfo) }
}

public final class UNMutableNotificationContent: UNNotificationContent {
  public var body = ""
}

public final class UNNotificationRequest: NSObject {
  public let content: UNNotificationContent

  public init(content: UNNotificationContent) { self.content = content }
}

public final class UNNotification: NSObject {
  public let request: UNNotificationRequest

  public init(request: UNNotificationRequest) { self.request = request }
}

open class UNNotificationServiceExtension: NSObject {
  open func didReceive(
    _ request: UNNotificationRequest,
    withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {}

  open func serviceExtensionTimeWillExpire() {}
}
