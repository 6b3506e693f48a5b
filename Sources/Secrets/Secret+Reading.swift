import Libc
package import MediaTypes
package import PipelineSpec
import Threading

extension Secret {
    /// Reads the text of the secret from where it is stored.
    ///
    /// - Throws: ``MediaError/Code/notReadable`` if its file or environment variable is missing or empty, or the file
    ///   is too large or not UTF-8; ``MediaError/Code/rejected`` if it is a placeholder. The text itself is never part
    ///   of an error.
    package func resolved(place: String) throws(MediaError) -> String {
        switch self {
        case .inline(let text):
            try Self.refusePlaceholder(text, in: "the pipeline file", place: place)
            return text
        case .env(let name):
            guard let value = getenv(name) else {
                throw MediaError(
                    .notReadable, "environment variable \(name) is not set", at: place,
                    fix: "set the variable, or name another one")
            }
            let text = String(cString: value)
            guard !text.isEmpty else {
                throw MediaError(
                    .notReadable, "environment variable \(name) is empty", at: place,
                    fix: "set the variable, or name another one"
                )
            }
            try Self.refusePlaceholder(text, in: "environment variable \(name)", place: place)
            return text
        case .file(let path):
            // A line end of CR LF is one character in Swift.
            let text = try Self.read(path, place: place)
            let secret = text.last?.isNewline == true ? String(text.dropLast()) : text
            // A file that is rewritten in place is empty for a moment; that is not an empty secret.
            guard !secret.isEmpty else {
                throw MediaError(
                    .notReadable, "secret file \(path) contains no secret", at: place,
                    fix: "write the secret to the file")
            }
            try Self.refusePlaceholder(secret, in: "secret file \(path)", place: place)
            return secret
        }
    }

    /// Largest size of a secret file, in bytes. A larger file is not a secret.
    private static let longestFile = 4_095

    private static func read(_ path: String, place: String) throws(MediaError) -> String {
        let what: String
        do throws(FileReading.Failure) {
            let bytes = try FileReading.regular(path, limit: Self.longestFile)
            if let text = String(validating: bytes, as: UTF8.self), !bytes.isEmpty { return text }
            what = bytes.isEmpty ? "is empty" : "is not UTF-8 text"
        } catch {
            what = error.text
        }
        throw MediaError(
            .notReadable, "secret file \(path) \(what)", at: place,
            fix: "check the path and its permissions")
    }
}
