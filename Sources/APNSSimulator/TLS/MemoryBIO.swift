import COpenSSL

/// Reads and writes PEM text in memory through OpenSSL.
@safe final class MemoryBIO {
  let bio: OpaquePointer

  init() throws(OpenSSLError) {
    guard let bio = unsafe BIO_new(BIO_s_mem()) else { throw OpenSSLError("BIO_new") }
    unsafe self.bio = bio
  }

  convenience init(_ bytes: [UInt8]) throws(OpenSSLError) {
    try self.init()
    guard unsafe BIO_write(bio, bytes, Int32(clamping: bytes.count)) == Int32(bytes.count) else {
      throw OpenSSLError("BIO_write")
    }
  }

  deinit {
    unsafe BIO_free(bio)
  }

  var bytes: [UInt8] {
    var data: UnsafeMutablePointer<CChar>?
    let count = unsafe ridepulse_BIO_get_mem_data(bio, &data)
    guard let start = unsafe data, count > 0 else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }
}
