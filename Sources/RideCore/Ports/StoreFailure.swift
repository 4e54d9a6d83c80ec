/// An error of the store.
package struct StoreFailure: Error, Hashable, CustomStringConvertible {
  /// The kind of failure, which decides whether to repeat, split or park.
  package enum Cause: Hashable, Sendable {
    /// The store is unreachable, stopping, read-only or out of resources.
    case unavailable
    /// Another transaction is in the way.
    case conflict
    /// The time limit has passed: a smaller batch may fit into it.
    case timeout
    /// The values are refused; the same values always will be.
    case values
    /// The store refuses for any other reason.
    case refused
  }

  package var cause: Cause
  /// The store's own message, without secrets.
  package var description: String

  package init(_ cause: Cause, _ description: String) {
    self.cause = cause
    self.description = description
  }
}
