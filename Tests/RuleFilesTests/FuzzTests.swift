import Foundation
import Testing

@testable import RuleFiles

/// Whatever the bytes, the loader ends with a rule set or with a problem that has a place.
///
/// `RIDEPULSE_FUZZ_CASES` sets the number of cases, `RIDEPULSE_FUZZ_SEED` the first seed.
@Suite struct FuzzTests {
  private static func setting(_ name: String, default value: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? value
  }

  private static let caseCount = setting("RIDEPULSE_FUZZ_CASES", default: 20_000)
  private static let firstSeed = setting("RIDEPULSE_FUZZ_SEED", default: 1)

  /// The real rule files, cut so that most cases are small, and rules with everything in them.
  private static let seeds: [[UInt8]] = {
    let everything = ruleFile(
      changing: "alert: { title: { en: x, de: y }, sound: default, badge: 1, loc-key: K, "
        + "loc-args: [\"{{ride.id | default: 'x'}}\"], relevance-score: 0.5 }\n"
        + "data: { a: [1, 2.5, null, { b: \"{{ride.attributes.c | upper}}\" }] }\n"
        + "collapse: \"c-{{ride.id}}\"\npriority: 5")
    var seeds = [Array(everything.utf8)]
    for name in ["service.yaml", "customer.yaml", "driver.yaml"] {
      guard let text = FileManager.default.contents(atPath: ScheduleTests.directory + "/" + name)
      else { continue }
      let rules = String(decoding: text, as: UTF8.self).components(separatedBy: "\n\n")
      seeds += rules.map { Array(($0.contains("- name") ? "rules:\n" + $0 : $0).utf8) }
      seeds.append(Array(text))
    }
    return seeds
  }()

  /// What YAML and the grammar turn on.
  private static let pieces = [
    "{{", "}}", "|", ":", ": ", "- ", "\n", "\n  ", "\t", "'", "\"", "[", "]", "{", "}", "&a ",
    "*a",
    "!!t ", "#", "---\n", "...", "%", "@", "`", "\\", "\u{feff}", "\u{85}", "\u{2028}", "🚕",
    "\u{0}",
    "? ", "~", "null", "true", "5", "1e999", ".inf", "on:", "rules:", "name: r\n", "every: 5m",
    "default: ", "<<: ",
  ].map { Array($0.utf8) }

  @Test func noBytesDoHarm() {
    for offset in 0..<Self.caseCount {
      var random = SplitMix(state: UInt64(Self.firstSeed + offset))
      let bytes = Self.bytes(by: &random)
      // A loader that fails hard would leave no other trace of the case than this.
      let other = offset.isMultiple(of: 4) ? [(name: "g.yaml", bytes: Self.seeds[0])] : []
      let result = RuleDirectory.parse(files: [("f.yaml", bytes)] + other)
      guard case .failure(let failure) = result else { continue }
      let isSaid =
        !failure.problems.isEmpty && failure.problems == failure.problems.sorted()
        && failure.problems.allSatisfy { problem in
          problem.place.map { $0.line > 0 && $0.column > 0 } ?? false
            && !problem.description.contains(where: \.isNewline)
        }
      #expect(isSaid, "seed \(Self.firstSeed + offset): \(failure)")
    }
  }

  @Test func theSeedsThemselvesAreGood() {
    #expect(Self.seeds.count > 20)
    #expect(problems(in: [("a.yaml", Self.seeds[0])]) == [])
  }

  private static func bytes(by random: inout SplitMix) -> [UInt8] {
    if Int.random(in: 0..<10, using: &random) == 0 {
      return (0..<Int.random(in: 0..<200, using: &random)).map { _ in
        UInt8.random(in: .min ... .max, using: &random)
      }
    }
    var bytes = seeds.randomElement(using: &random) ?? []
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let start = Int.random(in: 0...bytes.count, using: &random)
      let end = min(bytes.count, start + Int.random(in: 0..<8, using: &random))
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes.removeSubrange(start..<end)
      case 1: bytes.replaceSubrange(start..<end, with: pieces.randomElement(using: &random) ?? [])
      case 2: bytes.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: start)
      case 3: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: start)
      default: bytes.insert(contentsOf: bytes[start..<end], at: start)
      }
    }
    return bytes
  }
}

/// A small generator whose numbers follow from its seed on every machine.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
