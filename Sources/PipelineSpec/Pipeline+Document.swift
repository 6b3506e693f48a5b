package import MediaTypes

extension Pipeline {
    /// The JSON tree of a pipeline file with the overrides applied and without defaults.
    ///
    /// - Returns: `nil` if it is not JSON or an override cannot be applied; ``parse(_:overrides:checks:)`` reports the
    ///   reason.
    package static func document(_ bytes: [UInt8], overrides: [SpecOverride] = []) -> JSONNode? {
        let document = JSONParser.parse(bytes)
        guard var root = document.root, document.mistakes.isEmpty else { return nil }
        for override in overrides where override.apply(to: &root) != nil { return nil }
        return root
    }
}
