/// Settings for admitting viewers only with signed URLs.
package struct SignedURLs: Sendable, Hashable {
    /// Secrets for signing URLs, one per line; a URL signed with any of them is valid. Never ``Secret/inline(_:)``.
    package var secret: Secret?

    package init() {}

    static let rule = ObjectRule(
        "admits viewers only with signed URLs", SignedURLs(),
        [
            Field(
                optional: "secretEnv", \.secret.variable, .variable,
                "environment variable that holds the secret; with several lines, each line is an accepted secret, and the first one signs"
            ),
            Field(optional: "secretFile", \.secret.file, .path, "file that holds the secret instead"),
        ])

    func check(at path: String, _ log: inout SpecLog) {
        log.checkSecret("secret", at: path, required: "the secret that signs the URLs is")
    }
}
