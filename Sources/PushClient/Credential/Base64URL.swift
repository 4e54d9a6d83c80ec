import COpenSSL

/// Returns Base64 with the URL alphabet and without padding (RFC 7515, 2).
func base64URL(_ bytes: [UInt8]) -> [UInt8] {
  // OpenSSL also writes a terminating zero.
  var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
  let length = unsafe Int(EVP_EncodeBlock(&text, bytes, Int32(clamping: bytes.count)))
  text.removeLast(text.count - length)
  while text.last == UInt8(ascii: "=") { text.removeLast() }
  return text.map { byte in
    switch byte {
    case UInt8(ascii: "+"): UInt8(ascii: "-")
    case UInt8(ascii: "/"): UInt8(ascii: "_")
    default: byte
    }
  }
}
