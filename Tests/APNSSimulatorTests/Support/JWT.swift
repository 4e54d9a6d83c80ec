import Foundation
import TestSupport

/// Signs provider tokens with the `openssl` command, so that the simulator does not verify its own
/// code's signatures.
struct JWT: Hashable {
  enum Form {
    case raw, der
  }

  var header: String
  var claims: String

  init(issuedAt: Int, keyID: String = "SIMKEY0001") {
    header = #"{"alg":"ES256","kid":"\#(keyID)"}"#
    claims = #"{"iss":"SIMTEAM001","iat":\#(issuedAt)}"#
  }

  /// DER, the form that OpenSSL produces, is a common mistake; JWS requires r and s.
  var form = Form.raw

  func signed(keyPath: String) throws -> String {
    let text = Self.encode(Data(header.utf8)) + "." + Self.encode(Data(claims.utf8))
    return text + "." + Self.encode(try signature(text, keyPath: keyPath))
  }

  private func signature(_ text: String, keyPath: String) throws -> Data {
    let made = try ScratchFile()
    let source = try ScratchFile(Data(text.utf8))
    _ = try Tool.run(
      "/usr/bin/openssl",
      ["dgst", "-sha256", "-sign", keyPath, "-out", made.url.path, source.url.path])
    let der = try Data(contentsOf: made.url)
    return form == .raw ? Self.rawSignature([UInt8](der)) : der
  }

  /// Converts SEQUENCE { INTEGER r, INTEGER s } to 32 bytes each.
  private static func rawSignature(_ der: [UInt8]) -> Data {
    var raw: [UInt8] = []
    var position = 2
    while position + 1 < der.count {
      let end = position + 2 + Int(der[position + 1])
      let digits = der[(position + 2)..<end].drop { $0 == 0 }
      raw += [UInt8](repeating: 0, count: 32 - digits.count) + digits
      position = end
    }
    return Data(raw)
  }

  static func encode(_ data: Data) -> String {
    data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }
}
