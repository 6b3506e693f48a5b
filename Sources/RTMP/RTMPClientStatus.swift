/// What a server says in `onStatus` or `_error`.
package struct RTMPClientStatus: Sendable, Hashable {
    /// `status`, `warning` or `error`.
    package let level: String
    /// Such as `NetStream.Publish.Denied`.
    package let code: String
    /// For people to read.
    package let text: String

    package init(level: String, code: String, text: String) {
        self.level = level
        self.code = code
        self.text = text
    }
}
