import Base
import Foundation
import RideCore
import Testing
import TestSupport

@testable import RuleFiles

/// Parses `docs/openapi.yaml`, supporting only the features that this document uses.
struct OpenAPIDocument {
  let root: JSONValue

  static let path = Project.path("docs/openapi.yaml")

  /// Reads it with the YAML parser of rule files: no anchors, no duplicate keys.
  init() throws {
    let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: Self.path)))
    let log = Diagnostics(file: "openapi.yaml")
    var builder = try YAMLTreeBuilder(SourceText(bytes), diagnostics: log)
    let node = try #require(try builder.document())
    #expect(log.problems.isEmpty, "\(log.problems)")
    root = Self.json(node)
  }

  private static func json(_ node: YAMLNode) -> JSONValue {
    switch node.kind {
    case .scalar(let scalar): scalar.value ?? .null
    case .sequence(let elements): .array(elements.map(json))
    case .mapping(let pairs):
      .object(Dictionary(pairs.map { ($0.key, json($0.value)) }) { $1 })
    case .refused: .null
    }
  }

  func members(_ path: String...) -> [String: JSONValue] {
    root.value(at: path).map(followed)?.members ?? [:]
  }

  /// The documented operations, such as `POST /v1/events`.
  var operations: Set<String> {
    var operations: Set<String> = []
    for (path, methods) in members("paths") {
      for method in methods.members.keys { operations.insert("\(method.uppercased()) \(path)") }
    }
    return operations
  }

  /// Resolves a `$ref`.
  func followed(_ value: JSONValue) -> JSONValue {
    guard case .string(let reference) = value.value(at: ["$ref"]) else { return value }
    let target = root.value(at: reference.split(separator: "/").dropFirst().map(String.init))
    if target == nil { Issue.record("\(reference) leads nowhere") }
    return target.map(followed) ?? .null
  }

  /// Returns the response schema for a status of an operation; nil if it is not documented.
  func schema(_ method: String, _ path: String, _ status: Int) -> JSONValue? {
    root.value(at: ["paths", path, method.lowercased(), "responses", String(status)])
      .map(followed)?.value(at: ["content", "application/json", "schema"])
  }

  /// Expects that the document describes an answer.
  func check(
    _ answer: APIClient.Answer, _ method: String, _ path: String,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    let documented = root.value(at: ["paths", path, method.lowercased(), "responses", "204"])
    if answer.status == 204, documented != nil, answer.text.isEmpty { return }
    guard let schema = schema(method, path, answer.status), let body = answer.body else {
      Issue.record("\(method) \(path) is not documented: \(answer)", sourceLocation: sourceLocation)
      return
    }
    #expect(faults(of: body, by: schema) == [], sourceLocation: sourceLocation)
    #expect(
      answer.headers["content-type"] == "application/json", sourceLocation: sourceLocation)
  }

  /// Returns the parts of a value that a schema does not allow.
  func faults(of value: JSONValue, by schema: JSONValue, at path: String = "$") -> [String] {
    let schema = followed(schema)
    var faults: [String] = []
    let types = schema.value(at: ["type"])?.texts ?? []
    if !types.isEmpty, !types.contains(value.schemaType) {
      faults.append("\(path) is \(value.schemaType), not \(types)")
    }
    if case .array(let known) = schema.value(at: ["enum"]), !known.contains(value) {
      faults.append("\(path) is \(value), not one of \(known)")
    }
    if case .object(let members) = value {
      for name in schema.value(at: ["required"])?.texts ?? [] where members[name] == nil {
        faults.append("\(path) has no \(name)")
      }
      let properties = schema.value(at: ["properties"])?.members ?? [:]
      for (name, member) in members {
        guard let inner = properties[name] else {
          if !properties.isEmpty { faults.append("\(path).\(name) is not documented") }
          continue
        }
        faults += self.faults(of: member, by: inner, at: "\(path).\(name)")
      }
    }
    if case .array(let elements) = value, let items = schema.value(at: ["items"]) {
      faults += elements.flatMap { self.faults(of: $0, by: items, at: path + "[]") }
    }
    return faults
  }
}

extension JSONValue {
  var members: [String: JSONValue] { if case .object(let members) = self { members } else { [:] } }

  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

  /// A single text, or those of a list.
  var texts: [String] {
    switch self {
    case .string(let text): [text]
    case .array(let values): values.flatMap(\.texts)
    default: []
    }
  }

  fileprivate var schemaType: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .integer: "integer"
    case .number: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}
