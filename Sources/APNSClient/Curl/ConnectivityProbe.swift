package import RideCore

/// Why no connection to APNs can be opened.
package struct ConnectivityFailure: Error, Hashable, Sendable {
  /// What has to be mended.
  package enum Kind: Hashable, Sendable {
    /// Its name, the way there, or something on it: nobody answered in TLS.
    case unreachable
    /// The server's certificate leads to no authority that is trusted, or is not for this name or
    /// time.
    case untrusted
    /// TLS stands, and the server does not speak HTTP/2.
    case noHTTP2
    /// The file of further authorities can't be used.
    case badAuthorities
  }

  /// What has to be mended.
  package var kind: Kind
  /// What was met, with the address; safe to log.
  package var text: String

  /// A trouble of a kind.
  package init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }
}

extension APNsConfiguration {
  /// Opens a connection as the client does, with address, TCP, proxy, TLS and ALPN, and lets it go.
  ///
  /// It ends within `connectTimeout`.
  package func probeConnectivity(to environment: APNsEnvironment) async throws(ConnectivityFailure)
  {
    let (endpoint, timeout, caFile) = (endpoint(of: environment), connectTimeout, caFile)
    let problem: ConnectivityFailure? = await withCheckedContinuation { done in
      let thread = WorkerThread {
        do throws(CurlError) {
          _ = try CurlConnection(
            to: endpoint, timeout: timeout, context: TLSVerifier(caFile: caFile))
          done.resume(returning: nil)
        } catch {
          done.resume(returning: ConnectivityFailure(error.kind, error.text))
        }
      }
      if let thread {
        thread.detach()
      } else {
        done.resume(
          returning: ConnectivityFailure(.unreachable, "\(TransportStartError())"))
      }
    }
    if let problem { throw problem }
  }
}
