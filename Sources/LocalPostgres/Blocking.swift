internal import Dispatch

/// Runs blocking work off the threads that Swift's tasks share.
enum Blocking {
  static func run<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        do throws(Failure) {
          continuation.resume(returning: .success(try work()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
  }
}
