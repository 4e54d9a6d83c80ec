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
let rides = RidePulsePhone(
  KitConfiguration(
    app: "customer", backend: words[1], folder: URL(fileURLWithPath: words[3]), installation: nil,
    authorization: { _ in ["Authorization": "Bearer \(words[2])"] },
    onEvent: { report("event \($0)") }), transport: network)
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
  case "network": network.becomes(Network.Hole(rawValue: String(parts[1])) ?? .whole)
  case "active": await rides.becameActive()
  case "sign-out": await rides.signOut()
  default: report("unknown: \(line)")
  }
  report(line)
}
