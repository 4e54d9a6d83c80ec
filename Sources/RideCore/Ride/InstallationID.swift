/// One installation of an app on one phone: it tells which phone a card is shown on.
package struct InstallationID: Identifier {
  package let text: String

  package init(_ text: String) { self.text = text }
}
