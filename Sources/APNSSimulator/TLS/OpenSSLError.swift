import COpenSSL

/// A failed OpenSSL call, with the library's error text.
struct OpenSSLError: Error, CustomStringConvertible {
  let call: String
  let reason: String

  init(_ call: String) {
    self.call = call
    let code = ERR_get_error()
    var text = [CChar](repeating: 0, count: 256)
    unsafe ERR_error_string_n(code, &text, text.count)
    reason = code == 0 ? "no reason given" : String(decoding: text.map(UInt8.init), as: UTF8.self)
    ERR_clear_error()
  }

  var description: String {
    "\(call): \(reason.prefix { $0 != "\0" })"
  }
}
