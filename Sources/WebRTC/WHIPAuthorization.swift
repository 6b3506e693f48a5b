import MediaTypes

/// Reads the stream key of a WHIP request.
enum WHIPAuthorization {
    /// Longest key in bytes, as for RTMP.
    static let longest = 512

    /// The key of an `Authorization` field: `Bearer KEY`, or the key alone as some clients send it.
    ///
    /// - Returns: nil for other schemes, an empty key, a key above ``longest``, or characters that are not visible ASCII.
    static func key(_ field: String?) -> String? {
        let words = (field ?? "").split(separator: " ")
        let key: Substring
        switch words.count {
        case 1 where words[0].lowercased() != "bearer": key = words[0]
        case 2 where words[0].lowercased() == "bearer": key = words[1]
        default: return nil
        }
        return key.isVisible && key.utf8.count <= self.longest ? String(key) : nil
    }
}
