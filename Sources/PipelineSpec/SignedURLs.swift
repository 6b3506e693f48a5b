/// Viewers are let in with signed URLs only.
package struct SignedURLs: Sendable, Hashable {
    /// One secret a line; URLs signed with any of them are good. Never ``Secret/inline(_:)``.
    package var secret: Secret?

    package init() {}

    static let rule = ObjectRule(
        "viewers are let in with signed URLs only", SignedURLs(),
        [
            Field(
                optional: "secretEnv", \.secret.variable, .variable,
                "environment variable that holds the secret; several lines: several secrets, the first one signs"),
            Field(optional: "secretFile", \.secret.file, .path, "file that holds the secret instead"),
        ])

    func check(at path: String, _ log: inout SpecLog) {
        log.checkSecret("secret", at: path, required: "the secret is that URLs are signed with")
    }
}
