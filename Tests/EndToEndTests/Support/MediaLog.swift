import Foundation

/// A browser's log of the players in a page (DevTools domain Media): each segment fetched by its own HLS player, the
/// buffered ranges, and every error with its causes. `video.error` is less exact: Chromium reports a failed request, an
/// unreadable playlist or segment and a buffer gap all as `DEMUXER_ERROR_COULD_NOT_PARSE`.
enum MediaLog {
    private static let kinds = ["properties", "messages", "events", "errors"]
    /// Largest entry in bytes.
    private static let longest = 2_000

    /// The entries of a notification, one a line; none if it is about something else.
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
