#if canImport(UserNotifications) && canImport(UIKit)
  import Foundation
  public import UserNotifications

  /// The base class of the app's notification service extension: reports `seen` for alerts of rules with
  /// `mutable-content` or `escalate`, then displays them.
  open class RideServiceExtension: UNNotificationServiceExtension {
    private var shown: Shown?

    /// Returns the configuration, with the folder of the App Group. Override it. If `authorization` returns
    /// nil here, the app reports the receipt when it runs next.
    open var configuration: KitConfiguration? { nil }

    /// Returns for how long an alert may wait for its receipt to be sent.
    open var patience: Duration { .seconds(3) }

    /// Changes the alert before it is displayed, for example to a text of the app. Override it if you wish.
    open func rewrite(_ content: UNMutableNotificationContent) {}

    /// Reports the receipt and displays the alert.
    open override func didReceive(
      _ request: UNNotificationRequest,
      withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
      let content = request.content.mutableCopy() as? UNMutableNotificationContent
      if let content { rewrite(content) }
      let shown = Shown(content: content ?? request.content, show: contentHandler)
      self.shown = shown
      guard let configuration, let id = request.content.userInfo["apns_id"] as? String else {
        return shown.display()
      }
      let patience = patience
      Task { @MainActor in
        await ReceiptReporter(configuration).report(id, within: patience)
        shown.display()
      }
    }

    /// Displays the alert before iOS ends the extension.
    open override func serviceExtensionTimeWillExpire() { shown?.display() }
  }

  // iOS passes the handler to be called once from any thread, and the content is not changed any more.
  private final class Shown: @unchecked Sendable {
    private let content: UNNotificationContent
    private let lock = NSLock()
    private var show: ((UNNotificationContent) -> Void)?

    init(content: UNNotificationContent, show: @escaping (UNNotificationContent) -> Void) {
      (self.content, self.show) = (content, show)
    }

    func display() {
      lock.lock()
      let handler = show
      show = nil
      lock.unlock()
      handler?(content)
    }
  }
#endif
