import Testing

@testable import Chaos

struct DoctorReportTests {
  @Test func `R108 only a warning about standbys names the risk of a failover`() throws {
    let json = """
      {"checks": [
        {"name": "standbys", "standing": "warning", "what": "1 standby", "remedy": ["a"]},
        {"name": "standbys", "standing": "ok", "what": "1 standby", "remedy": []},
        {"name": "clock", "standing": "warning", "what": "2 s", "remedy": []}
      ], "ok": true}
      """
    let report = try #require(DoctorReport(json: json.utf8))
    #expect(report.standbyWarnings == ["1 standby"])
    #expect(DoctorReport(json: "Usage".utf8) == nil)
  }
}
