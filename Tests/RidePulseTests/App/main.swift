// A phone for AppPageTests: does what a line of standard input names, and prints the line when it is done.
import ActivityKit
import UIKit

extension RideAttributes: ActivityAttributes {}

func report(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

let rides = RidePulseApp()
let words = CommandLine.arguments
rides.backend = words[1]
rides.authorization = { "Bearer \(words[2])" }
_ = rides.application(UIApplication.shared, didFinishLaunchingWithOptions: nil)
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
  case "sign-in": await rides.signedIn(as: String(parts[1]))
  case "device-token":
    rides.application(
      UIApplication.shared, didRegisterForRemoteNotificationsWithDeviceToken: token(parts[1]))
  case "start-token": System.startTokens.pass(token(parts[1]))
  case "book":
    try rides.startCard(
      RideAttributes(rideId: String(parts[1])), RideAttributes.ContentState(status: "requested"))
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
  case "sign-out": await rides.signOut()
  default: report("unknown: \(line)")
  }
  report(line)
}
