import Base
import Foundation
import RideCore
import Testing

/// Runs cases, each of which is determined by its own seed.
///
/// `RIDEPULSE_FUZZ_CASES` sets the number of cases, `RIDEPULSE_FUZZ_SEED` the seed of the first
/// one; each following case has the next seed. To run one case alone, set its seed and a number of
/// 1.
enum Fuzz {
  /// A violation, described in one line.
  struct Fault: Error {
    var text: String
  }

  /// After this many failing cases the test stops, because further ones would show the same.
  private static let faultLimit = 5

  private static func setting(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  /// Runs the cases of one test and returns their number; `cases` is the default number.
  @discardableResult
  static func run(
    _ name: StaticString, cases usual: Int, _ body: (inout Chance) throws -> Void
  ) -> Int {
    let first = setting("RIDEPULSE_FUZZ_SEED") ?? 1
    let count = setting("RIDEPULSE_FUZZ_CASES") ?? usual
    let report = CrashReport(name)
    defer { report.close() }
    var faults = 0
    for number in 0..<count where faults < faultLimit {
      let seed = first &+ number
      report.record(seed)
      var chance = Chance(seed: UInt64(bitPattern: Int64(seed)))
      do { try body(&chance) } catch {
        faults += 1
        let what = (error as? Fault)?.text ?? "\(error)"
        Issue.record("\(name), case \(number), RIDEPULSE_FUZZ_SEED=\(seed): \(what.prefix(2000))")
      }
    }
    return count
  }
}

/// Ends a case if a condition does not hold.
func require(_ holds: Bool, _ text: @autoclosure () -> String) throws(Fuzz.Fault) {
  if !holds { throw Fuzz.Fault(text: text()) }
}

/// The source of a case's random choices, all determined by its seed.
struct Chance {
  private var numbers: SeededGenerator

  init(seed: UInt64) { numbers = SeededGenerator(seed: seed) }

  mutating func percent(_ percent: Int) -> Bool { number(0...99) < percent }

  mutating func number<Number: FixedWidthInteger>(_ range: ClosedRange<Number>) -> Number {
    Number.random(in: range, using: &numbers)
  }

  mutating func share() -> Double { Double.random(in: 0..<1, using: &numbers) }

  mutating func pick<Element>(_ first: Element, _ others: Element...) -> Element {
    let index = number(0...others.count)
    return index == 0 ? first : others[index - 1]
  }

  /// Returns an element of a list, or `other` if the list is empty.
  mutating func pick<Element>(of list: [Element], else other: Element) -> Element {
    list.randomElement(using: &numbers) ?? other
  }

  /// Returns a list of at most `limit` elements.
  mutating func list<Element>(upTo limit: Int, _ make: (inout Chance) -> Element) -> [Element] {
    (0..<number(0...limit)).map { _ in make(&self) }
  }

  mutating func bytes(upTo limit: Int) -> [UInt8] { list(upTo: limit) { $0.number(0...255) } }
}
