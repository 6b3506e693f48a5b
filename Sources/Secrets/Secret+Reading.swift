import Libc
package import MediaTypes
package import PipelineSpec
import Threading

extension Secret {
    /// The secret's text.
    ///
    /// - Throws: ``MediaError/Code/notReadable`` when its file or environment variable is missing or empty,
    ///   ``MediaError/Code/rejected`` when it holds a placeholder; the text itself is never part of the error.
    package func resolved(place: String) throws(MediaError) -> String {
        switch self {
        case .inline(let text):
            try Self.refusePlaceholder(text, in: "the pipeline file", place: place)
            return text
        case .env(let name):
            guard let value = getenv(name) else {
                throw MediaError(
                    .notReadable, "environment variable \(name) is not set", at: place,
                    fix: "set it, or name another one")
            }
            let text = String(cString: value)
            guard !text.isEmpty else {
                throw MediaError(
                    .notReadable, "environment variable \(name) is empty", at: place, fix: "set it, or name another one"
                )
            }
            try Self.refusePlaceholder(text, in: "environment variable \(name)", place: place)
            return text
        case .file(let path):
            // One character where a line ends in CR LF.
            let text = try Self.read(path, place: place)
            let secret = text.last?.isNewline == true ? String(text.dropLast()) : text
            // So it is for a moment when a secret is written anew in place.
            guard !secret.isEmpty else {
                throw MediaError(
                    .notReadable, "secret file \(path) holds nothing", at: place, fix: "write the secret in it")
            }
            try Self.refusePlaceholder(secret, in: "secret file \(path)", place: place)
            return secret
        }
    }

    /// A key is short; a file that is not is not a key.
    private static let longestFile = 4_095

    private static func read(_ path: String, place: String) throws(MediaError) -> String {
        let what: String
        do throws(FileReading.Failure) {
            let bytes = try FileReading.regular(path, limit: Self.longestFile)
            if let text = String(validating: bytes, as: UTF8.self), !bytes.isEmpty { return text }
            what = bytes.isEmpty ? "is empty" : "is no text"
        } catch {
            what = error.text
        }
        throw MediaError(
            .notReadable, "secret file \(path) \(what)", at: place,
            fix: "check the path and its permissions")
    }
}
