import Testing

@testable import Chaos

struct DoctorReportTests {
  @Test func `R108 only a warning about standbys names the risk of a failover`() throws {
    let json = """
      {"checks": [
        {"name": "standbys", "status": "warning", "message": "1 standby", "remedy": ["a"]},
        {"name": "standbys", "status": "ok", "message": "1 standby", "remedy": []},
        {"name": "clock", "status": "warning", "message": "2 s", "remedy": []}
      ], "ok": true}
      """
    let report = try #require(DoctorReport(json: json.utf8))
    #expect(report.standbyWarnings == ["1 standby"])
    #expect(DoctorReport(json: "Usage".utf8) == nil)
  }
}
