import MediaTypes

/// Encryption of HLS segments and parts. Each of them is encrypted as a whole.
///
/// Spec: rfc8216bis §4.4.4.4 (`EXT-X-KEY`), §5.2.
package struct HLSEncryption: Sendable, Hashable {
    package enum Method: String, Sendable, CaseIterable {
        /// AES-128 in CBC mode.
        case aes128 = "AES-128"
    }

    package var method = Method.aes128
    /// Number of segments that share one key (1…10,000). Default 30.
    package var rotateEverySegments = 30
    /// URL from which players get keys. `{track}` is replaced by the track's name and `{period}` by the number of the
    /// key, from 0. `nil`: the viewers' listener serves the keys.
    package var keyURI: String?
    /// The secret that keys are derived from, 16 to 4,096 bytes; `nil`: 32 random bytes that are stored next to the
    /// room's state. Never ``Secret/inline(_:)``.
    package var secret: Secret?

    package init() {}

    static let rule = ObjectRule(
        "encryption of segments and parts, each as a whole", HLSEncryption(),
        [
            Field(
                "method", \.method, .choice,
                "AES-128: CBC mode. Each key of a rendition has one IV for fMP4 and another for MPEG-TS"),
            Field(
                "rotateEverySegments", \.rotateEverySegments, .integer(1...10_000),
                "number of segments that share one key"),
            Field(
                optional: "keyUri", \.keyURI,
                .text(
                    "an http or https URL with {track} and {period} in it", pattern: "^https?://[^\\s\"]+$",
                    accepts: isKeyURI),
                "URL of your own key server: {track} is the rendition, {period} the number of its key, from 0; needs secretEnv or secretFile, from which that server derives the same keys; without keyUri the viewers' listener serves the keys"
            ),
            Field(
                optional: "secretEnv", \.secret.variable, .variable,
                "environment variable that holds the secret that keys are derived from: the first 16 bytes of HMAC-SHA256 over five lines: tandem-aes-128, roomId, key, the track's name and the period's number"
            ),
            Field(optional: "secretFile", \.secret.file, .path, "file that holds the secret instead"),
        ])

    private static func isKeyURI(_ text: String) -> Bool {
        guard let rest = text.behindWebScheme, text.contains("{period}"), text.contains("{track}") else {
            return false
        }
        return !rest.isEmpty && text.utf8.count <= 1024
            && text.isVisible && !text.contains("\"")
    }
}

extension PipelineRules {
    func check(_ encryption: HLSEncryption, of output: HLSOutput, _ path: String, _ log: inout SpecLog) {
        log.checkSecret("secret", at: path)
        if encryption.keyURI != nil, encryption.secret == nil, log.isValid("\(path).keyUri") {
            log.mistake(
                "\(path).keyUri", "the key server cannot derive the keys without a secret",
                fix: "add \"secretEnv\" or \"secretFile\" with a secret that the key server also has, or remove keyUri")
        }
        if encryption.keyURI == nil, output.http.listen == nil {
            log.mistake(
                path, "players cannot get the keys, because the viewers' listener is off",
                fix: "add \"keyUri\", or set http.listen to an address")
        }
        if output.http.flv {
            log.mistake(
                path, "FLV cannot be encrypted, but http.flv is true", fix: "remove one of the two")
        }
        if encryption.keyURI == nil, output.http.signedURLs == nil {
            log.warning(
                path, "everyone who can reach the viewers' listener can get the keys",
                fix: "add \"http\": { \"signedUrls\": … }")
        }
    }
}
