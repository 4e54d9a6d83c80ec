/// Runs `body`, then `cleanup`, also if `body` throws: a `defer` cannot await.
package func withCleanup<Value: Sendable>(
  _ cleanup: () async -> Void, _ body: () async throws -> Value
) async throws -> Value {
  let result: Result<Value, any Error>
  do {
    result = .success(try await body())
  } catch {
    result = .failure(error)
  }
  await cleanup()
  return try result.get()
}
