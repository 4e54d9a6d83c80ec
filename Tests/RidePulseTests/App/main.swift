// A phone with RidePulseKit for AppPageTests: does what a line of standard input names, and prints the line when it
// is done.
import ActivityKit
import Foundation
import RidePulseKit
import Synchronization
import UIKit
import UserNotifications

func report(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// A network that loses requests, or their answers.
final class Network: CallTransport {
  enum Hole: String { case whole, lost, unanswered }

  private let real = URLSessionTransport()
  private let hole = Mutex(Hole.whole)

  func becomes(_ next: Hole) { hole.withLock { $0 = next } }

  func send(_ request: CallRequest) async throws -> CallAnswer {
    let now = hole.withLock { $0 }
    if now == .lost { throw URLError(.notConnectedToInternet) }
    let answer = try await real.send(request)
    if now == .unanswered { throw URLError(.timedOut) }
    return answer
  }
}

let words = CommandLine.arguments
guard words.count == 4 else {
  report("usage: phone BACKEND TOKEN FOLDER")
  exit(64)
}
let network = Network()
let configuration = KitConfiguration(
  app: "customer", backend: words[1], folder: URL(fileURLWithPath: words[3]), installation: nil,
  authorization: { [token = words[2]] _ in ["Authorization": "Bearer \(token)"] },
  onEvent: { report("event \($0)") })
let rides = RidePulsePhone(configuration, transport: network)

final class Extension: RideServiceExtension {
  let shared: KitConfiguration

  init(_ shared: KitConfiguration) { self.shared = shared }

  override var configuration: KitConfiguration? { shared }
  override func rewrite(_ content: UNMutableNotificationContent) { content.body = "rewritten" }
}

rides.watch(RideAttributes.self) { $0.rideId }
report("launched")

func token(_ byte: String.SubSequence) -> Data {
  Data(repeating: UInt8(byte, radix: 16) ?? 0, count: 32)
}

// Read by another thread: the app's tasks need the main actor meanwhile.
let (lines, input) = AsyncStream.makeStream(of: String.self)
Thread.detachNewThread {
  while let line = readLine() { input.yield(line) }
  input.finish()
}
for await line in lines {
  let parts = line.split(separator: " ")
  switch parts[0] {
  case "sign-in": await rides.signIn(String(parts[1]))
  case "device-token": await rides.registered(token(parts[1]))
  case "start-token": System.startTokens.pass(token(parts[1]))
  case "book":
    _ = try rides.startCard(
      RideAttributes(rideId: String(parts[1])), RideAttributes.ContentState(status: "requested"),
      staleDate: nil
    ) { $0.rideId }
  case "started-by-push":
    let card = Activity(id: "pushed", attributes: RideAttributes(rideId: String(parts[1])))
    System.cards.append(card)
    System.passCard(card)
  case "card-token":
    for card in Activity<RideAttributes>.activities where card.id == parts[1] {
      card.passToken(token(parts[2]))
    }
  case "dismiss":
    for card in Activity<RideAttributes>.activities where card.id == parts[1] {
      await card.end(nil, dismissalPolicy: .immediate)
    }
  case "cards":
    System.areCardsOn = parts[1] == "on"
    System.enablement.pass(System.areCardsOn)
  case "displays":
    let content = UNNotificationContent(userInfo: ["apns_id": String(parts[1])])
    await rides.seen(UNNotification(request: UNNotificationRequest(content: content)))
  case "extension":
    let content = UNNotificationContent(userInfo: ["apns_id": String(parts[1])])
    let service = Extension(configuration)
    let (texts, shown) = AsyncStream.makeStream(of: String.self)
    service.didReceive(UNNotificationRequest(content: content)) {
      shown.yield(($0 as? UNMutableNotificationContent)?.body ?? "")
      shown.finish()
    }
    for await text in texts { report("shown \(text)") }
  case "schedule":
    let now = Date()
    _ = try rides.scheduleCard(
      RideAttributes(rideId: String(parts[1])), RideAttributes.ContentState(status: "scheduled"),
      staleDate: now + 7200, start: now + 3600,
      alert: AlertConfiguration(title: "Ride", body: "Soon", sound: .default)
    ) { $0.rideId }
    for card in Activity<RideAttributes>.activities where card.start == now + 3600 {
      report("scheduled \(card.id) \(card.activityState) stale \(card.staleDate == now + 7200)")
    }
  case "alerts":
    NotificationSystem.status =
      parts[1] == "on" ? .authorized : parts[1] == "off" ? .denied : .notDetermined
  case "ask": report("allowed \(await rides.askForPermission())")
  case "has-asked": report("asked \(NotificationSystem.hasAsked)")
  case "background-push": await rides.receivedBackgroundPush()
  case "frequent":
    System.isFrequent = parts[1] == "on"
    System.frequency.pass(System.isFrequent)
  case "categories":
    rides.register([RideCategory("A", [.init("x", title: "X")]), RideCategory("B", [])])
    rides.register([RideCategory("A", [.init("y", title: "Y", options: .foreground)])])
    let names = NotificationSystem.categories.map {
      "\($0.identifier): \($0.actions.map(\.title))"
    }
    report("categories \(names.sorted())")
  case "widget-token":
    // The shipped rules have no app for widgets.
    ExtensionTokens(folder: configuration.folder) { report("event \($0)") }
      .widgets(token: token(parts[1]), of: "driver")
  case "network": network.becomes(Network.Hole(rawValue: String(parts[1])) ?? .whole)
  case "active": await rides.becameActive()
  case "sign-out": await rides.signOut()
  default: report("unknown: \(line)")
  }
  report(line)
}
