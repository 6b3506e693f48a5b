package import MediaTypes
package import PipelineSpec

extension Secret {
    /// Refuses the text that `tandem manifest` writes where a secret goes, and others that templates have.
    ///
    /// - Parameter holder: What holds the text, for the message.
    /// - Throws: ``MediaError/Code/rejected``.
    package static func refusePlaceholder(_ text: String, in holder: String, place: String) throws(MediaError) {
        guard self.isPlaceholder(text) else { return }
        throw MediaError(
            .rejected, "\(holder) still holds a placeholder instead of the secret", at: place,
            fix: "put the secret in its place")
    }

    /// Whether any line is a placeholder, or has `REPLACE-ME` in it.
    static func isPlaceholder(_ text: String) -> Bool {
        text.split(whereSeparator: \.isNewline).contains { line in
            let word = line.filter { !$0.isWhitespace }.uppercased()
            return word.contains(self.manifestPlaceholder)
                || ["REPLACE_ME", "REPLACEME", "CHANGE-ME", "CHANGE_ME", "CHANGEME"].contains(word)
        }
    }

    /// What stands in a manifest for a secret that the operator puts in.
    private static let manifestPlaceholder = "REPLACE-ME"
}
