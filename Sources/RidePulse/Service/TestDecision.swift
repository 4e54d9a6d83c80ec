import Base

#if DEBUG
  import Foundation
  import RideCore

  /// Crashes or stalls the decision of a ride whose attribute asks for it: tests need a fault that
  /// nothing else explains. Release builds do not contain it.
  enum TestDecision {
    /// The attribute: `crash` or `stall`.
    static let attribute = "ridepulse_test_decision"

    /// Returns the hook of the engine; nil unless the variable is set.
    static func hook(_ environment: [String: String]) -> (@Sendable (RideView) -> Void)? {
      guard environment["RIDEPULSE_TEST_DECISIONS"] == "1" else { return nil }
      return { view in
        guard let attributes = view.ride?.attributes, attributes.contains(attribute),
          case .string(let fault) = JSONValue(json: attributes.utf8)?.value(at: [attribute])
        else { return }
        switch fault {
        case "crash": abort()
        case "stall":
          var turns: UInt64 = 0
          while true { turns &+= 1 }
        default: break
        }
      }
    }
  }
#endif
