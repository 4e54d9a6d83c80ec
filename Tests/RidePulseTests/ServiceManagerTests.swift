import AdminServer
import Base
import Foundation
import LocalStack
import RideCore
import Testing

@testable import RidePulse

/// Tests of the notifications that `serve` sends to systemd, received by a real datagram socket.
@Suite("The service manager") struct ServiceManagerTests {
  private func watched(
    _ stage: Stage, _ sink: NotifySink, _ own: [String: String] = [:]
  ) -> [String: String] {
    stage.environment.merging(["NOTIFY_SOCKET": sink.name]) { $1 }.merging(own) { $1 }
  }

  @Test(arguments: [false, true])
  func `It receives start, reload and stop, in this order`(isAbstract: Bool) async throws {
    try await Stage.run { stage in
      let sink = try NotifySink((isAbstract ? "@" : "") + stage.directory + "/notify")
      let server = try Server(watched(stage, sink))
      try await sink.receives("READY=1\nSTATUS=serving")
      server.hangUp()
      try await sink.receives("READY=1", after: 2)
      #expect(server.stop() == 0)
      try await sink.receives("STOPPING=1", after: 3)
      #expect(sink.datagrams.count == 4)
      #expect(
        sink.words.map { $0.prefix { $0 != "=" } } == ["READY", "RELOADING", "READY", "STOPPING"])
      // systemd matches the end of a reload only if the notification has the time of its start.
      let reload = sink.datagrams.first { $0.hasPrefix("RELOADING") } ?? ""
      #expect(reload.contains(/^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]+$/), "\(reload)")
    }
  }

  @Test func `The watchdog is notified regularly, also without the database`() async throws {
    let cluster = try await LocalCluster(durability: .fast)
    try await Stage.run(cluster: cluster) { stage in
      let sink = try NotifySink(stage.directory + "/notify")
      let server = try Server(watched(stage, sink, ["WATCHDOG_USEC": "200000"]))
      defer { server.stop() }
      try await sink.receives("WATCHDOG=1", after: 3)
      await cluster.stop()
      try await sink.receives("WATCHDOG=1\nSTATUS=the database does not answer")
      let count = sink.datagrams.count
      try await sink.receives("WATCHDOG=1", after: count + 5)
      #expect(sink.words.first == "READY=1")
      #expect(sink.words.dropFirst() == ["WATCHDOG=1"])
      #expect(server.isRunning)
    }
  }

  @Test func `A watchdog of another process is not notified`() async throws {
    try await Stage.run { stage in
      let sink = try NotifySink(stage.directory + "/notify")
      let server = try Server(
        watched(stage, sink, ["WATCHDOG_USEC": "2000", "WATCHDOG_PID": "1"]))
      try await sink.receives("READY=1")
      try await stage.addRide(state: "driver_arrived")
      try await stage.settled()
      #expect(server.stop() == 0)
      #expect(sink.words == ["READY=1", "STOPPING=1"])
    }
  }

  private static let unreachable = [
    "/nowhere/notify", "@ridepulse-nobody-is-there", "vsock:2:1",
    "/" + String(repeating: "x", count: 120),
  ]

  @Test(arguments: unreachable)
  func `An unreachable socket is logged once, and the service runs`(name: String) async throws {
    try await Stage.run { stage in
      let server = try Server(
        stage.environment.merging(["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "2000"]) { $1 })
      try await stage.addRide(state: "driver_arrived")
      try await stage.settled()
      #expect(try stage.arrivals().contains { $0.isAccepted })
      #expect(server.stop() == 0)
      let complaints = server.log.components(separatedBy: "Notifying the service manager failed")
      #expect(complaints.count == 2, "\(server.log)")
    }
  }

  @Test func `A stalled task stops the heartbeat, an absent database only changes the status`() {
    var keepalive = WatchdogKeepalive()
    #expect(keepalive.next(stuck: [], problems: []).notification == .alive(nil))
    let away = keepalive.next(stuck: [], problems: ["the database does not answer"])
    #expect(away.notification == .alive("the database does not answer"))
    #expect(away.log == nil)
    #expect(
      keepalive.next(stuck: [], problems: ["the database does not answer"]).notification
        == .alive(nil))
    #expect(keepalive.next(stuck: [], problems: []).notification == .alive("serving"))
    let stuck = keepalive.next(stuck: ["settle loop stalled for 61 s"], problems: [])
    #expect(stuck.notification == nil)
    #expect(stuck.log?.level == .error)
    #expect(keepalive.next(stuck: ["it"], problems: []).log == nil, "said once")
    let again = keepalive.next(stuck: [], problems: [])
    #expect(again.notification == .alive(nil))
    #expect(again.log?.level == .info)
  }
}
