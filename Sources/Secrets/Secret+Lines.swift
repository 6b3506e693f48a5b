package import MediaTypes
package import PipelineSpec

extension Secret {
    /// The secrets it holds, one per line, at least one. Empty lines are skipped.
    ///
    /// - Throws: What ``resolved(place:)`` throws; ``MediaError/Code/notReadable`` if there is no secret.
    package func lines(place: String) throws(MediaError) -> [String] {
        let text = try self.resolved(place: place)
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        guard !lines.isEmpty else {
            throw MediaError(
                .notReadable, "\(self) holds no key", at: place, fix: "write one in it, or several, one a line")
        }
        return lines
    }
}
