import PostgresStore
import RideCore
import Timeline
import RuleFiles

/// `ridepulse record`: writes what the service recorded as a day, without what names a person.
enum Record: Command {
  static let form = CommandForm(
    name: "record", summary: "write recorded rides as a day for rehearse, without personal data",
    options: [
      .init(
        name: "--from", value: "TIME", isRequired: true,
        help: "start time, such as 2026-11-21T00:00:00Z"),
      .init(name: "--to", value: "TIME", isRequired: true, help: "end time, which is not included"),
      .init(
        name: "--output", value: "FILE", isRequired: true,
        help: "output file; gzip if its name ends in .gz"),
      .init(
        name: "--sample", value: "PERCENT",
        help: "fewer rides than were recorded, such as 1%"),
      .init(
        name: "--keep", value: "ATTRIBUTE,...", isRepeatable: true,
        help: "attributes and members of data to keep as they are, whatever they contain"),
      .schedules,
    ],
    notes: [
      "Records what serve with RIDEPULSE_RECORD, such as 5%, has kept. IDs and tokens are replaced by",
      "their HMAC with RIDEPULSE_RECORD_SALT, texts by stand-ins; booleans, times, short numbers and",
      "words that the rules compare with are kept. docs/testing-rules.md describes it.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let now = MachineTime.now
    let start = try context.arguments.time("--from") ?? now
    // A day that is not over ends now: what follows from it was not recorded.
    let end = min(try context.arguments.time("--to") ?? now, now)
    if start >= end {
      throw context.arguments.error(
        start >= now ? "--from is not in the past" : "--to is not after --from")
    }
    let wanted = try context.arguments.value("--sample").map { text in
      guard let sample = RecordSample(text: text.hasSuffix("%") ? text : text + "%") else {
        throw context.arguments.error("--sample \(text): \(expectedShare)")
      }
      return sample
    }
    let names = try pseudonyms(context.environment)
    let rules = try RuleDirectoryChoice.load(
      context.arguments.value("--schedules"), context.environment
    ).ruleSet
    let kept = context.arguments.all("--keep").flatMap { $0.split(separator: ",") }
    let values = HarmlessValues(names, keeping: Set(kept.map(String.init)), rules: rules)
    let path = context.arguments.value("--output") ?? ""
    return try await Database.with(context.environment, name: "record") { session in
      try await Database.requireSchema(session)
      let passes = RecordedPasses(session: session)
      let summary = try await passes.summary(from: start, to: end)
      let sample = try sample(wanted, of: summary)
      var header = DayHeader(from: start, to: end)
      header.sample = sample.percent
      header.schedules = summary.rules.map { "sha256:\($0)" }
      header.engine = summary.version ?? Version.text
      let counts = try await write(
        passes, header, sample, DayRecorder(names, values, from: start), to: path)
      Terminal.print(
        "\(path): \(counted(counts.rides, "ride")) (\(sample.text)), \(counted(counts.lines, "line"))"
      )
      return .done
    }
  }

  private static func write(
    _ passes: RecordedPasses, _ header: DayHeader, _ sample: RecordSample, _ recorder: DayRecorder,
    to path: String
  ) async throws -> (rides: Int, lines: Int) {
    var recorder = recorder
    var count = 0
    let output = try DayOutput(path: path)
    func write(_ lines: [DayLine]) throws {
      for line in lines where line.at < header.to {
        try output.write(line.json)
        count += 1
      }
    }
    try output.write(header.json)
    try await passes.read(from: header.from, to: header.to) { rows in
      for row in rows where sample.contains(row.ride) {
        recorder.add(row.ride, fence: row.fence, json: row.pass)
      }
      try write(recorder.lines(before: rows.last?.from))
    }
    try write(recorder.lines(before: nil))
    try output.close()
    return (recorder.rideCount, count)
  }

  /// Reads `RIDEPULSE_RECORD`: the share of rides that `serve` records; nil if it is off.
  ///
  /// - Throws: `CommandFailure` if it is not a percentage.
  static func sample(_ environment: [String: String]) throws -> RecordSample? {
    let text = environment["RIDEPULSE_RECORD"] ?? ""
    if text.isEmpty || text.lowercased() == "off" { return nil }
    if let sample = RecordSample(text: text) { return sample }
    throw CommandFailure("RIDEPULSE_RECORD is \(text); \(expectedShare), or off")
  }

  private static let expectedShare =
    "expected a percentage above 0% and at most 100% with up to four decimals, such as 5%"

  /// Returns the share to write: what all nodes recorded, unless less is wanted.
  private static func sample(
    _ wanted: RecordSample?, of summary: RecordedPasses.Summary
  ) throws -> RecordSample {
    guard let recorded = summary.sample else {
      throw CommandFailure(
        "nothing was recorded in this time; run serve with RIDEPULSE_RECORD=5%, and see "
          + "recorded in \(Database.schema).retention for how long it is kept")
    }
    guard let wanted else { return recorded }
    if wanted.millionths > recorded.millionths {
      throw CommandFailure(
        "--sample \(wanted.text) is more than was recorded: \(recorded.text); leave it out for all")
    }
    return wanted
  }

  private static func pseudonyms(_ environment: [String: String]) throws -> Pseudonyms {
    let salt = try SecretVariable("RIDEPULSE_RECORD_SALT", in: environment)?.text ?? ""
    // Short IDs can be found again by trying them with each short salt.
    guard salt.utf8.count >= 16 else {
      throw CommandFailure(
        "RIDEPULSE_RECORD_SALT \(salt.isEmpty ? "is not set" : "has fewer than 16 bytes"); set a "
          + "secret that stays the same, such as the output of: openssl rand -hex 32")
    }
    return Pseudonyms(salt: salt)
  }
}
