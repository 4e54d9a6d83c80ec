import Foundation
import Synchronization
import SystemSupport
import Testing

@Suite struct WakeTests {
  private func isReadable(_ descriptor: Int32) -> Bool {
    var file = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&file, 1, 0) == 1
  }

  @Test func `an eventfd is readable from a signal until it is cleared`() throws {
    let wake = try #require(EventFD())
    #expect(!isReadable(wake.descriptor))
    wake.signal()
    wake.signal()
    #expect(isReadable(wake.descriptor))
    wake.clear()
    wake.clear()
    #expect(!isReadable(wake.descriptor))
  }

  @Test func `an inbox returns the messages of all threads once, in order of arrival`() throws {
    let inbox = try #require(Inbox<Int>())
    let thread = try #require(WorkerThread { for number in 0..<1000 { inbox.put(number) } })
    thread.join()
    #expect(isReadable(inbox.descriptor))
    #expect(inbox.collect() == Array(0..<1000))
    #expect(!isReadable(inbox.descriptor) && inbox.collect() == [])
    inbox.put(7)
    #expect(isReadable(inbox.descriptor) && inbox.collect() == [7])
  }

  @Test func `a worker thread has its name, and blocks all signals`() throws {
    let status = Mutex("")
    let thread = try #require(
      WorkerThread(named: "worker") {
        let text = (try? String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)) ?? ""
        status.withLock { $0 = text }
      })
    thread.join()
    let text = status.withLock { $0 }
    #expect(text.hasPrefix("Name:\tworker\n"), "\(text)")
    let blocked = text.split(separator: "\n").first { $0.hasPrefix("SigBlk:") } ?? ""
    // SIGPIPE is signal 13.
    let mask = UInt64(blocked.dropFirst(8), radix: 16) ?? 0
    #expect(mask >> 12 & 1 == 1, "\(blocked)")
  }

  @Test func `a socket listens on a free port, which a second one can't take`() throws {
    let first = try ListeningSocket(host: "127.0.0.1", port: 0, isNumeric: true, blocks: false)
    defer { first.close() }
    #expect(first.port != 0)
    #expect(
      throws: ListeningSocket.Failure(isBadHost: false, reason: "Address already in use")
    ) { try ListeningSocket(host: "127.0.0.1", port: first.port) }
  }

  @Test func `a name is no numeric address`() {
    #expect {
      try ListeningSocket(host: "localhost", port: 0, isNumeric: true)
    } throws: { error in
      (error as? ListeningSocket.Failure)?.isBadHost == true
    }
  }
}
