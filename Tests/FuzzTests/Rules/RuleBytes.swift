import Foundation

/// Rule files to read: the project's own, rules that use every feature, and random ones, most of them
/// corrupted.
enum RuleBytes {
  typealias File = (name: String, bytes: [UInt8])
  typealias Directory = (files: [File], strings: [File])

  /// The project's own files.
  static let shipped = read(["customer.yaml", "driver.yaml", "service.yaml"])

  /// The strings that these name, which are not corrupted.
  static let strings = read(["strings/en.yaml", "strings/ar.yaml"])

  private static func read(_ names: [String]) -> [File] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "schedules")
    return names.compactMap { name in
      FileManager.default.contents(atPath: folder.appending(path: name).path())
        .map { (name, Array($0)) }
    }
  }

  /// Valid files, one by one.
  static let whole: [[UInt8]] = [Array(everything.utf8)] + shipped.map(\.bytes)

  /// The same files and each of their rules alone, so that most cases are small.
  static let seeds: [[UInt8]] =
    whole
    + shipped.flatMap { file in
      String(decoding: file.bytes, as: UTF8.self).components(separatedBy: "\n\n")
        .map {
          Array((["- name", "- { name"].contains(where: $0.contains) ? "rules:\n" + $0 : $0).utf8)
        }
    }

  private static let everything = """
    states: { active: [requested, ride_started], final: [done] }
    events: [told]
    rules:
      - name: alert
        app: customer
        on: [ride_started, told]
        if: "last == null || ride.attributes.eta - last.eta > 5 && phone.locale == 'de'"
        remember: [eta]
        alert:
          title: { en: x, de: y }
          loc-key: K
          loc-args: ["{{ride.id | default: 'x'}}"]
          sound: default
          badge: 1
          relevance-score: 0.5
        data: { a: [1, 2.5, null, { b: "{{ride.attributes.c | upper}}" }] }
        expires: 5m
        collapse: "c-{{ride.id}}"
        priority: 5
      - { name: beat, app: driver, every: 20m, while: [ride_started], background: {}, expires: 5m }
      - name: cron
        app: driver
        cron: "0 8 * * MON-FRI"
        time-zone: ride
        missed: { all: 3 }
        alert: { title: "{{event.at | time}}" }
        expires: never-store
      - { name: after, app: driver, at: attributes.at + 1h, alert: { title: x }, expires: 1d }
      - name: card
        app: customer
        live-activity:
          attributes-type: A
          attributes: { id: "{{ride.id}}" }
          content-state:
            s: "{{ride.state}}"
            eta: { value: "{{ride.attributes.eta}}", type: date-epoch, optional: true, since: 2 }
            car: { value: "{{ride.attributes.car}}", type: [van, taxi] }
            legs: { value: "{{ride.attributes.legs}}", type: [{ at: date-epoch, to: string }] }
            stops: [{ name: { value: { en: x, de: "{{ride.id}}" }, type: string } }, [1, 2]]
          start: told
          end: { done: { dismiss: 10m, content: { car: van } } }
          from: pickup_at - 45m
          stale-after: { default: 2m, ride_started: 20m }
          dismiss-after: 10m
          min-interval: 15s
          urgent: [ride_started]
          urgent-per-hour: 3
          alerts: { told: { title: x, sound: default } }
          lost-after: 1h
          relevance-score: 75
          input-push-token: true
        expires: 5m

    """

  /// The pieces of text that are significant in YAML and in the rule format.
  private static let mutation = Mutation([
    "{{", "}}", "|", ":", ": ", "- ", "\n", "\n  ", "\n    ", "\t", "'", "\"", "[", "]", "{", "}",
    ", ", "&a ", "*a", "!!t ", "#", "---\n", "...", "%", "@", "`", "\\", "\u{feff}", "\u{85}",
    "\u{2028}", "\u{e9}", "e\u{301}", "🚕", "\u{0}", "\r", "\r\n", "? ", "~", "null", "true", "5",
    "-1",
    "1e999", "0x7fffffffffffffff", "9223372036854775808", ".inf", "on:", "rules:", "name: r\n",
    "every: 5m", "every: 3652d", "* * * * *", "0 0 31 2 *", "59/1 ", "time-zone: ride\n", "1000",
    "default: ", "<<: ", "| time", "ride.attributes.a.b", "event.at", "value: ", "type: int\n",
    "type: object\n", "optional: true\n", "late: 2m\n", "contact + ", " - 45m", "per: ride",
    "share('", "me.", "ride.entered.", "with-card: send\n", ": phone", "| select: '", "post: sms\n",
    "|\n", ">-\n", "\"\\u0000\"",
    "\"\\ud800\"",
  ])

  static func directory(by chance: inout Chance) -> Directory {
    chance.percent(60)
      ? (written(by: &chance), RuleWriter.strings) : (files(by: &chance), strings)
  }

  private static func written(by chance: inout Chance) -> [File] {
    var writer = RuleWriter(
      seed: chance.number(0...UInt64.max), wrongPercent: chance.pick(0, 0, 1, 5))
    var files = writer.files()
    if chance.percent(30), let last = files.indices.last {
      files[last].bytes = mutation.mutate(files[last].bytes, &chance)
    }
    return files
  }

  private static func files(by chance: inout Chance) -> [File] {
    if chance.percent(5) {
      var files = shipped
      let index = chance.number(0...max(0, files.count - 1))
      if files.indices.contains(index) {
        files[index].bytes = mutation.mutate(files[index].bytes, &chance)
      }
      return files
    }
    let other: [File] = chance.percent(25) ? [("g.yaml", Array(everything.utf8))] : []
    return [("f.yaml", bytes(by: &chance))] + other
  }

  private static func bytes(by chance: inout Chance) -> [UInt8] {
    if chance.percent(10) { return chance.bytes(upTo: 200) }
    var bytes = chance.pick(of: seeds, else: [])
    if chance.percent(10) {
      let other = chance.pick(of: seeds, else: [])
      bytes =
        bytes.prefix(chance.number(0...bytes.count))
        + other.suffix(chance.number(0...other.count))
    }
    return mutation.mutate(bytes, &chance, times: 1...(chance.percent(10) ? 40 : 4))
  }
}
