import Foundation
import Page
import Testing

@testable import AdminServer

@Suite struct PageFileTests {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("page").path

  @Test func `the binary carries every file of the folder, as it is`() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder).sorted()
    #expect(PageFile.all.map(\.name).sorted() == names)
    for file in PageFile.all {
      let data = try Data(contentsOf: URL(fileURLWithPath: Self.folder + "/" + file.name))
      #expect(data == Data(file.bytes), "\(file.name)")
    }
  }

  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1:9464", true), ("127.0.0.1", "localhost:9464", true),
    ("127.0.0.1", "LOCALHOST", true), ("127.0.0.1", "[::1]:9464", true),
    ("::1", "a.localhost", true), ("127.0.0.1", nil, true), ("127.0.0.1", "", true),
    ("127.0.0.1", "127.0.0.1.evil.example", false), ("127.0.0.1", "evil.example:9464", false),
    ("localhost", "localhost.evil.example", false), ("127.0.0.1", "127.evil.1.1", false),
    ("127.0.0.1", "192.168.0.7", false), ("0.0.0.0", "node7.example", true),
  ])
  func `a Host is ours or not`(address: String, host: String?, isAdmitted: Bool) {
    let hosts = HostGuard(ListenAddress(host: address, port: 9464))
    #expect(hosts.admits(host) == isAdmitted)
  }
}

@Suite struct EventFeedTests {
  @Test func `who comes gets the newest text, and a slow reader misses the others`() throws {
    let feed = EventFeed(limit: 2)
    let first = try #require(feed.response {}.events)
    #expect(first.text() == "retry: 2000\n\n")
    feed.publish(Array("one".utf8))
    let second = try #require(feed.response {}.events)
    feed.publish(Array("two".utf8))
    #expect(first.text() == "data: two\n\n")
    #expect(second.text() == "retry: 2000\n\n")
    #expect(second.text() == "data: two\n\n")
  }

  @Test func `a text that does not fit comes in pieces, and no newer one into the middle of it`()
    throws
  {
    let feed = EventFeed(limit: 1)
    let listener = try #require(feed.response {}.events)
    _ = listener.text()
    feed.publish(Array("abcdef".utf8))
    #expect(listener.text(8) == "data: ab")
    feed.publish(Array("new".utf8))
    #expect(listener.text(8) == "cdef\n\n")
    #expect(listener.text() == "data: new\n\n")
  }

  @Test
  func `a full feed refuses, a place that is left is free, and the first one is distinguished`()
    throws
  {
    let feed = EventFeed(limit: 1)
    var firsts = 0
    var listener = feed.response { firsts += 1 }.events
    #expect(feed.response { firsts += 1 }.status == 503)
    listener = nil
    #expect(listener == nil && feed.listenerCount == 0)
    #expect(feed.response { firsts += 1 }.status == 200)
    #expect(firsts == 2)
  }

  @Test func `after the end no client receives anything, and none can join`() throws {
    let feed = EventFeed(limit: 2)
    let listener = try #require(feed.response {}.events)
    feed.publish(Array("one".utf8))
    feed.end()
    #expect(listener.text() == nil)
    #expect(feed.response {}.status == 503)
  }
}

extension EventListener {
  fileprivate func text(_ limit: Int = 1000) -> String? {
    read(atMost: limit).map { String(decoding: $0, as: UTF8.self) }
  }
}
