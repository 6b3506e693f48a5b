package import MediaTypes
package import PipelineSpec

extension Secret {
    /// The secrets that the file, variable or text contains: one per line, at least one. Empty lines are skipped.
    ///
    /// - Throws: The errors of ``resolved(place:)``; ``MediaError/Code/notReadable`` if there is no secret.
    package func lines(place: String) throws(MediaError) -> [String] {
        let text = try self.resolved(place: place)
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        guard !lines.isEmpty else {
            throw MediaError(
                .notReadable, "\(self) contains no key", at: place, fix: "write one key per line")
        }
        return lines
    }
}
