import Base
import RideCore

/// The types that Swift files declare, with what decides how they decode.
package struct SwiftSources: Sendable {
  /// A declared type, with what its extensions add.
  struct DeclaredType: Sendable {
    var kind: SwiftDeclaration.Kind
    /// The name with those of the enclosing types.
    var path: [String]
    var inherited: [SwiftTypeName]
    var isGeneric: Bool
    var attribute: String?
    var properties: [SwiftProperty]
    var cases: [SwiftCase]
    var decoder: Position?
    /// The decoder, if `generate swift` wrote it.
    var generatedDecoder: GeneratedDecoder?
    /// The conditions of `#if` around it in its file.
    var conditions: [String]
    var position: Position
    /// Another declaration of the same name, as the branches of `#if` may have.
    var other: Position?

    var name: String { path.joined(separator: ".") }

    /// The position of what keeps the type from being read.
    var obstacle: Position { decoder ?? other ?? position }

    func inherits(_ names: String...) -> Bool {
      inherited.contains { type in
        guard case .named(let name, _) = type, let last = name.last else { return false }
        return names.contains(last)
      }
    }
  }

  /// A position in one of the files.
  struct Position: Hashable, Sendable {
    var file: Int
    var offset: Int
  }

  /// The names of the files, for a message.
  package let fileNames: String
  private var texts: [(name: String, text: SourceText)] = []
  private(set) var types: [String: DeclaredType] = [:]
  private var aliases: [String: SwiftTypeName] = [:]
  /// What keeps files from being read, one line each.
  package private(set) var problems: [RuleProblem] = []

  /// Reads files; those that can't be read are among `problems`.
  package init(_ files: [(name: String, bytes: [UInt8])]) {
    fileNames = files.map(\.name).joined(separator: ", ")
    var extensions: [(declaration: SwiftDeclaration, file: Int)] = []
    for (name, bytes) in files {
      do throws(YAMLFault) {
        let text = try SourceText(bytes)
        texts.append((name, text))
        do throws(SwiftFault) {
          let body = try SwiftParser.body(of: text.bytes)
          add(body, in: [], file: texts.count - 1, &extensions)
        } catch {
          problems.append(
            RuleProblem(
              file: name, location: text.location(ofByte: error.offset), found: error.found,
              expected: error.expected))
        }
      } catch {
        problems.append(
          RuleProblem(
            file: name, location: error.location, found: error.found, expected: error.expected))
      }
    }
    // First the types that extensions declare, which other extensions may extend.
    var nested: [(declaration: SwiftDeclaration, file: Int)] = []
    for (declaration, file) in extensions {
      let path = extendedPath(declaration)
      add(unconditional(declaration, of: path), in: path, file: file, &nested)
    }
    for (declaration, file) in extensions { extend(by: declaration, file) }
    for name in aliases.keys {
      if let position = types[name]?.position { types[name]?.other = position }
    }
  }

  private mutating func add(
    _ body: SwiftBody, in path: [String], file: Int,
    _ extensions: inout [(declaration: SwiftDeclaration, file: Int)]
  ) {
    for (name, type) in body.aliases {
      let name = (path + [name]).joined(separator: ".")
      aliases[name] = aliases[name] ?? type == type ? type : .other
    }
    for declaration in body.declarations {
      if declaration.kind == .extended {
        extensions.append((declaration, file))
        continue
      }
      let path = path + declaration.name
      let position = Position(file: file, offset: declaration.offset)
      let name = path.joined(separator: ".")
      if types[name] != nil {
        types[name]?.other = position
      } else {
        types[name] = DeclaredType(
          kind: declaration.kind, path: path, inherited: declaration.inherited,
          isGeneric: declaration.isGeneric, attribute: declaration.attribute,
          properties: declaration.body.properties, cases: declaration.body.cases,
          decoder: declaration.body.decoder.map { Position(file: file, offset: $0) },
          generatedDecoder: declaration.body.generatedDecoder, conditions: declaration.conditions,
          position: position)
      }
      add(declaration.body, in: path, file: file, &extensions)
    }
  }

  private mutating func extend(by declaration: SwiftDeclaration, _ file: Int) {
    let name = extendedPath(declaration).joined(separator: ".")
    types[name]?.inherited += declaration.inherited
    if let decoder = declaration.body.decoder {
      let isOnly = types[name]?.decoder == nil
      types[name]?.generatedDecoder = isOnly ? declaration.body.generatedDecoder : nil
      types[name]?.decoder = Position(file: file, offset: decoder)
    }
  }

  /// Returns the body of an extension, in which nothing is certain if the extension is in an `#if` and
  /// its type is not.
  private func unconditional(_ declaration: SwiftDeclaration, of path: [String]) -> SwiftBody {
    let conditions = types[path.joined(separator: ".")]?.conditions ?? []
    var body = declaration.body
    if declaration.conditions.allSatisfy(conditions.contains) { return body }
    for index in body.declarations.indices {
      body.declarations[index].attribute = body.declarations[index].attribute ?? "#if"
    }
    body.aliases = body.aliases.mapValues { _ in .other }
    return body
  }

  private func extendedPath(_ declaration: SwiftDeclaration) -> [String] {
    let path = declaration.name
    // A name with its module's.
    let rest = Array(path.dropFirst())
    let isQualified = types[path.joined(separator: ".")] == nil
    return isQualified && types[rest.joined(separator: ".")] != nil ? rest : path
  }
}

extension SwiftSources {
  /// Returns the type of a name, as the innermost scope has it; nil if no file declares it.
  func type(_ name: [String], in scope: [String]) -> DeclaredType? {
    var scope = scope
    while true {
      if let type = types[(scope + name).joined(separator: ".")] { return type }
      if scope.isEmpty { return nil }
      scope.removeLast()
    }
  }

  /// Replaces a name by what it stands for, if it is an alias.
  func resolved(_ type: SwiftTypeName, in scope: [String]) -> SwiftTypeName {
    var type = type
    // An alias of itself would never end.
    for _ in 0..<8 {
      guard case .named(let name, _) = type, let alias = alias(name, in: scope) else { return type }
      type = alias
    }
    return .other
  }

  private func alias(_ name: [String], in scope: [String]) -> SwiftTypeName? {
    var scope = scope
    while true {
      let path = (scope + name).joined(separator: ".")
      if types[path] != nil { return nil }
      if let alias = aliases[path] { return alias }
      if scope.isEmpty { return nil }
      scope.removeLast()
    }
  }

  /// Returns the struct that `attributes-type` names.
  func attributesType(_ name: String) -> DeclaredType? {
    if let type = types[name] { return type }
    // Apple's name of a nested type is its last part.
    let nested = types.values.filter { $0.path.last == name }
    return nested.count == 1 ? nested.first : nil
  }

  var structs: [String] {
    types.values.filter { $0.kind == .structure }.map(\.name).sorted()
  }

  func file(_ position: Position) -> String { texts[position.file].name }

  func location(_ position: Position) -> SourceLocation {
    texts[position.file].text.location(ofByte: position.offset)
  }
}
