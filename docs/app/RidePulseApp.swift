import ActivityKit
import Foundation
import UIKit
import UserNotifications

/// Registers this phone, its start tokens and its cards with your backend. For iOS 17.2 and later, as
/// `@UIApplicationDelegateAdaptor(RidePulseApp.self) var rides` or as your own app delegate.
@MainActor
final class RidePulseApp: NSObject, UIApplicationDelegate {
  /// The app's name in the rule files, and what precedes `/v1/devices` at your backend.
  var (app, backend) = ("customer", "https://api.example.com/push")
  /// Returns the `Authorization` header of the session; nil without one.
  var authorization: () -> String? = { nil }

  private typealias Card = Activity<RideAttributes>
  private let permission = ActivityAuthorizationInfo()
  private var owner, phone, startToken: String?
  private var cards: [String: (ride: String, token: String)] = [:]
  private var watched: Set<String> = []
  private var lastCall: Task<Void, Never>?

  // iOS also launches the app in the background, to pass it the token of a card that was started.
  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    for card in Card.activities { watch(card) }
    Task { for await card in Card.activityUpdates { watch(card) } }
    startToken = Card.pushToStartToken.map(hexadecimal)
    Task {
      for await token in Card.pushToStartTokenUpdates {
        startToken = hexadecimal(token)
        registerStartToken()
      }
    }
    Task {
      for await isOn in permission.activityEnablementUpdates {
        if isOn { registerStartToken() }
        if !isOn, let startToken { call("DELETE", "/v1/push-to-start/\(app)/\(startToken)") }
      }
    }
    return true
  }

  /// Call it at each launch with a session, and after each sign-in.
  func signedIn(as owner: String) async {
    self.owner = owner
    registerAll()
    _ = try? await UNUserNotificationCenter.current()
      .requestAuthorization(options: [.alert, .sound, .badge])
    UIApplication.shared.registerForRemoteNotifications()
  }

  /// Call it before the session ends. It also ends the cards, which show the ride of this person.
  func signOut() async {
    (owner, cards) = (nil, [:])
    if let phone { call("DELETE", "/v1/devices/\(app)/\(phone)") }
    for card in Card.activities { await card.end(nil, dismissalPolicy: .immediate) }
    await lastCall?.value
  }

  /// Starts the card of a ride. Call it in the foreground, when the ride is booked.
  func startCard(_ attributes: RideAttributes, _ state: RideAttributes.ContentState) throws {
    let rides = Card.activities.map(\.attributes.rideId)
    guard permission.areActivitiesEnabled, !rides.contains(attributes.rideId) else { return }
    let content = ActivityContent(state: state, staleDate: nil)
    watch(try Card.request(attributes: attributes, content: content, pushType: .token))
  }

  func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken token: Data
  ) {
    phone = hexadecimal(token)
    registerAll()
  }

  private func watch(_ card: Card) {
    let id = card.id
    guard watched.insert(id).inserted else { return }
    Task {
      for await token in card.pushTokenUpdates {
        cards[id] = (card.attributes.rideId, hexadecimal(token))
        registerCard(id)
      }
    }
    Task {
      for await state in card.activityStateUpdates where state == .ended || state == .dismissed {
        guard cards.removeValue(forKey: id) != nil else { continue }
        call("DELETE", "/v1/live-activities/\(app)/\(id)")
      }
    }
  }

  /// The phone first: a start token counts only for the person who is signed in on its phone.
  private func registerAll() {
    guard let phone else { return }
    let (zone, language) = (TimeZone.current.identifier, Locale.preferredLanguages.first)
    register("/v1/devices", ["token": phone, "time_zone": zone, "locale": language])
    registerStartToken()
    for id in cards.keys { registerCard(id) }
  }

  private func registerStartToken() {
    guard phone != nil, let startToken, permission.areActivitiesEnabled else { return }
    register("/v1/push-to-start", ["token": startToken, "attributes_type": "RideAttributes"])
  }

  private func registerCard(_ id: String) {
    guard phone != nil, let card = cards[id] else { return }
    let (ride, isFrequent) = (card.ride, permission.frequentPushesEnabled)
    register(
      "/v1/live-activities",
      ["ride_id": ride, "activity_id": id, "token": card.token, "frequent": isFrequent])
  }

  private func register(_ path: String, _ fields: [String: Any?]) {
    guard let owner else { return }
    var body = fields.compactMapValues { $0 }
    (body["app"], body["owner_id"]) = (app, owner)
    body["installation_id"] = UIDevice.current.identifierForVendor?.uuidString
    body["environment"] = "production"
    #if DEBUG
      body["environment"] = "sandbox"
    #endif
    call("POST", path, body)
  }

  /// Calls go one after another, so that no registration arrives after a sign-out.
  private func call(_ method: String, _ path: String, _ body: [String: Any]? = nil) {
    guard let url = URL(string: backend + path) else { return }
    let content = body.flatMap { try? JSONSerialization.data(withJSONObject: $0) }
    lastCall = Task { [lastCall] in
      await lastCall?.value
      var request = URLRequest(url: url)
      (request.httpMethod, request.httpBody) = (method, content)
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
      // After a minute it is lost. The next launch registers all again; a DELETE is your backend's.
      for seconds in [0, 1, 2, 4, 8, 15, 30] {
        try? await Task.sleep(for: .seconds(seconds))
        request.setValue(authorization(), forHTTPHeaderField: "Authorization")
        let answer = try? await URLSession.shared.data(for: request).1 as? HTTPURLResponse
        if let status = answer?.statusCode, status < 500, status != 401, status != 429 { return }
      }
    }
  }

  private func hexadecimal(_ token: Data) -> String {
    token.map { String(format: "%02x", $0) }.joined()
  }
}
