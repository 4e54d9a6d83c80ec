import Testing

@testable import Base
@testable import CEL

/// Values and patterns that a ride may bring, and that must not keep a node busy.
///
/// Steps are counted, so that no machine is too slow for these tests.
struct HostileValueTests {
  /// Returns the steps that an expression spent, and its fault.
  private func cost(
    _ expression: String, _ variables: [(String, CELValue)]
  ) throws -> (steps: Int, fault: CELFault?) {
    let environment = CELEnvironment(variables.map { ($0.0, .dyn) })
    let program = try CELProgram(expression, in: environment)
    var work = CELWork()
    let before = work.left
    var fault: CELFault?
    do throws(CELError) {
      _ = try program.value(with: CELOutcome.Values(values: variables.map(\.1)), &work)
    } catch {
      fault = error.fault
    }
    return (before - work.left, fault)
  }

  @Test(arguments: [
    "((((((((a{0}){1000}){1000}){1000}){1000}){1000}){1000}){1000})",
    "((((((){1000}){1000}){1000}){1000}){1000})", "((((((a*)*)*)*){900}){900}){900}",
    "(((((a{9}){9}){9}){9}){9}){9}",
  ])
  func `A4: a pattern of nested repetitions is refused as it is written`(pattern: String) throws {
    let text = #expect(throws: LinearRegex.Mistake.self) { _ = try LinearRegex(pattern) }?.text
    #expect(text == "is too large")
    let (_, fault) = try cost("x.matches(p)", [("x", .string("a")), ("p", .string(pattern))])
    #expect(fault == .badPattern("the pattern \(pattern.quotedBrief): is too large"))
  }

  @Test(arguments: ["((|||||||||){100})+", "(?i)([a-cg-ik-mo-qs-u]?){900}x", "(a?){900}b"])
  func `A4: looking at many instructions for each character costs steps`(pattern: String) throws {
    let text = String(repeating: "a", count: 100_000)
    let (steps, fault) = try cost("x.matches(p)", [("x", .string(text)), ("p", .string(pattern))])
    // The empty alternatives match at once.
    #expect(fault == .tooLong || steps < 5000)
    #expect(steps <= CELBudget.limit)
  }

  @Test func `A4: the keys of a map are sorted once for each evaluation that is paid for`() throws {
    func labels(_ count: Int) -> CELValue {
      .map(.json(Dictionary(uniqueKeysWithValues: (0..<count).map { ("k\($0)", .integer(1)) })))
    }
    let nested = "m.exists(a, m.exists(b, a + b == 'none'))"
    #expect(try cost(nested, [("m", labels(60_000))]).fault == .tooLong)
    let one = try cost("m.all(k, true)", [("m", labels(1000))]).steps
    let two = try cost("m.all(k, true)", [("m", labels(2000))]).steps
    #expect(two <= 2 * one + 10)
    #expect(one > 2000)
  }

  @Test(arguments: ["int", "uint", "double", "bool", "timestamp", "duration"])
  func `A4: a long text is no number and no time, whatever its digits`(name: String) throws {
    let text = String(repeating: "1", count: 900_000)
    let (_, fault) = try cost("\(name)(x)", [("x", .string(text))])
    guard case .unreadable = fault else {
      Issue.record("\(String(describing: fault))")
      return
    }
  }

  @Test func `A4: all evaluations of a decision have one budget`() throws {
    let program = try CELProgram("x.contains('b')", in: CELEnvironment([("x", .dyn)]))
    let values = CELOutcome.Values(values: [.string(String(repeating: "a", count: 1_000_000))])
    var work = CELWork()
    var evaluations = 0
    var failure: CELError?
    while failure == nil, evaluations < 1000 {
      do throws(CELError) {
        _ = try program.value(with: values, &work)
        evaluations += 1
      } catch {
        failure = error
      }
    }
    #expect(failure?.fault == .decisionTooLong)
    #expect(evaluations == CELBudget.decision / (1_000_000 / 64 + 5))
    // What costs nothing fails as well: the decision is at its end.
    do throws(CELError) {
      _ = try program.value(with: CELOutcome.Values(values: [.string("b")]), &work)
      _ = try program.value(with: values, &work)
      Issue.record("the budget is not used up")
    } catch {
      #expect(error.fault == .decisionTooLong)
    }
  }
}
