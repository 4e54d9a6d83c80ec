import Foundation

/// Prints figures next to their goals.
enum Figures {
  static func head(_ text: String) {
    print("\n" + text)
  }

  static func row(_ name: String, _ figure: String, goal: String = "") {
    let padded = name.padding(toLength: 44, withPad: " ", startingAt: 0)
    let value = figure.padding(toLength: 18, withPad: " ", startingAt: 0)
    print("  \(padded)\(value)\(goal.isEmpty ? "" : "goal \(goal)")")
  }

  static func number(_ value: Double, _ digits: Int = 1) -> String {
    value.formatted(.number.precision(.fractionLength(digits)).grouping(.automatic))
  }
}
