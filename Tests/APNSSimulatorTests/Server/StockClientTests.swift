import TestSupport
import Testing

/// A client of others, unchanged.
@Suite struct StockClientTests {
  private static let hasAioapns =
    (try? Tool.run("/usr/bin/env", ["python3", "-c", "import aioapns"]))?.status == 0

  /// From PyPI; apart from address and CA as its own page has it.
  @Test(.enabled(if: hasAioapns, "needs aioapns from PyPI"))
  func `aioapns is served`() throws {
    let simulator = try RunningSimulator()
    let script = """
      import asyncio, ssl, sys
      from aioapns import APNs, NotificationRequest, PushType
      from aioapns.connection import APNsProductionClientProtocol as Apple
      port, ca, key, token = sys.argv[1:]
      Apple.APNS_SERVER, Apple.APNS_PORT = "127.0.0.1", int(port)
      async def main():
          client = APNs(
              key=open(key).read(), key_id="SIMKEY0001", team_id="SIMTEAM001",
              topic="com.example.customer", ssl_context=ssl.create_default_context(cafile=ca))
          for device in [token, "abcd"]:
              answer = await client.send_notification(NotificationRequest(
                  device_token=device, message={"aps": {"alert": "Your driver is here"}},
                  push_type=PushType.ALERT))
              print(answer.status, answer.description)
      asyncio.run(main())
      """
    let result = try Tool.run(
      "/usr/bin/env",
      [
        "python3", "-c", script, String(simulator.port), simulator.authorityPath,
        simulator.keyPath, RunningSimulator.token,
      ])
    #expect(result.output == "200 None\n400 BadDeviceToken\n", "\(result.errors)")
    #expect(try simulator.records().map { $0["status"] as? Int } == [200, 400])
  }
}
