import Foundation
import Testing

@testable import RidePulseKit

/// What happens while the app is asked for a call's headers.
@Suite struct LateHeadersTests {
  @Test func `A start token that another one followed before it left never reaches the server`() {
    var queue = CallQueue()
    let now = Date(timeIntervalSince1970: 1_790_000_000)
    func next() -> Call? {
      guard case .send(let call) = queue.next(at: now) else { return nil }
      return call
    }
    func leaves(_ call: Call?) -> Bool { queue.leaves(call?.key ?? "") }
    func finish(_ call: Call?, _ result: CallResult = .done) {
      queue.finished(call?.key ?? "", result, at: now, jitter: 0)
    }
    queue.begin(CallQueue.Identity(app: "customer", process: "p"))
    queue.signIn("a", formerHeaders: nil, at: now)
    queue.add(.phone(PhoneReport(app: "customer", token: "p")), at: now)
    let phone = next()
    #expect(leaves(phone))
    finish(phone)
    queue.add(.start(type: "Ride", token: "s"), at: now)
    let old = next()
    // The app is asked for its headers meanwhile.
    queue.add(.start(type: "Ride", token: "t"), at: now)
    #expect(!leaves(old))
    finish(old, .failed("not needed any more"))
    let new = next()
    #expect(new?.report == .start(type: "Ride", token: "t"))
    #expect(leaves(new))
    finish(new)
    #expect(queue.calls.isEmpty && queue.session?.starts == ["Ride": ["t"]])
  }
}
