/// Reads the `Idempotency-Key` header: requests with the same key are one call.
package enum IdempotencyKey {
  /// Returns the key of a request; nil if it has none.
  ///
  /// - Throws: `invalidIdempotencyKey`.
  package static func of(_ request: HTTPRequest) throws(APIError) -> String? {
    guard let key = request.headers["idempotency-key"] else { return nil }
    guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (33...126).contains($0) })
    else {
      throw APIError(
        .invalidIdempotencyKey, "Idempotency-Key is not 1 to 255 visible ASCII characters")
    }
    return key
  }
}
