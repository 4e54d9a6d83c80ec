/// Rules for the method, the path and the form of the header list.
enum RequestRules {
  static let all: [Rule] = [
    Rule("method is POST") { push in
      push.request.method == "POST" ? nil : Refusal(.methodNotAllowed, "only POST is allowed")
    },
    scheme,
    Rule("path is /3/device/<token>") { push in
      guard let token = push.deviceToken, !token.contains("/") else {
        return Refusal(.badPath, "expected /3/device/<token>")
      }
      return nil
    },
    noHeaderTwice,
    Rule("path names a token") { push in
      push.deviceToken == "" ? Refusal(.missingDeviceToken, "no token in the path") : nil
    },
    Rule("token is hex") { push in
      isDeviceToken(push.deviceToken ?? "")
        ? nil : Refusal(.badDeviceToken, "a token is 64 to 200 hex digits, an even number")
    },
  ]

  static let scheme = Rule("scheme is https") { push in
    push.header(":scheme") == "https" ? nil : Refusal(.badPath, ":scheme must be https")
  }

  static let noHeaderTwice = Rule("no header twice") { push in
    var names: Set<String> = []
    let twice = push.request.headers.first { !names.insert($0.name).inserted }
    return twice.map { Refusal(.duplicateHeaders, "\($0.name) is given twice") }
  }

  static func isDeviceToken(_ text: some StringProtocol) -> Bool {
    let bytes = text.utf8
    return bytes.count % 2 == 0 && (64...200).contains(bytes.count)
      && bytes.allSatisfy(\.isHexDigit)
  }
}
