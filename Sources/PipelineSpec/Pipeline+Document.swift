package import MediaTypes

extension Pipeline {
    /// The tree of a pipeline file as it is written, after the overrides: for those who hand it on.
    ///
    /// - Returns: `nil` when it is not JSON or an override does not fit; ``parse(_:overrides:checks:)`` says why.
    package static func document(_ bytes: [UInt8], overrides: [SpecOverride] = []) -> JSONNode? {
        let document = JSONParser.parse(bytes)
        guard var root = document.root, document.mistakes.isEmpty else { return nil }
        for override in overrides where override.apply(to: &root) != nil { return nil }
        return root
    }
}
