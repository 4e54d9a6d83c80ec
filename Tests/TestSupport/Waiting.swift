/// The time after which a wait fails; a healthy test on a busy machine needs a fraction of it.
package let patience = Duration.seconds(240)

/// Waits until a condition is true.
///
/// - Throws: `TestFailure` with the description, evaluated at that time, if the condition is still
///   false at the time limit.
package func wait(
  until description: @autoclosure () -> String, within limit: Duration = patience,
  every pause: Duration = .milliseconds(20), isolation: isolated (any Actor)? = #isolation,
  _ isTrue: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + limit
  while !(try await isTrue()) {
    guard ContinuousClock.now < end else {
      throw TestFailure("waited \(limit) until \(description())")
    }
    try await Task.sleep(for: pause)  // poll: the condition has no event
  }
}
