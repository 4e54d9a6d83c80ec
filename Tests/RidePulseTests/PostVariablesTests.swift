import Base
import Foundation
import PushClient
import RideCore
import Testing
import TestSupport

@testable import RidePulse

/// The receivers of posts in the environment, and the files of their secrets.
@Suite final class PostVariablesTests {
  static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private static let other = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
  private static let url = "RIDEPULSE_POST_SMS_URL"
  private static let value = "RIDEPULSE_POST_SMS_SECRET"
  private static let file = "RIDEPULSE_POST_SMS_SECRET_FILE"

  private let folder: String

  init() throws { folder = try ScratchFolder.create() }

  deinit { ScratchFolder.remove(folder) }

  private func write(_ text: String) throws -> String {
    let path = "\(folder)/secret"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func read(_ variables: [String: String]) throws -> PostVariables {
    try PostVariables([Self.url: "https://example.com/"].merging(variables) { $1 })
  }

  /// Returns the headers of a signed post; nil if there is no receiver.
  private func signature(_ variables: PostVariables) -> [String]? {
    variables.receivers[Self.url]?.signer
      .headers(id: PushID(of: "post", "1"), at: .init(epochSeconds: 1), body: [1]).map(\.value)
  }

  @Test(arguments: [
    secret, "\(secret)\n", "\(secret)\r\n", "\(other),\(secret)\n", "\(secret), \(other)",
  ])
  func `a file's secret signs as the variable does`(_ text: String) throws {
    let variables = try read([Self.file: try write(text)])
    let same = try read([Self.value: text.trimmingCharacters(in: .newlines)])
    #expect(signature(variables) != nil && signature(variables) == signature(same))
    // Rules miss no variable.
    #expect(variables.variables == same.variables)
  }

  @Test(arguments: [
    "", "\n", "geheim", "\(secret)\n\n", "\(secret)\n\(other)", "whsec_Z2VoZWlt",
    String(repeating: "geheim", count: 700),
  ])
  func `a wrong file is named, and nothing of it is shown`(_ text: String) throws {
    let path = try write(text)
    let failure = #expect(throws: CommandFailure.self) { try self.read([Self.file: path]) }
    let message = failure?.description ?? ""
    #expect(message.hasPrefix("\(Self.file): "))
    for part in ["geheim", "Z2VoZWlt", Self.secret] { #expect(!message.contains(part)) }
  }

  /// Variables, and the message.
  private static let wrong: [([String: String], String)] = [
    (
      [value: secret, file: "/nowhere"],
      "RIDEPULSE_POST_SMS_SECRET and RIDEPULSE_POST_SMS_SECRET_FILE are both set: unset one"
    ),
    (
      [file: "/nowhere/secret"],
      "RIDEPULSE_POST_SMS_SECRET_FILE: can't read /nowhere/secret: No such file or directory"
    ),
    (
      [file: "/"],
      "RIDEPULSE_POST_SMS_SECRET_FILE: can't read /: it is a directory, not a regular file"
    ),
    (
      [file: secret],
      "RIDEPULSE_POST_SMS_SECRET_FILE contains the secret itself; expected the path of its file"
    ),
  ]

  @Test(arguments: wrong.indices)
  func `variables that can't be used are named`(index: Int) {
    let (variables, message) = Self.wrong[index]
    let failure = #expect(throws: CommandFailure.self) { try self.read(variables) }
    #expect(failure?.description == message)
  }

  @Test func `without a secret there is no receiver`() throws {
    let variables = try read([Self.file: ""])
    #expect(variables.receivers.isEmpty && variables.variables == [Self.url])
  }
}
