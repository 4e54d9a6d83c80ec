/// Who sees the generated types: other modules too, or only the module's own code.
enum GeneratedAccess: String, CaseIterable {
  case `public`, `internal`

  /// The word before a Swift declaration, with a space; nothing for what is internal.
  var swift: String { self == .public ? "public " : "" }

  /// The word before a Kotlin declaration, with a space; nothing for what is public.
  var kotlin: String { self == .internal ? "internal " : "" }
}
