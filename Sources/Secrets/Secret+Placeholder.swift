package import MediaTypes
package import PipelineSpec

extension Secret {
    /// Refuses a placeholder in place of a secret: the text that `tandem manifest` writes, and others that are usual in
    /// templates.
    ///
    /// - Parameter holder: Name of the file, variable or setting with the text, for the message.
    /// - Throws: ``MediaError/Code/rejected`` if the text is a placeholder.
    package static func refusePlaceholder(_ text: String, in holder: String, place: String) throws(MediaError) {
        guard self.isPlaceholder(text) else { return }
        throw MediaError(
            .rejected, "\(holder) still holds a placeholder instead of the secret", at: place,
            fix: "replace the placeholder by the secret")
    }

    /// Whether any line is a usual placeholder or contains `REPLACE-ME`.
    static func isPlaceholder(_ text: String) -> Bool {
        text.split(whereSeparator: \.isNewline).contains { line in
            let word = line.filter { !$0.isWhitespace }.uppercased()
            return word.contains(self.manifestPlaceholder)
                || ["REPLACE_ME", "REPLACEME", "CHANGE-ME", "CHANGE_ME", "CHANGEME"].contains(word)
        }
    }

    /// The text that `tandem manifest` writes in place of a secret. A secret that contains it is refused.
    private static let manifestPlaceholder = "REPLACE-ME"
}
