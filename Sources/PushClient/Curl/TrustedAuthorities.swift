internal import CLibcurl
internal import COpenSSL
internal import Glibc
internal import Synchronization
internal import SystemSupport

/// The certificate authorities that servers are verified against, parsed once for all connections.
///
/// Parsing the system's bundle takes 50 ms of CPU and 1 MB each time, and a reconnection storm
/// opens dozens of connections. The store is built again if one of its source files has changed.
enum TrustedAuthorities {
  struct LoadError: Error {
    let text: String
  }

  private struct Key: Hashable {
    /// PEM text added to the system's authorities.
    var additional: [UInt8]
    var system: [FileVersion]
  }

  /// The attributes of a file that change if it is replaced or rewritten.
  private struct FileVersion: Hashable {
    var path: String
    var inode: UInt64 = 0
    var size: Int64 = 0
    var seconds: Int = 0
    var nanoseconds: Int = 0

    init(_ path: String) {
      self.path = path
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return }
      inode = UInt64(status.st_ino)
      size = Int64(status.st_size)
      seconds = status.st_mtim.tv_sec
      nanoseconds = status.st_mtim.tv_nsec
    }
  }

  /// Owns one reference to an `X509_STORE`, which OpenSSL may share between threads.
  @safe private final class Store: @unchecked Sendable {
    let pointer: OpaquePointer
    init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }
    deinit { unsafe X509_STORE_free(pointer) }
  }

  private static let latest = Mutex<[Key: Store]>([:])

  /// Makes a context verify servers against the system's authorities and those of a PEM file.
  ///
  /// - Throws: `LoadError` with the path and OpenSSL's reason.
  static func install(in context: OpaquePointer, adding caFile: String?) throws(LoadError) {
    let store = try store(adding: caFile)
    // The context takes its own reference; until then another thread may drop the last one of ours.
    withExtendedLifetime(store) { unsafe SSL_CTX_set1_cert_store(context, store.pointer) }
  }

  /// Identifies the store in use, for tests.
  static func identity(adding caFile: String?) throws(LoadError) -> ObjectIdentifier {
    ObjectIdentifier(try store(adding: caFile))
  }

  private static func store(adding caFile: String?) throws(LoadError) -> Store {
    var additional: [UInt8] = []
    if let caFile {
      do throws(RegularFile.Failure) {
        additional = Array(try RegularFile.read(caFile, limit: RegularFile.pemLimit))
      } catch {
        throw failure(caFile, "\(error)")
      }
    }
    let (file, directory) = systemPaths
    let key = Key(
      additional: additional, system: [file, directory].compactMap { $0 }.map(FileVersion.init))
    // Under the lock, so that connections that open at the same time parse the bundle once, and
    // not each on its own.
    return try latest.withLock { stores throws(LoadError) in
      if let known = stores[key] { return known }
      let store = try make(file, directory, additional, caFile)
      // For each set of additional authorities only the store with the current system bundle is
      // kept.
      stores = stores.filter { $0.key.additional != additional }
      if stores.count >= 8 { stores.removeAll() }
      stores[key] = store
      return store
    }
  }

  private static func make(
    _ file: String?, _ directory: String?, _ additional: [UInt8], _ caFile: String?
  ) throws(LoadError) -> Store {
    guard let pointer = unsafe X509_STORE_new() else {
      throw LoadError(text: "OpenSSL has no memory for certificate authorities")
    }
    let store = unsafe Store(pointer)
    // The same flags as curl's: an intermediate certificate in the file is trusted by itself.
    unsafe X509_STORE_set_flags(
      pointer, UInt(X509_V_FLAG_TRUSTED_FIRST) | UInt(X509_V_FLAG_PARTIAL_CHAIN))
    // A missing bundle leaves those of the file; verification fails if that is not enough. A bundle
    // that can't be read now, for want of descriptors, is an error: an empty store would be kept.
    if let file, unsafe access(file, F_OK) == 0, unsafe X509_STORE_load_file(pointer, file) != 1 {
      throw failure(file, openSSLErrorText())
    }
    if let directory { unsafe X509_STORE_load_path(pointer, directory) }
    if let caFile,
      unsafe ridepulse_X509_STORE_add_pem(pointer, additional, Int32(clamping: additional.count))
        <= 0
    {
      throw failure(caFile, openSSLErrorText())
    }
    return store
  }

  private static func failure(_ path: String, _ reason: String) -> LoadError {
    LoadError(text: "can't load certificate authorities from \(path): \(reason)")
  }

  /// The bundle and the directory that libcurl was built to use.
  private static var systemPaths: (file: String?, directory: String?) {
    guard let info = unsafe curl_version_info(CURLVERSION_TENTH) else { return (nil, nil) }
    let file = unsafe info.pointee.cainfo.map { unsafe String(cString: $0) }
    let directory = unsafe info.pointee.capath.map { unsafe String(cString: $0) }
    return (file, directory)
  }
}
