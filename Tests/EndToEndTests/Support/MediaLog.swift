import Foundation

/// What a browser notes of the players in a page (DevTools' domain Media): each segment that its own HLS player has fetched,
/// what is buffered, and every error with its causes. `video.error` says the first word of that: Chromium calls a request
/// that failed, a playlist or bytes it could not read and a buffer with a hole alike `DEMUXER_ERROR_COULD_NOT_PARSE`.
enum MediaLog {
    private static let kinds = ["properties", "messages", "events", "errors"]
    /// Bytes of an entry.
    private static let longest = 2_000

    /// The entries of a notification, one a line; none of one that is about something else.
    static func lines(_ message: [String: Any]) -> [String] {
        guard let parameters = message["params"] as? [String: Any] else { return [] }
        return self.kinds.flatMap { kind -> [String] in
            (parameters[kind] as? [[String: Any]] ?? []).compactMap { entry -> String? in
                // Sorted, an error's cause comes before its stack.
                let text = try? JSONSerialization.data(
                    withJSONObject: entry, options: [.sortedKeys, .withoutEscapingSlashes])
                return text.map { "\(kind): \(String(decoding: $0.prefix(Self.longest), as: UTF8.self))" }
            }
        }
    }
}
