import SimulatorKit

/// `POST /token`: an assertion for an access token.
enum TokenEndpoint {
  private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  static func answer(
    _ request: Request, _ accounts: [ServiceAccount], _ tokens: inout AccessTokens, at now: Int
  ) -> Answer {
    do throws(OAuthError) {
      let fields = FormBody.fields(request.body)
      guard request.method == "POST", fields["grant_type"] == grantType,
        let assertion = fields["assertion"]
      else { throw .undecodable }
      guard let account = try Assertion.account(assertion, among: accounts, at: now) else {
        return Answer(status: 200, json: .object(["id_token": .string("no.access.token")]))
      }
      let members: [String: JSON] = [
        "access_token": .string(tokens.issue(for: account.project, at: now)),
        "expires_in": .integer(tokens.lifeSeconds), "token_type": .string("Bearer"),
      ]
      return Answer(status: 200, json: .object(members))
    } catch {
      return Answer(status: 400, json: error.json)
    }
  }
}
