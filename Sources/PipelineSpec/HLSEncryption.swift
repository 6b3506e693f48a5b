/// Segments and parts are encrypted, each as a whole.
///
/// Spec: rfc8216bis §4.4.4.4 (`EXT-X-KEY`), §5.2.
package struct HLSEncryption: Sendable, Hashable {
    package enum Method: String, Sendable, CaseIterable {
        /// AES-128 in CBC mode.
        case aes128 = "AES-128"
    }

    package var method = Method.aes128
    /// Segments with one key (1…10,000). Default 30.
    package var rotateEverySegments = 30
    /// Where players get keys from, with `{track}` for the rendition and `{period}` for the number of its key; `nil`: from the
    /// viewers' listener.
    package var keyURI: String?
    /// What keys are derived from; `nil`: 32 random bytes that stay beside the room's state. Never ``Secret/inline(_:)``.
    package var secret: Secret?

    package init() {}

    static let rule = ObjectRule(
        "segments and parts are encrypted, each as a whole", HLSEncryption(),
        [
            Field("method", \.method, .choice, "AES-128: CBC, an IV for each key and rendition"),
            Field("rotateEverySegments", \.rotateEverySegments, .integer(1...10_000), "segments with one key"),
            Field(
                optional: "keyUri", \.keyURI,
                .text(
                    "an http or https URL with {track} and {period} in it", pattern: "^https?://[^\\s\"]+$",
                    accepts: isKeyURI),
                "a key server of your own: {track} is the rendition, {period} its key's number from 0; needs secretEnv or secretFile, of "
                    + "which it derives the same keys; without it the viewers' listener serves them"),
            Field(
                optional: "secretEnv", \.secret.variable, .variable,
                "environment variable that holds what keys are derived from: the first 16 bytes of HMAC-SHA256 over "
                    + "tandem-aes-128, roomId, key, the track's name and the period's number, a line each"),
            Field(optional: "secretFile", \.secret.file, .path, "file that holds it instead"),
        ])

    private static func isKeyURI(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }), text.contains("{period}"),
            text.contains("{track}")
        else {
            return false
        }
        return text.utf8.count > scheme.utf8.count && text.utf8.count <= 1024
            && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x22 }
    }
}

extension PipelineRules {
    func check(_ encryption: HLSEncryption, of output: HLSOutput, _ path: String, _ log: inout SpecLog) {
        log.checkSecret("secret", at: path)
        if encryption.keyURI != nil, encryption.secret == nil, log.isSound("\(path).keyUri") {
            log.mistake(
                "\(path).keyUri", "the key server has no keys",
                fix: "add \"secretEnv\" or \"secretFile\" with a secret that it has, too, or leave keyUri out")
        }
        if encryption.keyURI == nil, output.http.listen == nil {
            log.mistake(
                path, "nobody serves the keys: the viewers' listener is off",
                fix: "add \"keyUri\", or let http.listen have an address")
        }
        if output.http.flv {
            log.mistake(
                path, "FLV has no encryption, and http.flv is true", fix: "remove one of the two")
        }
        if encryption.keyURI == nil, output.http.signedURLs == nil {
            log.warning(path, "whoever can watch can have the keys", fix: "add \"http\": { \"signedUrls\": … }")
        }
    }
}
