import Base

/// Exchanges an assertion for an access token; blocks up to its time limit.
struct OAuthExchange: Sendable {
  /// One answer, with the server's clock if it shows it.
  struct Outcome {
    let answer: OAuthAnswer
    let serverTime: Timestamp?
  }

  let account: ServiceAccount
  let caFile: String?
  var connectLimit: Duration = .seconds(5)
  /// The limit for all of it.
  var limit: Duration = .seconds(10)

  /// Returns what cancels an exchange from another thread.
  func verifier() -> TLSVerifier {
    TLSVerifier(caFile: caFile, readsAhead: false, offersHTTP2: false)
  }

  /// - Parameter time: The time of the assertion.
  func fetch(at time: Timestamp, _ verifier: TLSVerifier) -> Outcome {
    let form: [UInt8]
    do throws(PrivateKey.SigningFailure) {
      form = Self.form + (try account.assertion(issuedAt: time.epochSeconds))
    } catch {
      let text = "OpenSSL could not sign the assertion: \(error.text)"
      return Outcome(
        answer: .problem(
          AccessTokenProblem(word: "signing", text: text, isOfConfiguration: true)),
        serverTime: nil)
    }
    let post = CurlPost(
      url: account.tokenURI, headers: ["content-type: application/x-www-form-urlencoded"],
      body: form, connectLimit: connectLimit, limit: limit)
    do throws(CurlError) {
      let answer = try post.send(verifier, usesHTTP2: false)
      return Outcome(
        answer: OAuthAnswer(status: answer.status, body: answer.body),
        serverTime: answer.headers["date"].flatMap { RetryAfter.date(Array($0.utf8)) })
    } catch {
      let problem = AccessTokenProblem(
        word: "no_connection", connectivity: error.kind, text: error.text, isOfConfiguration: false)
      return Outcome(answer: .problem(problem), serverTime: nil)
    }
  }

  private static let form = Array(
    "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=".utf8)
}
