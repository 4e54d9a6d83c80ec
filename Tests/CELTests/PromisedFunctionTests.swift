import Testing
import TestSupport

@testable import CEL

/// The functions that conditions may call, which docs/compatibility.md promises.
@Suite struct PromisedFunctionTests {
  @Test func `functions`() throws {
    let names = CELFunction.allCases.flatMap { function in
      function.overloads.map { form in
        let parameters = form.parameters.map(Self.text).joined(separator: ", ")
        let rest = form.isVariadic ? ", ..." : ""
        return form.isMethod
          ? "method \(function.rawValue)(\(parameters)\(rest)) \(Self.text(form.result))"
          : "\(function.rawValue)(\(parameters)\(rest)) \(Self.text(form.result))"
      }
    }
    try PromisedNames.compare(names, with: "cel-functions")
  }

  private static func text(_ type: CELType) -> String {
    "\(type)".replacing("CEL.CELType.", with: "")
  }
}
