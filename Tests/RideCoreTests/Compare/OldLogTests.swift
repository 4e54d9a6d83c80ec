import Base
import Testing

@testable import RideCore
@testable import Timeline

/// The log of an old sender: columns, times and mistakes.
@Suite("An old sender's log") struct OldLogTests {
  private static func pushes(
    _ text: String, _ form: OldLogReader.Form = OldLogReader.Form()
  ) throws(CSVReader.Problem) -> [OldPush] {
    var reader = OldLogReader(form)
    var pushes: [OldPush] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let push = try reader.read(Array(line.utf8)) { pushes.append(push) }
    }
    try reader.finish()
    return pushes
  }

  @Test func `columns are found by their names, in any order`() throws {
    let pushes = try Self.pushes(
      "kind,id,time, person \narrived,7,1764230400, c1 \nleft,8,1764230401,c2")
    #expect(
      pushes == [
        OldPush(
          at: Timestamp(epochSeconds: 1_764_230_400), person: "c1", kind: "arrived", line: 2),
        OldPush(at: Timestamp(epochSeconds: 1_764_230_401), person: "c2", kind: "left", line: 3),
      ])
    var form = OldLogReader.Form()
    (form.time, form.person, form.kind, form.text) = ("at", "user", "type", "body")
    let named = try Self.pushes("at,user,type,body\n1764230400,c1,x,\"Hi, you\"\n1,c2,y,", form)
    #expect(named.map(\.text) == ["Hi, you", nil])
  }

  /// A time, the zone of times without one, and seconds since 1970; nil if it is refused.
  @Test(
    arguments: [
      ("2026-11-27T08:00:00Z", nil, 1_795_766_400),
      ("2026-11-27T09:00:00+01:00", nil, 1_795_766_400),
      ("2026-11-27 08:00:00.25 +0000", nil, 1_795_766_400.25),
      ("2026-11-27 08:00:00.25+00", nil, 1_795_766_400.25),
      ("2026-11-27 03:00:00-05", nil, 1_795_766_400),
      ("2026-11-27 08:00:00 UTC", nil, 1_795_766_400),
      ("2026-11-27 08:00:00,250Z", nil, 1_795_766_400.25), ("1795766400", nil, 1_795_766_400),
      ("1795766400.25", nil, 1_795_766_400.25), ("1795766400250", nil, 1_795_766_400.25),
      ("1795766400250.5", nil, 1_795_766_400.2505), ("1795766400250000", nil, 1_795_766_400.25),
      ("2026-11-27 09:00:00", "Europe/Vienna", 1_795_766_400),
      ("2026-07-01T10:00:00", "Europe/Vienna", 1_782_892_800),
      ("2026-11-27T08:00:00Z", "Europe/Vienna", 1_795_766_400), ("0", nil, 0),
      ("2026-11-27 09:00:00", nil, nil), ("2026-02-30T00:00:00Z", nil, nil), ("now", nil, nil),
      ("", nil, nil), ("-5", nil, nil), ("1795766400.", nil, nil), ("179576640025000000", nil, nil),
      ("1.2.3", nil, nil), ("27.11.2026 08:00", "UTC", nil),
    ] as [(String, String?, Double?)])
  func `times are read as logs have them`(text: String, zone: String?, seconds: Double?) throws {
    let time = try? LogTime.instant(text, zone.flatMap { ZoneTimes(identifier: $0) })
    #expect(time == seconds.map { Timestamp(microseconds: Int64(($0 * 1_000_000).rounded())) })
  }

  /// A log, the line of its mistake, and parts of the message.
  @Test(
    arguments: [
      ("", 1, ["is empty", "time,person,kind,text"]),
      ("time,user,kind\n", 1, ["no column person", "time, user, kind", "--person-column"]),
      ("time,persom,kind\n", 1, ["did you mean persom?"]),
      ("time;person;kind\n", 1, ["--separator"]),
      ("time,time,person,kind\n", 1, ["several columns time"]),
      ("time,person,kind\n1,c1\n", 2, ["2 fields", "the header 3"]),
      ("time,person,kind\n\n1, ,k\n", 3, ["person is empty"]),
      ("time,person,kind\n1,c1,\n", 2, ["kind is empty"]),
      ("time,person,kind\nsoon,c1,k\n", 2, ["\"soon\" is not a time", "ISO 8601"]),
      ("time,person,kind\n2026-11-27 08:00:00,c1,k\n", 2, ["has no zone", "--time-zone"]),
      ("time,person,kind\n1,\"c1,k\n", 2, ["is not closed"]),
    ] as [(String, Int, [String])])
  func `a mistake has its line and what to do`(text: String, line: Int, parts: [String]) throws {
    let problem = #expect(throws: CSVReader.Problem.self) { try Self.pushes(text) }
    #expect(problem?.line == line, "\(problem as Any)")
    for part in parts {
      #expect(problem?.message.contains(part) == true, "\(problem as Any) lacks \(part)")
    }
  }

  @Test func `a column of texts that is named must be there`() throws {
    var form = OldLogReader.Form()
    (form.text, form.needsText) = ("body", true)
    let problem = #expect(throws: CSVReader.Problem.self) {
      try Self.pushes("time,person,kind", form)
    }
    #expect(problem?.message.contains("--text-column") == true)
  }

  @Test func `one push to several phones of a person counts once`() {
    func push(_ milliseconds: Int64, _ person: OwnerID = "c1", text: String? = nil) -> OldPush {
      OldPush(
        at: Timestamp(microseconds: milliseconds * 1000), person: person, kind: "k", text: text,
        line: Int(milliseconds))
    }
    let (pushes, repeats) = OldPush.merged([
      push(2500), push(0), push(1000), push(2001), push(100, "c2"), push(1, text: "x"),
    ])
    #expect(pushes.map(\.line) == [0, 1, 100, 2001] && repeats == 2)
  }
}
