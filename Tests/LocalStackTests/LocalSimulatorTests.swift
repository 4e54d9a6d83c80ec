import LocalStack
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60))) struct LocalSimulatorTests {
  @Test(arguments: [false, true])
  func `a simulator has the address of its inbox, if one is asked for`(hasInbox: Bool) throws {
    let options = hasInbox ? ["--inbox", "127.0.0.1:0"] : []
    let folder = try ScratchFolder.create()
    defer { ScratchFolder.remove(folder) }
    let apns = try LocalSimulator(directory: folder + "/apns", options: options)
    defer { apns.stop() }
    let fcm = try LocalFCMSimulator(directory: folder + "/fcm", options: options)
    defer { fcm.stop() }
    for (url, inboxURL) in [(apns.url, apns.inboxURL), (fcm.url, fcm.inboxURL)] {
      #expect(url.hasPrefix("https://127.0.0.1:") && (inboxURL != nil) == hasInbox)
      guard let inboxURL else { continue }
      let page = try Tool.run("/usr/bin/curl", ["-s", "--max-time", "60", inboxURL])
      #expect(page.output.contains("<title>Inbox</title>"), "\(inboxURL)")
    }
  }
}
